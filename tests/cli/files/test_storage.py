"""The command that copies users' files to where several gateways share them, and back."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from tests.support.s3_stand_in import KEY, SECRET, s3_stand_in
from typer.testing import CliRunner

from duologue.cli.files import storage
from duologue.errors import StartFailed

app = typer.Typer()
app.add_typer(storage.storage)
FILES = {
    "blobs/ab/abc": b"a picture",
    "blobs/ab/abc.64.webp": b"",
    "files/file-1": b"lines",
    "recordings/r/sound.ogg": b"Ogg",
}


@pytest.fixture(autouse=True)
def _clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DUOLOGUE_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)


def run(*arguments: object) -> str:
    return CliRunner().invoke(app, ["storage", "copy", *map(str, arguments)], catch_exceptions=False).output


def filled(data: Path) -> None:
    for name, content in FILES.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_bytes(content)
    (data / "files" / "incoming").mkdir()
    (data / "files" / "incoming" / "half").write_bytes(b"half")


def found(folder: Path) -> dict[str, bytes]:
    every = (path for path in folder.rglob("*") if path.is_file() and "incoming" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in every}


def test_files_go_to_a_shared_folder_as_they_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path / "data")
    (tmp_path / "shared").mkdir()
    monkeypatch.setenv("DUOLOGUE_STORAGE__FOLDER", str(tmp_path / "shared"))
    assert run("--data", tmp_path / "data") == "4 files copied, 0 were there already.\n"
    assert found(tmp_path / "shared") == FILES
    assert run("--data", tmp_path / "data") == "0 files copied, 4 were there already.\n"
    assert run("--back", "--data", tmp_path / "again") == "4 files copied, 0 were there already.\n"
    assert found(tmp_path / "again") == FILES


def test_files_go_to_object_storage_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("obstore")
    filled(tmp_path / "data")
    with s3_stand_in() as stand_in:
        values = {"BUCKET": "users", "ENDPOINT": stand_in.address, "ACCESS_KEY": KEY, "SECRET_KEY": SECRET}
        for name, value in values.items():
            monkeypatch.setenv(f"DUOLOGUE_STORAGE__S3__{name}", value)
        assert run("--data", tmp_path / "data") == "4 files copied, 0 were there already.\n"
        assert stand_in.names() == sorted(FILES)
        run("--back", "--data", tmp_path / "again")
    copies = {
        name: data for name, data in found(tmp_path / "again").items() if not name.startswith("copies/")
    }
    assert copies == FILES


def test_without_a_place_to_copy_to_it_says_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match=r"Set storage\.folder or storage\.s3 first"):
        run("--data", tmp_path)
