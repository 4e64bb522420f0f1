"""Where bytes lie: whole or not at all, on disk and in memory."""

import hashlib
import os
from pathlib import Path

import pytest
from tests.support.kept_files import blob_folder, pieces
from tests.support.thread_gate import crowded_disk

from duologue.conversations.files.blob_storage import DurableStorage, MemoryStorage
from duologue.errors import NotFound, TooLarge, Unavailable
from duologue.storage.file_store import PIECE

HELLO = hashlib.sha256(b"hello").hexdigest()


@pytest.fixture(params=["folder", "memory"])
def place(request, tmp_path):
    return DurableStorage(blob_folder(tmp_path / "blobs")) if request.param == "folder" else MemoryStorage()


async def take(place, *chunks, limit=2**30):
    async with place.stage(pieces(*chunks), limit) as arrival:
        await arrival.commit()
    return arrival


def files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


@pytest.mark.anyio
async def test_a_file_lies_under_the_hash_of_what_it_holds(place):
    arrival = await take(place, b"he", b"llo")
    assert (arrival.hash, arrival.size, arrival.head) == (HELLO, 5, b"hello")
    assert await place.read(HELLO) == b"hello"
    assert await place.read(HELLO, 1, 3) == b"ell"
    assert await place.size(HELLO) == 5


@pytest.mark.anyio
async def test_a_file_of_many_pieces_comes_whole(place):
    data = os.urandom(3 * PIECE + 17)
    arrival = await take(place, *(data[at : at + 70_000] for at in range(0, len(data), 70_000)))
    assert arrival.hash == hashlib.sha256(data).hexdigest()
    assert await place.read(arrival.hash) == data
    assert data.startswith(arrival.head)
    assert len(arrival.head) == 65_536


@pytest.mark.anyio
async def test_an_empty_file_is_a_file(place):
    arrival = await take(place)
    assert arrival.size == 0
    assert await place.read(arrival.hash) == b""


@pytest.mark.anyio
async def test_too_much_is_refused_while_it_comes(place):
    read = []

    async def endless():
        while True:
            read.append(1)
            yield bytes(1000)

    with pytest.raises(TooLarge, match=r"limits\.blob_mb"):
        async with place.stage(endless(), 5000):
            pytest.fail("it came")
    assert len(read) == 6


@pytest.mark.anyio
async def test_what_is_not_committed_is_forgotten(tmp_path):
    folder = DurableStorage(blob_folder(tmp_path / "blobs"))
    async with folder.stage(pieces(b"hello"), 100):
        assert files(tmp_path)[0].startswith("blobs/incoming/")
    with pytest.raises(NotFound):
        await folder.read(HELLO)
    assert files(tmp_path) == []


@pytest.mark.anyio
async def test_an_upload_that_breaks_off_leaves_nothing(tmp_path):
    async def broken():
        yield bytes(2 * PIECE)
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        async with DurableStorage(blob_folder(tmp_path / "blobs")).stage(broken(), 2**30):
            pytest.fail("it came")
    assert files(tmp_path) == []


@pytest.mark.anyio
async def test_on_a_busy_disk_too_an_upload_leaves_nothing_and_a_file_is_removed(tmp_path):
    folder = DurableStorage(blob_folder(tmp_path / "blobs"))
    async with crowded_disk() as crowd, folder.stage(pieces(b"hello"), 100):
        await crowd()
    assert files(tmp_path) == []
    await take(folder, b"hello")
    async with crowded_disk() as crowd:
        await crowd()
        await folder.remove(HELLO)
    assert files(tmp_path) == []


@pytest.mark.anyio
async def test_the_same_file_is_kept_once(tmp_path):
    folder = DurableStorage(blob_folder(tmp_path))
    await take(folder, b"hello")
    await take(folder, b"hello")
    assert files(tmp_path) == [f"{HELLO[:2]}/{HELLO}"]


@pytest.mark.anyio
async def test_a_file_the_disk_has_cut_is_mended_when_it_comes_again(tmp_path):
    folder = DurableStorage(blob_folder(tmp_path))
    await take(folder, b"hello")
    (tmp_path / HELLO[:2] / HELLO).write_bytes(b"he")
    await take(folder, b"hello")
    assert await folder.read(HELLO) == b"hello"


@pytest.mark.anyio
async def test_thumbnails_go_with_their_file(place):
    await take(place, b"hello")
    assert await place.thumbnail(HELLO, 64) is None
    await place.keep_thumbnail(HELLO, 64, b"small")
    assert await place.thumbnail(HELLO, 64) == b"small"
    await place.remove(HELLO)
    assert await place.thumbnail(HELLO, 64) is None
    with pytest.raises(NotFound):
        await place.size(HELLO)
    await place.remove(HELLO)


@pytest.mark.anyio
async def test_what_broke_off_long_ago_is_swept(tmp_path):
    folder = DurableStorage(blob_folder(tmp_path))
    await folder.sweep(0)
    (tmp_path / "incoming").mkdir()
    for name, at in (("old", 1_000), ("new", 3_000)):
        (tmp_path / "incoming" / name).write_bytes(b"half")
        os.utime(tmp_path / "incoming" / name, (at, at))
    await folder.sweep(2_000_000)
    assert files(tmp_path) == ["incoming/new"]


@pytest.mark.anyio
async def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "blobs").write_text("a file where the folder should be")
    with pytest.raises(Unavailable, match="Check its free space and permissions") as refused:
        await take(DurableStorage(blob_folder(tmp_path / "blobs")), b"hello")
    assert refused.value.code == "storage_unavailable"


@pytest.mark.anyio
async def test_a_full_disk_is_told_and_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unavailable, match="No space left on device"):
        await take(DurableStorage(blob_folder(tmp_path)), b"hello")
    assert files(tmp_path) == []


@pytest.mark.anyio
async def test_memory_has_an_end():
    memory = MemoryStorage(room=8)
    await take(memory, b"hello")
    await take(memory, b"hello")
    with pytest.raises(Unavailable, match="temporary chats"):
        await take(memory, b"world")
    await memory.remove(HELLO)
    await take(memory, b"world")
