"""Batches: each is its owner's alone, and keeps how far it is; on every kind of database."""

from __future__ import annotations

import msgspec
import pytest

from duologue.errors import NotFound
from duologue.values.batches.stored_batch import BatchUsage, LineCounts, LineError, StoredBatch

pytestmark = pytest.mark.anyio


def batch(id: str, created: int = 0, user: str = "anna", **more) -> StoredBatch:
    return StoredBatch(id, user, "/v1/chat/completions", "f1", created, created + 1000, **more)


async def test_a_batch_is_found_by_its_owner_alone(store):
    one = batch("b1", metadata={"night": "1"}, keep_seconds=3600)
    await store.batches.add(one)
    assert await store.batches.get("anna", "b1") == one
    with pytest.raises(NotFound) as info:
        await store.batches.get("ben", "b1")
    assert info.value.code == "batch_not_found"


async def test_it_keeps_how_far_it_is(store):
    await store.batches.add(batch("b1"))
    later = batch(
        "b1",
        status="failed",
        times={"failed": 7},
        counts=LineCounts(3, 1, 2),
        usage=BatchUsage(5, 1, 2, 0),
        model="mini",
        errors=(LineError("empty", "It is empty."), LineError("bad", "Bad\0.", 2, "url")),
        output_file="f2",
        error_file="f3",
    )
    await store.batches.save(later)
    [stored] = await store.batches.of("anna")
    assert stored == msgspec.structs.replace(later, errors=stored.errors)
    assert stored.errors[1].line == 2
    await store.batches.save(batch("unknown"))
    assert len(await store.batches.of("anna")) == 1


async def test_they_are_listed_page_by_page_the_newest_first(store):
    for id, created in (("b1", 1), ("b2", 2), ("b3", 2), ("b4", 3)):
        await store.batches.add(batch(id, created))
    every = await store.batches.of("anna")
    assert [row.id for row in every] == ["b4", "b3", "b2", "b1"]
    assert [row.id for row in await store.batches.of("anna", after=every[1], limit=1)] == ["b2"]
    assert await store.batches.of("ben") == []


async def test_those_that_run_are_found_at_a_start_the_oldest_first(store):
    await store.batches.add(batch("b1", 3, status="in_progress"))
    await store.batches.add(batch("b2", 2, user="ben", status="cancelling"))
    await store.batches.add(batch("b3", 1, status="completed"))
    assert [row.id for row in await store.batches.running()] == ["b2", "b1"]


async def test_old_ones_that_have_ended_are_forgotten(store, clock):
    for id, status in (("b1", "completed"), ("b2", "in_progress")):
        await store.batches.add(batch(id, clock() - 5000, status=status))
    await store.batches.add(batch("b3", clock() - 4000, status="failed"))
    await store.batches.forget(4000)
    assert [row.id for row in await store.batches.of("anna")] == ["b3", "b2"]


async def test_one_that_another_gateway_has_just_ended_is_not_cancelled(store):
    read = batch("b1", status="in_progress")
    await store.batches.add(read)
    cancelling = msgspec.structs.replace(read, status="cancelling", times={"cancelling": 5})
    assert await store.batches.cancel(cancelling)
    assert await store.batches.get("anna", "b1") == cancelling
    ended = msgspec.structs.replace(read, status="completed", output_file="f2")
    await store.batches.save(ended)
    assert not await store.batches.cancel(cancelling)
    assert await store.batches.get("anna", "b1") == ended
