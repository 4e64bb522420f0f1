"""Notices between gateways over a real PostgreSQL, and none on SQLite."""

from collections.abc import AsyncIterator
from uuid import uuid4

import anyio
import pytest
from sqlalchemy import text
from tests.support.store_fixtures import drop_schema, make_schema, memory

from duologue.notifier import Notifier
from duologue.store.cluster import notices as module
from duologue.store.cluster.notices import Notices
from duologue.store.database import Database
from duologue.values.cluster.notices import CacheChanged, ListNews, NoticesLost, RunSaved
from duologue.values.runs import ListChanged

__all__ = ["memory"]
pytestmark = pytest.mark.anyio


class Heard:
    """What a gateway hears."""

    def __init__(self, notices: Notices) -> None:
        self.all: list[object] = []
        self._notifier = Notifier()
        for kind in (RunSaved, CacheChanged, ListNews):
            notices.on(kind, self._add)
        notices.when_blind(lambda: self._add("look again"))

    def _add(self, notice: object) -> None:
        self.all.append(notice)
        self._notifier.notify()

    async def until(self, *expected: object) -> None:
        with anyio.fail_after(30):
            while self.all != list(expected):
                await self._notifier.wait()


@pytest.fixture
async def shared(tmp_path, anyio_backend) -> AsyncIterator[Database]:
    """A database of PostgreSQL in a schema of its own."""
    name = f"notices_{uuid4().hex}"
    url = await make_schema(name)
    try:
        async with Database.opened(url, tmp_path, now=lambda: 0) as database:
            yield database
    finally:
        await drop_schema(name)


@pytest.fixture
async def both(shared) -> AsyncIterator[tuple[Notices, Notices]]:
    """Two gateways that listen."""
    one, two = Notices(shared, "one"), Notices(shared, "two")
    async with anyio.create_task_group() as tasks:
        await tasks.start(one.run)
        await tasks.start(two.run)
        yield one, two
        tasks.cancel_scope.cancel()


async def rolled_back(notices: Notices, database: Database) -> None:
    async with database.writing() as connection:
        await notices.publish(CacheChanged("rolled back"), within=connection)
        raise ZeroDivisionError


async def test_the_others_hear_in_order_and_a_gateway_does_not_hear_itself(both):
    one, two = both
    own, heard = Heard(one), Heard(two)
    news = ListNews("ada", ListChanged("c"))

    one.post(RunSaved("r", 1))
    one.post(RunSaved("r", 2))
    one.post(news)
    await heard.until(RunSaved("r", 1), RunSaved("r", 2), news)
    two.post(CacheChanged("keys"))
    await own.until(CacheChanged("keys"))


async def test_a_handler_runs_in_a_task(both):
    """In the callback of the driver AnyIO refuses to tell the time."""
    one, two = both
    times: list[float] = []
    heard = Heard(two)
    two.on(CacheChanged, lambda _: times.append(anyio.current_time()))
    one.post(CacheChanged("keys"))
    one.post(CacheChanged("users"))
    await heard.until(CacheChanged("keys"), CacheChanged("users"))
    assert times


async def test_a_notice_within_a_transaction_is_heard_when_it_is_committed(both, shared):
    one, two = both
    heard = Heard(two)

    with pytest.raises(ZeroDivisionError):
        await rolled_back(one, shared)
    async with shared.writing() as connection:
        await one.publish(CacheChanged("keys"), within=connection)
        assert heard.all == []
    await one.publish(CacheChanged("servers"))
    await heard.until(CacheChanged("keys"), CacheChanged("servers"))


async def test_a_broken_connection_is_opened_again_and_readers_look_again(both, shared):
    one, two = both
    heard, other = Heard(two), Heard(one)
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE :words AND pid <> pg_backend_pid()"

    two.post(CacheChanged("before"))
    await other.until(CacheChanged("before"))
    one.post(CacheChanged("before"))
    await heard.until(CacheChanged("before"))
    async with shared.writing() as connection:
        await connection.execute(text(others), {"words": "%unnest($1::text[]) AS payload%"})
    await heard.until(CacheChanged("before"), "look again")
    await other.until(CacheChanged("before"), "look again")
    one.post(CacheChanged("after"))
    await heard.until(CacheChanged("before"), "look again", CacheChanged("after"))


async def test_what_is_too_much_or_too_large_becomes_a_hint_to_look_again(both, monkeypatch):
    one, two = both
    heard = Heard(two)
    monkeypatch.setattr(module, "MOST_WAITING", 3)

    for number in range(4):
        one.post(RunSaved("r", number))
    await heard.until("look again")
    one.post(CacheChanged("x" * 10_000))
    await heard.until("look again", "look again")
    one.post(NoticesLost())
    await heard.until("look again", "look again", "look again")


async def test_on_sqlite_nobody_is_told_anything(memory):
    alone = Notices(memory, "one")
    async with anyio.create_task_group() as tasks:
        await tasks.start(alone.run)
    alone.post(RunSaved("r"))
    await alone.publish(RunSaved("r"))
    assert not alone.shared
