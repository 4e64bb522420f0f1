"""Archives of speech models: their files, a piece at a time, and nothing that leads anywhere else."""

import io
import tarfile

import pytest
from tests.support.voice_archives import archive_of

from duologue.errors import BadRequest
from duologue.media import archives
from duologue.media.archives import PIECE, read_archive


def read(content: bytes, folder: str = "tiny") -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for piece in read_archive(io.BytesIO(content), folder):
        files[piece.name] = files.get(piece.name, b"") + piece.data
    return files


def archive_with(entry: tarfile.TarInfo, content: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:bz2") as archive:
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
        whole = tarfile.TarInfo("tiny/tokens.txt")
        archive.addfile(whole, io.BytesIO())
    return buffer.getvalue()


def test_the_files_of_the_folder_are_read():
    files = {"model.onnx": b"x" * (PIECE + 7), "data/en_dict": b"words", "empty": b""}
    assert read(archive_of("tiny", files)) == files


def test_a_file_comes_in_pieces_behind_an_empty_one():
    pieces = list(read_archive(io.BytesIO(archive_of("tiny", {"a": bytes(2 * PIECE + 1)})), "tiny"))
    assert [len(piece.data) for piece in pieces] == [0, PIECE, PIECE, 1]


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "tiny/../../evil",
        "/etc/evil",
        "other/file",
        "tiny\\..\\evil",
        "tiny/" + "a/" * 20 + "b",
        "..",
        "tiny/" + "a" * 300,
    ],
)
def test_a_name_that_leads_elsewhere_ends_the_reading(name):
    with pytest.raises(BadRequest) as caught:
        read(archive_with(tarfile.TarInfo(name), b"x"))
    assert caught.value.code == "archive_refused"


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_passed_over(kind):
    entry = tarfile.TarInfo("tiny/model.onnx")
    entry.type, entry.linkname = kind, "/etc/passwd"
    assert read(archive_with(entry)) == {"tokens.txt": b""}


def test_too_many_files_and_bytes_are_refused(monkeypatch):
    content = archive_of("tiny", {"a": b"12345", "b": b"12345"})
    monkeypatch.setattr(archives, "MOST_FILES", 1)
    with pytest.raises(BadRequest, match="too many"):
        read(content)
    monkeypatch.setattr(archives, "MOST_FILES", 5)
    monkeypatch.setattr(archives, "MOST_BYTES", 9)
    with pytest.raises(BadRequest, match="too many"):
        read(content)


@pytest.mark.parametrize("content", [b"", b"not an archive", archive_of("tiny", {"a": b"1" * 99})[:-20]])
def test_what_is_damaged_is_refused(content):
    with pytest.raises(BadRequest, match="cannot be unpacked"):
        read(content)
