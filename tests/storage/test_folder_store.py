"""Users' files in a folder: what a disk does to them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duologue.errors import NotFound, Unavailable
from duologue.storage.folder_store import FolderStorage, FolderStore

pytestmark = pytest.mark.anyio


def store(root: Path) -> FolderStore:
    return FolderStore(root, NotFound("gone"))


async def test_files_lie_under_their_names_for_this_account_alone(tmp_path: Path) -> None:
    files = FolderStorage(tmp_path / "data").section("files", NotFound("gone"))
    await files.put_bytes("ab/abc", b"words")
    place = tmp_path / "data" / "files" / "ab"
    assert (place / "abc").read_bytes() == b"words"
    assert place.stat().st_mode & 0o777 == 0o700
    assert files.path("ab/abc") == await files.source("ab/abc")


async def test_a_full_disk_leaves_the_former_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = store(tmp_path)
    await files.put_bytes("one", b"first")

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(Unavailable, match="No space left on device"):
            await files.put_bytes("one", b"second")
    assert await files.read("one") == b"first"
    assert os.listdir(tmp_path / "incoming") == []


async def test_a_file_that_goes_while_it_is_listed_is_left_out(tmp_path: Path) -> None:
    files = store(tmp_path)
    for name in ("a", "b"):
        await files.put_bytes(name, b"1")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    assert sorted([entry.name async for entry in files.entries()]) == ["a", "b"]


async def test_every_file_of_a_large_folder_is_listed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.storage.folder_store.LISTED", 3)
    files = store(tmp_path)
    for number in range(10):
        await files.put_bytes(f"{number}", b"1")
    assert sorted([entry.name async for entry in files.entries()]) == [f"{number}" for number in range(10)]
