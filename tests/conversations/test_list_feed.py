"""The list feed: numbered, remembered for a while, and honest about what it forgot."""

from collections.abc import AsyncGenerator

import anyio
import pytest

from duologue.conversations.list_feed import Feed
from duologue.http.event_log import NumberedEvent
from duologue.values.runs import ListChanged, ListDraft, ListEvent, ListRemoved, ListReset

pytestmark = pytest.mark.anyio


async def take(
    events: AsyncGenerator[NumberedEvent[ListEvent]], count: int
) -> list[NumberedEvent[ListEvent]]:
    taken: list[NumberedEvent[ListEvent]] = []
    with anyio.fail_after(60):
        async for told in events:
            taken.append(told)
            if len(taken) == count:
                break
    return taken


async def test_a_viewer_hears_what_is_told_from_now_on() -> None:
    feed = Feed(1000)
    feed.publish("ann", ListChanged("old"))
    heard: list[NumberedEvent[ListEvent]] = []

    async def look() -> None:
        heard.extend(await take(feed.events("ann"), 2))

    async with anyio.create_task_group() as group:
        group.start_soon(look)
        await anyio.wait_all_tasks_blocked()
        feed.publish("ann", ListChanged("a"))
        feed.publish("ann", ListRemoved("b"))
    assert heard == [NumberedEvent(1002, ListChanged("a")), NumberedEvent(1003, ListRemoved("b"))]


async def test_a_viewer_that_was_away_gets_what_it_missed() -> None:
    feed = Feed(0)
    for name in "abc":
        feed.publish("ann", ListChanged(name))
    assert await take(feed.events("ann", 1), 2) == [
        NumberedEvent(2, ListChanged("b")),
        NumberedEvent(3, ListChanged("c")),
    ]


async def test_of_the_drafts_of_a_conversation_the_last_alone_is_remembered() -> None:
    feed = Feed(0, remembered=3)
    feed.publish("ann", ListChanged("a"))
    for at in range(1, 6):
        feed.publish("ann", ListDraft("new", at))
    feed.publish("ann", ListDraft("a", 9))
    assert await take(feed.events("ann", 0), 3) == [
        NumberedEvent(1, ListChanged("a")),
        NumberedEvent(6, ListDraft("new", 5)),
        NumberedEvent(7, ListDraft("a", 9)),
    ]


async def test_users_never_hear_each_other() -> None:
    feed = Feed(0)
    feed.publish("ann", ListChanged("a"))
    feed.publish("bob", ListChanged("b"))
    assert await take(feed.events("bob", 0), 1) == [NumberedEvent(2, ListChanged("b"))]


async def test_more_than_is_remembered_is_a_reset_and_then_goes_on() -> None:
    feed = Feed(0, remembered=2)
    for name in "abcd":
        feed.publish("ann", ListChanged(name))
    events = feed.events("ann", 1)
    assert await take(events, 1) == [NumberedEvent(4, ListReset())]
    events = feed.events("ann", 2)  # c and d are still there
    assert [told.number for told in await take(events, 2)] == [3, 4]


async def test_a_slow_viewer_that_was_overtaken_is_reset() -> None:
    feed = Feed(0, remembered=2)
    feed.publish("ann", ListChanged("a"))
    feed.publish("ann", ListChanged("b"))
    events = feed.events("ann", 0)
    assert await anext(events) == NumberedEvent(1, ListChanged("a"))
    for name in "cde":
        feed.publish("ann", ListChanged(name))
    assert await anext(events) == NumberedEvent(5, ListReset())
    feed.publish("ann", ListChanged("f"))
    assert await anext(events) == NumberedEvent(6, ListChanged("f"))
    await events.aclose()


async def test_a_number_of_an_earlier_life_is_a_reset() -> None:
    feed = Feed(5000)
    assert await take(feed.events("ann", 4321), 1) == [NumberedEvent(5000, ListReset())]
    assert await take(feed.events("ann", 999_999), 1) == [NumberedEvent(5000, ListReset())]


async def test_a_forgotten_user_is_reset_and_one_who_is_looked_at_is_kept() -> None:
    feed = Feed(0, users=2)
    feed.publish("ann", ListChanged("a"))
    looking = feed.events("bob")
    async with anyio.create_task_group() as group:
        group.start_soon(anext, looking)
        await anyio.wait_all_tasks_blocked()
        feed.publish("cid", ListChanged("c"))  # ann goes, bob is looked at
        feed.publish("bob", ListChanged("b"))
    assert await take(feed.events("ann", 0), 1) == [NumberedEvent(3, ListReset())]
    await looking.aclose()


async def test_closing_ends_every_viewer() -> None:
    feed = Feed(0)
    ended: list[str] = []

    async def look(user: str) -> None:
        async for _ in feed.events(user):
            pass
        ended.append(user)

    async with anyio.create_task_group() as group:
        group.start_soon(look, "ann")
        group.start_soon(look, "bob")
        await anyio.wait_all_tasks_blocked()
        feed.close()
    assert sorted(ended) == ["ann", "bob"]
