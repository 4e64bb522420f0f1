"""The one that used least so far goes first."""

import anyio
import pytest
from anyio.lowlevel import checkpoint

from duologue.engines.sphinx.fair_queue import FairQueue

pytestmark = pytest.mark.anyio


class Work:
    """Tasks that note their name when they get a place, and keep it until the test releases them."""

    def __init__(self, places: int) -> None:
        self.places = FairQueue(places)
        self.begun: list[str] = []
        self.go = anyio.Semaphore(0)

    async def do(self, name: str, used: int = 0) -> None:
        async with self.places.turn(used):
            self.begun.append(name)
            await self.go.acquire()

    def finish(self, count: int) -> None:
        for _ in range(count):
            self.go.release()


async def test_as_many_run_at_once_as_there_are_places():
    work = Work(2)
    async with anyio.create_task_group() as tasks:
        for name in "abc":
            tasks.start_soon(work.do, name)
        await anyio.wait_all_tasks_blocked()
        assert work.begun == ["a", "b"]
        work.finish(3)
    assert work.begun == ["a", "b", "c"]


async def test_the_one_that_used_least_goes_first():
    work = Work(1)
    async with anyio.create_task_group() as tasks:
        for name, used in (("one who works", 0), ("talker", 500), ("newcomer", 1), ("listener", 20)):
            tasks.start_soon(work.do, name, used)
            await checkpoint()
        work.finish(4)
    assert work.begun == ["one who works", "newcomer", "listener", "talker"]


async def test_of_equals_the_first_goes_first():
    work = Work(1)
    async with anyio.create_task_group() as tasks:
        for name in "abcd":
            tasks.start_soon(work.do, name, 7)
            await checkpoint()
        work.finish(4)
    assert work.begun == ["a", "b", "c", "d"]


async def test_a_cancelled_wait_takes_no_place():
    work = Work(1)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work.do, "a")
        await anyio.wait_all_tasks_blocked()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await work.do("gone")
        tasks.start_soon(work.do, "b")
        work.finish(2)
    assert work.begun == ["a", "b"]


async def test_a_wait_cancelled_after_its_turn_came_passes_it_on():
    work = Work(1)
    scope = anyio.CancelScope()

    async def leaving() -> None:
        with scope:
            await work.do("gone")

    async with anyio.create_task_group() as tasks:
        async with work.places.turn(0):
            tasks.start_soon(leaving)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(work.do, "b", 1)
            await anyio.wait_all_tasks_blocked()
        scope.cancel()  # the turn has come, and was not yet noticed
        work.finish(1)
    assert work.begun[-1] == "b"
