"""Stored files: each is its owner's alone, listed in either order, and gone once its time is over; on every kind of database."""

from __future__ import annotations

import msgspec
import pytest
from tests.support.at_once import done_before

from duologue.errors import NotFound
from duologue.store.batches.file_rows import FileRows
from duologue.values.batches.stored_batch import StoredBatch, StoredFile

pytestmark = pytest.mark.anyio


def file(id: str, created: int = 0, user: str = "anna", **more) -> StoredFile:
    return StoredFile(id, user, more.pop("purpose", "batch"), "lines.jsonl", 10, created, **more)


async def test_a_file_is_found_by_its_owner_alone(store):
    await store.files.add(file("f1"))
    await store.files.add(file("f1", 99))
    assert await store.files.get("anna", "f1") == file("f1"), "adding it again changes nothing"
    with pytest.raises(NotFound) as info:
        await store.files.get("ben", "f1")
    assert info.value.code == "file_not_found"


async def test_they_are_listed_page_by_page_in_either_order(store):
    rows = [file("f1", 1), file("f3", 2), file("f2", 2), file("f4", 3, purpose="vision")]
    for row in rows:
        await store.files.add(row)
    await store.files.add(file("other", 2, user="ben"))
    every = await store.files.of("anna")
    assert [row.id for row in every] == ["f4", "f3", "f2", "f1"]
    assert [row.id for row in await store.files.of("anna", ascending=True)] == ["f1", "f2", "f3", "f4"]
    assert [row.id for row in await store.files.of("anna", after=every[1], limit=1)] == ["f2"]
    assert [row.id for row in await store.files.of("anna", after=rows[2], ascending=True)] == ["f3", "f4"]
    assert [row.id for row in await store.files.of("anna", purpose="vision")] == ["f4"]


async def test_what_they_take_is_counted(store):
    await store.files.add(file("f1"))
    await store.files.add(file("f2"))
    assert (await store.files.usage("anna"), await store.files.count("anna")) == (20, 2)
    assert (await store.files.usage("ben"), await store.files.count("ben")) == (0, 0)


async def test_one_whose_time_is_over_is_not_found(store, clock):
    await store.files.add(msgspec.structs.replace(file("f1"), expires=clock() + 1000))
    await store.files.add(file("f2"))
    assert await store.files.expired() == []
    clock.forward(1000)
    assert [row.id for row in await store.files.of("anna")] == ["f2"]
    assert await store.files.expired(without={"f1"}) == []
    assert [row.id for row in await store.files.expired()] == ["f1"]
    with pytest.raises(NotFound):
        await store.files.get("anna", "f1")


async def test_a_deleted_one_is_gone(store):
    await store.files.add(file("f1"))
    assert await store.files.ids() == {"f1"}
    assert await store.files.delete("f1")
    assert not await store.files.delete("f1")
    assert await store.files.ids() == set()


async def test_one_that_a_batch_still_reads_does_not_expire(store, clock):
    await store.files.add(file("f1", expires=clock.at))
    batch = StoredBatch("batch_1", "anna", "/v1/chat/completions", "f1", 0, 1)
    await store.batches.add(batch)
    assert await store.files.expired() == []
    await store.batches.save(msgspec.structs.replace(batch, status="completed"))
    assert [each.id for each in await store.files.expired()] == ["f1"]


async def test_one_that_two_gateways_store_at_once_is_there_once(both, clock):
    one, two = (FileRows(database, clock) for database in both)
    async with done_before(both[0], lambda: two.add(file("f1", 5))) as (first, results):
        await FileRows(first, clock).add(file("f1"))
    assert results == [None]
    assert await one.get("anna", "f1") == file("f1")
