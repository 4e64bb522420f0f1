"""The temporary files of the model's code."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from duologue.engines.minicpmo.temporary_folder import PREFIX, TemporaryFolder


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_temporary_files_are_made_in_it_until_it_is_closed(tmp_path):
    folder = TemporaryFolder()
    with tempfile.NamedTemporaryFile(delete=False) as file:
        left = Path(file.name)
    assert left.parent == folder.path
    folder.clean()
    assert not left.exists()
    assert folder.path.is_dir()
    folder.close()
    assert not folder.path.exists()
    assert tempfile.gettempdir() == str(tmp_path)


def test_folders_of_processes_that_were_killed_are_removed(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    abandoned = tmp_path / f"{PREFIX}{ended.pid}-x"
    other = tmp_path / f"{PREFIX}1-x"
    for folder in (abandoned, other):
        folder.mkdir()
        (folder / "voice.wav").write_bytes(b"x")
    TemporaryFolder().close()
    assert not abandoned.exists()
    assert other.exists()


def test_a_folder_that_is_gone_already_is_no_matter():
    folder = TemporaryFolder()
    folder.path.rmdir()
    folder.clean()
    folder.close()
