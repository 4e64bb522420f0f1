"""A recording's files: private, appended, whole."""

import os
import stat
from pathlib import Path

import pytest

from duologue.gateway.recordings.recording_files import ENTRIES, PEAKS, SOUND, RecordingFiles, folders


@pytest.fixture
def files(tmp_path: Path) -> RecordingFiles:
    files = RecordingFiles(tmp_path / "recordings" / "abc")
    files.create()
    return files


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_they_are_their_owners_alone(files: RecordingFiles):
    before = os.umask(0)
    try:
        files.append({SOUND: b"sound"})
    finally:
        os.umask(before)
    assert mode(files.sound) == 0o600
    assert mode(files.folder) == 0o700


def test_what_is_written_is_appended(files: RecordingFiles):
    assert files.append({SOUND: b"one", ENTRIES: b"{}\n", PEAKS: b""}) == 6
    files.append({SOUND: b"two", PEAKS: bytes(40)})
    assert files.read(SOUND) == b"onetwo"
    assert files.read(SOUND, 3, 2) == b"tw"
    assert (files.size(), files.duration()) == (49, 1000)


def test_what_cannot_be_written_whole_is_not_written(files: RecordingFiles, monkeypatch):
    files.append({SOUND: b"before"})
    write = os.write

    def full(file: int, data: bytes) -> int:
        if len(data) < 4:
            raise OSError(28, "No space left on device")
        return write(file, data[:4])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        files.append({SOUND: b"123456"})
    assert files.read(SOUND) == b"before"


def test_a_link_is_not_followed(files: RecordingFiles, tmp_path: Path):
    (files.folder / SOUND).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"."):
        files.append({SOUND: b"sound"})
    assert not (tmp_path / "elsewhere").exists()


def test_a_deleted_recording_leaves_nothing(files: RecordingFiles):
    files.append({SOUND: b"sound"})
    assert folders(files.folder.parent) == ["abc"]
    files.delete()
    files.delete()
    assert folders(files.folder.parent) == []
    assert files.read(SOUND) == b""
    assert (files.size(), files.duration()) == (0, 0)


def test_before_the_first_recording_there_is_no_folder(tmp_path: Path):
    assert folders(tmp_path / "recordings") == []
