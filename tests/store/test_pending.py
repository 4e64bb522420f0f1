"""What waits for a reply to end, on every kind of database."""

from __future__ import annotations

from functools import partial

import pytest
from tests.support.at_once import done_before
from tests.support.store_fixtures import conversation

from duologue.errors import NotFound
from duologue.store.cluster.run_claims import MessageTaken
from duologue.store.pending import Pending
from duologue.store.stores import Store
from duologue.values.conversations import GenerationOptions, ImageContent, PendingMessage, TextContent

pytestmark = pytest.mark.anyio


@pytest.fixture
async def a(store) -> str:
    return (await conversation(store, "hello", id="a")).id


def waiting(id: str, **fields) -> PendingMessage:
    return PendingMessage(id, "a", (TextContent(id), ImageContent("0" * 64, "image/png")), **fields)


async def test_they_wait_in_the_order_they_came(store, a, clock):
    kept = [await store.pending.add("local", waiting(id)) for id in ("z", "y", "x")]
    assert kept[0].created == clock()
    assert await store.pending.of(a) == kept
    assert await store.pending.count(a) == 3
    assert await store.pending.get(a, "y") == kept[1]


async def test_the_same_one_waits_once(store, a):
    first = await store.pending.add("local", waiting("x"))
    assert await store.pending.add("local", waiting("x", how="steer")) == first
    assert await store.pending.of(a) == [first]


async def test_each_is_taken_once_and_only_as_it_was_read(store, a):
    first, second = [await store.pending.add("local", waiting(id)) for id in ("x", "y")]
    async with store.writing() as connection:
        await store.pending.take(first, within=connection)
        with pytest.raises(MessageTaken):
            await store.pending.take(first, within=connection)
    await store.pending.change(a, "y", {"how": "hold"})
    with pytest.raises(MessageTaken):
        async with store.writing() as connection:
            await store.pending.take(second, within=connection)
    assert [message.id for message in await store.pending.of(a)] == ["y"]


async def test_one_can_be_changed_and_keeps_its_place(store, a):
    await store.pending.add("local", waiting("x"))
    await store.pending.add("local", waiting("y"))
    changes = {"content": (TextContent("new"),), "how": "steer", "options": GenerationOptions(model="mini")}
    changed = await store.pending.change(a, "x", changes)
    assert (await store.pending.of(a))[0] == changed
    assert (changed.content, changed.how, changed.options.model) == ((TextContent("new"),), "steer", "mini")
    with pytest.raises(ValueError, match="created"):
        await store.pending.change(a, "x", {"created": 1})


async def test_one_can_be_removed(store, a):
    await store.pending.add("local", waiting("x"))
    assert await store.pending.remove(a, "x")
    assert not await store.pending.remove(a, "x")
    for doing in (store.pending.get(a, "x"), store.pending.change(a, "x", {"how": "steer"})):
        with pytest.raises(NotFound):
            await doing


async def test_a_change_at_one_gateway_keeps_how_the_other_has_it_wait(both, clock):
    one, two = (Store(database, clock) for database in both)
    await conversation(one, "hello", id="a")
    await one.pending.add("local", waiting("x"))
    change = partial(two.pending.change, "a", "x", {"content": (TextContent("new"),)})
    async with done_before(both[0], change) as (first, results):
        await Pending(first, clock).change_all("a", "hold")
    (changed,) = await one.pending.of("a")
    assert (changed.how, changed.content) == ("hold", (TextContent("new"),))
    assert results == [changed]


async def test_what_another_gateway_has_just_sent_is_not_changed(both, clock):
    one, two = (Store(database, clock) for database in both)
    await conversation(one, "hello", id="a")
    await one.pending.add("local", waiting("x"))
    change = partial(two.pending.change, "a", "x", {"how": "steer"})
    async with done_before(both[0], change) as (first, results):
        await Pending(first, clock).remove("a", "x")
    assert isinstance(results[0], NotFound)
