"""Uploads in pieces where gateways share their files: the next piece may arrive at another gateway."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from tests.support.file_stores import storages
from tests.support.kept_files import LIMIT
from tests.support.store_fixtures import Clock

from duologue.conversations.files.blobs import Blobs
from duologue.conversations.files.partial_uploads import IDLE_MS, PartialUploads
from duologue.conversations.files.quota import StorageQuota
from duologue.conversations.files.upload_pieces import SharedPieces
from duologue.errors import BadRequest, NotFound
from duologue.storage.file_store import FileStorage
from duologue.storage.opening import blob_store, upload_store
from duologue.store.database import Database
from duologue.store.stores import Store

pytestmark = pytest.mark.anyio

DATA = b"It rains. " * 1000
ROOM = 50_000


def gateway(storage: FileStorage, store: Store, clock: Clock) -> PartialUploads:
    quota = StorageQuota(store.blobs, store.blobs, limit=ROOM, temporary_limit=ROOM)
    blobs = Blobs(blob_store(storage), store.blobs, limit=LIMIT, now=clock, quota=quota)
    return PartialUploads(SharedPieces(upload_store(storage)), blobs, quota, limit=LIMIT, now=clock)


class Two:
    """Two gateways over one database and one storage."""

    def __init__(self, storages: list[FileStorage], store: Store, clock: Clock) -> None:
        self.storages, self.store, self.clock = storages, store, clock
        self.here, self.there = (gateway(storage, store, clock) for storage in storages)

    async def names(self) -> list[str]:
        """What is stored of uploads."""
        return sorted([entry.name async for entry in upload_store(self.storages[0]).entries()])


@pytest.fixture(params=["shared", "s3"])
async def two(request: pytest.FixtureRequest, tmp_path: Path, anyio_backend: str) -> AsyncIterator[Two]:
    clock = Clock(time.time_ns() // 1_000_000)  # the pieces have the time of the storage
    async with Database.memory() as memory:
        with storages(request.param, tmp_path, gateways=2) as both:
            yield Two(both, Store(memory, clock), clock)


async def test_an_upload_goes_on_at_another_gateway(two: Two) -> None:
    upload = await two.here.begin("ada", "rain.txt", "text/plain", len(DATA))
    assert await two.here.add("ada", upload.id, 0, DATA[:4000]) is None
    assert (await two.there.get("ada", upload.id)).offset == 4000
    assert await two.there.add("ada", upload.id, 4000, DATA[4000:7000]) is None
    with pytest.raises(BadRequest) as told:
        await two.here.add("ada", upload.id, 4000, DATA[4000:])
    assert told.value.values == {"offset": 7000}
    blob = await two.here.add("ada", upload.id, 7000, DATA[7000:])
    assert blob is not None
    assert (blob.name, blob.size) == ("rain.txt", len(DATA))
    assert await blob_store(two.storages[1]).read(f"{blob.hash[:2]}/{blob.hash}") == DATA
    assert await two.there.add("ada", upload.id, len(DATA), b"") == blob, "a lost answer is asked for again"
    assert await two.names() == [f"{upload.id}/upload.json"]


async def test_a_gateway_that_starts_finds_what_another_received(two: Two) -> None:
    upload = await two.here.begin("ada", "", "", len(DATA))
    await two.here.add("ada", upload.id, 0, DATA[:4000])
    after = gateway(two.storages[1], two.store, two.clock)
    await after.load()
    assert await after.add("ada", upload.id, 4000, DATA[4000:]) is not None


async def test_the_end_asked_for_at_both_is_one_file(two: Two) -> None:
    upload = await two.here.begin("ada", "", "", len(DATA))
    await two.here.add("ada", upload.id, 0, DATA[:9000])
    blobs = []

    async def end(uploads: PartialUploads) -> None:
        try:
            blobs.append(await uploads.add("ada", upload.id, 9000, DATA[9000:]))
        except BadRequest as problem:
            # The other was faster: a client then goes on from what it is told.
            assert problem.values == {"offset": len(DATA)}  # noqa: PT017 - it need not happen
            blobs.append(await uploads.add("ada", upload.id, len(DATA), b""))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(end, two.here)
        tasks.start_soon(end, two.there)
    assert blobs[0] is not None
    assert {blob and blob.hash for blob in blobs} == {blobs[0].hash}


async def test_it_is_its_owners_at_every_gateway_and_can_be_dropped_at_any(two: Two) -> None:
    upload = await two.here.begin("ada", "", "", len(DATA))
    await two.here.add("ada", upload.id, 0, DATA[:4000])
    with pytest.raises(NotFound):
        await two.there.get("bob", upload.id)
    await two.there.drop("ada", upload.id)
    assert await two.names() == []
    with pytest.raises(NotFound):
        await two.here.get("ada", upload.id)
    for id in ("", "../blobs", upload.id[:-1]):
        with pytest.raises(NotFound):
            await two.here.get("ada", id)


async def test_what_a_dead_gateway_left_is_removed_by_another(two: Two) -> None:
    upload = await two.here.begin("ada", "", "", len(DATA))
    await two.here.add("ada", upload.id, 0, DATA[:4000])
    await upload_store(two.storages[0]).put_bytes("orphan/000000000000000", b"a piece of none")
    two.clock.at = max(two.clock.at, (await two.here.get("ada", upload.id)).touched) + IDLE_MS + 1
    assert await two.there.collect() == 1
    assert await two.names() == []
