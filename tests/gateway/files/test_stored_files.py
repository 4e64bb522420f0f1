"""Stored files: received as they arrive, within what a user may have, and removed when their time is over."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.support.store_fixtures import Clock, clock, memory
from tests.support.user_files import file_folder, folder_of

from duologue.config.sections.batches import FileSettings
from duologue.errors import Busy, NotFound, Problem, TooLarge, Unavailable
from duologue.gateway.files.stored_files import DAY_MS, StoredFiles
from duologue.gateway.middleware.byte_ledger import ByteLedger, counted_by
from duologue.store.batches.file_rows import FileRows
from duologue.store.database import Database
from duologue.values.batches.stored_batch import FilePurpose, StoredFile

__all__ = ["clock", "memory"]
pytestmark = pytest.mark.anyio

Open = Callable[..., AbstractAsyncContextManager[StoredFiles]]


@pytest.fixture
def opened(memory: Database, clock: Clock, tmp_path: Path) -> Open:
    @asynccontextmanager
    async def opening(**settings: Any) -> AsyncIterator[StoredFiles]:
        files = StoredFiles(FileSettings(**settings), file_folder(tmp_path), limit_mb=1, now=clock)
        async with anyio.create_task_group() as tasks:
            await tasks.start(files.run, FileRows(memory, clock))
            yield files
            tasks.cancel_scope.cancel()

    return opening


async def chunks(*data: bytes) -> AsyncIterator[bytes]:
    for piece in data:
        yield piece


async def kept(
    files: StoredFiles,
    data: bytes = b"words",
    user: str = "ada",
    purpose: FilePurpose = "user_data",
    name: str = "a.txt",
    **more: Any,
) -> StoredFile:
    async with files.receiving(user, chunks(data)) as arrived:
        return await files.keep(user, arrived, purpose=purpose, name=name, **more)


def on_disk(files: StoredFiles) -> list[str]:
    folder = folder_of(files)
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


async def test_a_file_is_its_owners_alone(opened):
    async with opened() as files:
        file = await kept(files, b"some words", name="folder/notes\n.txt")
        assert (file.name, file.size, file.expires) == ("notes.txt", 10, 0)
        assert (await files.source(file.id)).stat().st_mode & 0o777 == 0o600
        assert await files.read("ada", file.id, 100) == ("notes.txt", b"some words")
        async with files.opened(file) as pieces:
            assert [piece async for piece in pieces] == [b"some words"]
        for reach in (
            files.get("ben", file.id),
            files.read("ben", file.id, 100),
            files.delete("ben", file.id),
        ):
            with pytest.raises(NotFound):
                await reach
        with pytest.raises(TooLarge):
            await files.read("ada", file.id, 9)
        await files.delete("ada", file.id)
        assert on_disk(files) == []


async def test_a_file_that_a_request_reads_counts_for_what_its_user_has_in_flight(opened):
    ledger = ByteLedger(15)
    async with opened() as files:
        file = await kept(files, b"some words")
        with counted_by(ledger.open("ada")):
            await files.read("ada", file.id, 100)
            assert ledger.held("ada") == 10
            with pytest.raises(Busy):
                await files.read("ada", file.id, 100)


async def test_nothing_stays_of_a_file_that_was_not_kept(opened):
    async with opened() as files:
        async with files.receiving("ada", chunks(b"a", b"b")) as arrived:
            assert arrived.size == 2
        with pytest.raises(TooLarge, match=r"limits\.blob_mb"):
            await kept(files, bytes(2**20 + 1))
        assert on_disk(files) == []
        assert await files.rows.usage("ada") == 0


async def test_a_user_has_so_much_room_and_so_many_files(opened):
    async with opened(user_gb=0.000001) as files:
        await kept(files, bytes(600))
        with pytest.raises(TooLarge) as caught:
            await kept(files, bytes(600))
        assert caught.value.code == "storage_full"
        assert not await files.is_full("ada")
        files.hold("ada", 400)
        assert await files.is_full("ada"), "what is being written counts"
        files.hold("ada", -400)
        await kept(files, bytes(600), user="ben")
    async with opened(per_user=1) as files:
        with pytest.raises(TooLarge, match=r"files\.per_user"):
            await kept(files, b"", user="ada")


async def test_two_files_that_arrive_together_share_the_room(opened):
    async with opened(user_gb=0.000001) as files, files.receiving("ada", chunks(bytes(600))) as first:
        with pytest.raises(TooLarge):
            await kept(files, bytes(600))
        await files.keep("ada", first, purpose="vision", name="a")


async def test_two_files_that_arrive_together_are_no_more_than_one_user_may_have(opened):
    async with opened(per_user=2) as files:
        await kept(files)
        async with files.receiving("ada", chunks(b"a")) as first:
            with pytest.raises(TooLarge, match=r"files\.per_user"):
                await kept(files)
            await kept(files, user="ben")
            await files.keep("ada", first, purpose="vision", name="a")
        assert await files.rows.count("ada") == 2
    async with opened(per_user=3) as files:
        with pytest.raises(RuntimeError):
            async with files.receiving("ada", chunks(b"a")):
                raise RuntimeError("the upload broke off")
        await kept(files)  # what broke off does not count


async def test_a_file_that_lost_bytes_is_not_given_out_as_whole(opened):
    async with opened() as files:
        file = await kept(files, b"some words")
        (await files.source(file.id)).write_bytes(b"some")
        with pytest.raises(Unavailable, match="4 of its 10 bytes"):
            async with files.opened(file):
                pass


async def test_files_of_batches_are_deleted_after_a_while_and_others_when_they_say(opened, clock):
    async with opened(batch_days=2) as files:
        batch = await kept(files, purpose="batch")
        assert batch.expires == clock() + 2 * DAY_MS
        short = await kept(files, seconds=3600)
        assert short.expires == clock() + 3_600_000
        stays = await kept(files)
        clock.forward(3_600_000)
        with pytest.raises(NotFound):
            await files.get("ada", short.id)
        clock.forward(2 * DAY_MS)
        files.in_use = lambda: {batch.id}
        with pytest.raises(NotFound):
            await files.delete("ada", batch.id)
        await files.remove_expired()
        assert on_disk(files) == sorted([batch.id, stays.id]), "a batch still reads one"


async def test_a_file_that_a_batch_reads_cannot_be_deleted(opened):
    async with opened() as files:
        file = await kept(files, purpose="batch")
        files.in_use = lambda: {file.id}
        with pytest.raises(Problem) as caught:
            await files.delete("ada", file.id)
        assert (caught.value.code, caught.value.status) == ("file_in_use", 409)


async def test_results_are_adopted_however_often_it_is_tried(opened, tmp_path):
    written = tmp_path / "output.jsonl"
    async with opened() as files:
        with pytest.raises(NotFound):
            await files.adopt("file-1", "ada", written, name="a", seconds=None)
        for _ in range(2):
            written.write_bytes(b"{}\n")
            await files.adopt("file-1", "ada", written, name="a.jsonl", seconds=3600)
        await files.adopt("file-1", "ada", written, name="a.jsonl", seconds=3600)
        assert await files.read("ada", "file-1", 100) == ("a.jsonl", b"{}\n")
        assert (await files.get("ada", "file-1")).purpose == "batch_output"


async def test_a_start_removes_what_a_killed_server_left(opened, tmp_path):
    folder = tmp_path / "files"
    (folder / "incoming").mkdir(parents=True)
    (folder / "incoming" / "half").write_bytes(b"half")
    (folder / "file-unknown").write_bytes(b"without a row")
    async with opened() as files:
        assert on_disk(files) == []
        file = await kept(files)
    async with opened() as files:
        assert on_disk(files) == [file.id]


async def test_a_file_that_is_gone_from_the_disk_is_not_found(opened):
    async with opened() as files:
        file = await kept(files)
        (await files.source(file.id)).unlink()
        with pytest.raises(NotFound):
            await files.read("ada", file.id, 100)


async def test_before_the_database_is_open_there_are_none(tmp_path):
    files = StoredFiles(FileSettings(), file_folder(tmp_path), limit_mb=1, now=lambda: 0)
    with pytest.raises(Unavailable):
        await files.get("ada", "file-1")
