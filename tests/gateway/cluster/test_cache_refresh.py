"""What is read again: once for many notices, after a failure, and when notices were missed."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import pytest
from tests.support.stand_in import StandIn

from duologue.errors import Unavailable
from duologue.gateway.cluster import cache_refresh
from duologue.gateway.cluster.cache_refresh import CacheRefresh
from duologue.values.cluster.notices import CacheChanged

pytestmark = pytest.mark.anyio


class PlayedNotices(StandIn):
    """Those of one gateway, which hears what the test says."""

    def __init__(self) -> None:
        self.posted: list[object] = []

    def on(self, kind: type, handler: Callable[[CacheChanged], None]) -> None:
        self.hear = handler

    def when_blind(self, handler: Callable[[], None]) -> None:
        self.blind = handler

    def post(self, notice: object) -> None:
        self.posted.append(notice)


class Reader:
    """Counts how often it reads, and may be held up or fail."""

    def __init__(self) -> None:
        self.reads, self.fails, self.go_on = 0, 0, anyio.Event()
        self.go_on.set()

    async def reload(self) -> None:
        self.reads += 1
        await self.go_on.wait()
        if self.fails:
            self.fails -= 1
            raise Unavailable("The database is away.")


@asynccontextmanager
async def kept_fresh(reader: Reader) -> AsyncIterator[PlayedNotices]:
    notices = PlayedNotices()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(CacheRefresh(notices).keep_fresh, "modes", reader.reload)
        await anyio.wait_all_tasks_blocked()
        yield notices
        tasks.cancel_scope.cancel()


async def test_many_notices_are_one_reload_and_those_of_other_rows_none():
    reader = Reader()
    async with kept_fresh(reader) as notices:
        assert reader.reads == 1, "what changed before it listened"
        for rows in ("modes", "modes", "tool_servers", "of a newer version"):
            notices.hear(CacheChanged(rows))
        await anyio.wait_all_tasks_blocked()
        assert reader.reads == 2
        notices.blind()
        await anyio.wait_all_tasks_blocked()
        assert reader.reads == 3


async def test_a_notice_during_a_reload_is_followed_by_another_one():
    reader = Reader()
    async with kept_fresh(reader) as notices:
        reader.go_on = anyio.Event()
        notices.hear(CacheChanged("modes"))
        await anyio.wait_all_tasks_blocked()
        notices.hear(CacheChanged("modes"))
        notices.hear(CacheChanged("modes"))
        reader.go_on.set()
        await anyio.wait_all_tasks_blocked()
        assert reader.reads == 3


async def test_a_reload_that_failed_is_tried_again(monkeypatch):
    monkeypatch.setattr(cache_refresh, "RETRY_S", 0)
    reader = Reader()
    reader.fails = 2
    async with kept_fresh(reader):
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(30):
            while reader.reads < 3:  # noqa: ASYNC110 - the reader tells nobody
                await anyio.sleep(0.001)


async def test_a_change_of_this_gateway_is_told_to_the_others():
    notices = PlayedNotices()
    CacheRefresh(notices).changed("modes")
    assert notices.posted == [CacheChanged("modes")]
