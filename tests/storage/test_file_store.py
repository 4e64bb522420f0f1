"""What every storage of users' files does alike: in the data folder, in a shared folder, and in object storage."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from tests.support.file_stores import KINDS, storages

from duologue.errors import NotFound
from duologue.storage.file_store import FileStorage, FileStore

pytestmark = pytest.mark.anyio

LARGE = 9 * 2**20 + 7
"""Bytes of a file that goes up in more than one part, and comes down in more than one range."""


@pytest.fixture(params=KINDS)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FileStorage]:
    with storages(request.param, tmp_path) as (made,):
        yield made


@pytest.fixture
def files(storage: FileStorage) -> FileStore:
    return storage.section("files", NotFound("gone", code="file_not_found"))


def written(files: FileStore, data: bytes) -> Path:
    files.incoming.mkdir(parents=True, exist_ok=True)
    path = files.incoming / "new"
    path.write_bytes(data)
    return path


async def test_it_can_be_used(storage: FileStorage) -> None:
    await storage.check()
    assert [entry async for entry in storage.section("check", NotFound("")).entries()] == []


async def test_a_file_is_kept_whole_and_is_gone_from_where_it_arrived(files: FileStore) -> None:
    data = os.urandom(LARGE)
    path = written(files, data)
    await files.put("ab/abc", path)
    assert not path.exists()
    assert await files.size("ab/abc") == LARGE
    assert await files.read("ab/abc") == data
    assert (await files.source("ab/abc")).read_bytes() == data


async def test_any_part_of_a_file_can_be_read(files: FileStore) -> None:
    data = os.urandom(LARGE)
    await files.put("a", written(files, data))
    assert await files.read("a", 3, 5) == data[3:8]
    assert await files.read("a", LARGE - 2, 100) == data[-2:]
    assert await files.read("a", LARGE, 1) == b""
    assert await files.read("a", 0, 0) == b""
    pieces = [piece async for piece in files.pieces("a", 5, LARGE - 5)]
    assert b"".join(pieces) == data[5:-5]
    assert max(map(len, pieces)) <= 4 * 2**20, "never the whole file in memory"


async def test_an_empty_file_is_a_file(files: FileStore) -> None:
    await files.put("empty", written(files, b""))
    assert (await files.size("empty"), await files.read("empty"), await files.read("empty", 0, 9)) == (
        0,
        b"",
        b"",
    )
    assert (await files.source("empty")).read_bytes() == b""
    assert [piece async for piece in files.pieces("empty", 0, 0)] == []


async def test_small_files_are_replaced_whole(files: FileStore) -> None:
    await files.put_bytes("one", b"first")
    await files.put_bytes("one", b"second")
    assert await files.read("one") == b"second"


async def test_a_missing_file_is_missing_however_it_is_asked_for(files: FileStore) -> None:
    async def of_pieces() -> bytes:
        return b"".join([piece async for piece in files.pieces("none", 0, 10)])

    for ask in (
        files.size("none"),
        files.read("none"),
        files.read("none", 0, 5),
        files.source("none"),
        of_pieces(),
    ):
        with pytest.raises(NotFound) as told:
            await ask
        assert told.value.code == "file_not_found"
    await files.delete("none")


async def test_files_are_listed_and_deleted(files: FileStore) -> None:
    names = [f"{folder}/{number}" for folder in ("a", "b") for number in range(4)]
    for name in names:
        await files.put_bytes(name, name.encode() * 2)
    written(files, b"still arriving")
    found = [entry async for entry in files.entries()]
    assert sorted(entry.name for entry in found) == names
    assert {entry.size for entry in found} == {6}
    assert all(entry.modified > 1_600_000_000_000 for entry in found)
    assert sorted([entry.name async for entry in files.entries("a")]) == names[:4]
    await files.delete(*names[1:])
    assert [entry.name async for entry in files.entries()] == names[:1]


async def test_sections_are_apart(storage: FileStorage, files: FileStore) -> None:
    other = storage.section("file", NotFound("gone"))
    await files.put_bytes("name", b"one")
    await other.put_bytes("name", b"other")
    assert (await files.read("name"), await other.read("name")) == (b"one", b"other")
    assert [entry.name async for entry in other.entries()] == ["name"]


@pytest.mark.parametrize("kind", ["shared", "s3"])
async def test_two_gateways_bring_the_same_file_at_once(kind: str, tmp_path: Path) -> None:
    data = os.urandom(LARGE)
    with storages(kind, tmp_path, gateways=2) as both:
        places = [storage.section("blobs", NotFound("gone")) for storage in both]
        async with anyio.create_task_group() as tasks:
            for number, files in enumerate(places):
                files.incoming.mkdir(parents=True, exist_ok=True)
                path = files.incoming / f"of-{number}"
                path.write_bytes(data)
                tasks.start_soon(files.put, "ab/same", path)
        for files in places:
            assert files.is_shared
            assert await files.read("ab/same") == data
            assert [entry.name async for entry in files.entries()] == ["ab/same"]
        await places[0].delete("ab/same")
        with pytest.raises(NotFound):
            await places[1].size("ab/same")
