"""Who works next."""

import anyio
import pytest
from anyio.lowlevel import checkpoint

from duologue.engines.sphinx.fair_queue import LeastFirst

pytestmark = pytest.mark.anyio


class Work:
    """Everybody who works notes who they are, and goes on when told."""

    def __init__(self, places: int) -> None:
        self.places = LeastFirst(places)
        self.begun: list[str] = []
        self.go = anyio.Semaphore(0)

    async def do(self, name: str, had: int = 0) -> None:
        async with self.places.place(had):
            self.begun.append(name)
            await self.go.acquire()

    def finish(self, count: int) -> None:
        for _ in range(count):
            self.go.release()


async def test_as_many_work_at_once_as_there_are_places():
    work = Work(2)
    async with anyio.create_task_group() as tasks:
        for name in "abc":
            tasks.start_soon(work.do, name)
        await anyio.wait_all_tasks_blocked()
        assert work.begun == ["a", "b"]
        work.finish(3)
    assert work.begun == ["a", "b", "c"]


async def test_whoever_had_the_least_goes_first():
    work = Work(1)
    async with anyio.create_task_group() as tasks:
        for name, had in (("one who works", 0), ("talker", 500), ("newcomer", 1), ("listener", 20)):
            tasks.start_soon(work.do, name, had)
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


async def test_who_gives_up_waiting_takes_no_place():
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


async def test_who_gives_up_in_the_moment_of_their_turn_passes_it_on():
    work = Work(1)
    scope = anyio.CancelScope()

    async def leaving() -> None:
        with scope:
            await work.do("gone")

    async with anyio.create_task_group() as tasks:
        async with work.places.place(0):
            tasks.start_soon(leaving)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(work.do, "b", 1)
            await anyio.wait_all_tasks_blocked()
        scope.cancel()  # the turn has come, and was not yet noticed
        work.finish(1)
    assert work.begun[-1] == "b"
