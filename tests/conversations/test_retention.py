"""Cleaning up by and by: what is due goes, what is not stays, and a failure of one leaves the others to their turn."""

from collections.abc import AsyncIterator

import anyio
import pytest

from duologue.conversations.retention import DELETED_MS, INTERVAL_S, LOGS_MS, TEMPORARY_MS, Retention
from duologue.conversations.runs.event_log import LogEntry
from duologue.errors import NotFound, Unavailable
from duologue.store.database import Database
from duologue.store.responses.response_record import StoredResponse
from duologue.store.stores import Stores
from duologue.values.conversations import Conversation
from duologue.values.runs import Run

pytestmark = pytest.mark.anyio


class Blobs:
    def __init__(self) -> None:
        self.collected = 0
        self.problem: Exception | None = None

    async def collect(self) -> int:
        self.collected += 1
        if self.problem is not None:
            raise self.problem
        return 1


class Bench:
    def __init__(self, durable: Database, temporary: Database) -> None:
        self.at = 10**12
        self.stores = Stores(durable, temporary, lambda: self.at)
        self.blobs, self.uploads = Blobs(), Blobs()
        self.slept: list[float] = []
        self.retention = Retention(self.stores, self.blobs, self.uploads, sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if len(self.slept) > 2:
            await anyio.sleep_forever()

    async def after(self, ms: int) -> None:
        self.at += ms
        await self.retention.round()


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with Database.memory() as durable, Database.memory() as temporary:
        yield Bench(durable, temporary)


async def test_a_deleted_conversation_goes_for_good_when_its_time_is_over(bench: Bench) -> None:
    conversations = bench.stores.durable.conversations
    for number in range(150):
        await bench.stores.create("ann", Conversation(f"c{number}"))
        await conversations.delete("ann", f"c{number}")
    await bench.stores.create("ann", Conversation("kept"))
    await bench.after(DELETED_MS - 1)
    assert await conversations.owner("c149") == "ann"
    await bench.after(1)
    assert await conversations.owner("c0") is await conversations.owner("c149") is None
    assert await conversations.owner("kept") == "ann"


async def test_a_temporary_chat_is_forgotten_when_nobody_speaks(bench: Bench) -> None:
    await bench.stores.create("ann", Conversation("t", temporary=True))
    await bench.after(TEMPORARY_MS - 1)
    assert bench.stores.is_temporary("t")
    await bench.after(1)
    assert not bench.stores.is_temporary("t")


async def test_the_log_of_an_old_run_goes_and_the_run_stays(bench: Bench) -> None:
    await bench.stores.create("ann", Conversation("c"))
    runs = bench.stores.durable.runs
    await runs.begin(Run("r", "c", 1), "ann", b"{}")
    await runs.append("r", [LogEntry(1, 1, (), b"{}")])
    await runs.end(Run("r", "c", 1, ended=bench.at, outcome="done"))
    await bench.after(LOGS_MS - 1)
    assert len(await runs.log("r")) == 1
    await bench.after(1)
    assert await runs.log("r") == []
    assert (await runs.get("ann", "r")).outcome == "done"


@pytest.mark.parametrize("problem", [Unavailable("The disk is full."), RuntimeError("a bug")])
async def test_what_fails_is_logged_and_tried_again(
    bench: Bench, problem: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    bench.blobs.problem = problem
    await bench.retention.round()
    await bench.retention.round()
    assert bench.blobs.collected == 2
    assert "the retention" in caplog.text


async def test_it_comes_round_again_and_again_and_not_at_the_start(bench: Bench) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(bench.retention.run)
        while len(bench.slept) < 3:
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert bench.slept == [INTERVAL_S] * 3
    assert bench.blobs.collected == 2


async def test_old_responses_of_the_api_go(bench: Bench) -> None:
    responses = bench.stores.durable.responses
    await responses.add(StoredResponse("old", "ann", "completed", {}), [])
    await bench.after(29 * 24 * 3_600_000)
    assert (await responses.get("ann", "old")).id == "old"
    await bench.after(2 * 24 * 3_600_000)
    with pytest.raises(NotFound):
        await responses.get("ann", "old")
