"""Saves that share a transaction, over a store that is played."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest

from duologue.conversations.runs.saving.group_commit import GroupCommit
from duologue.conversations.runs.saving.save_queue import RunSave
from duologue.errors import NotFound, Problem, Unavailable

pytestmark = pytest.mark.anyio


class Shop:
    """A store that waits for `gate`, refuses what has a broken run in it, and is down when `problem` says so."""

    def __init__(self) -> None:
        self.tried: list[list[str]] = []
        self.stored: list[list[str]] = []
        self.ends: dict[str, object] = {}
        self.broken: dict[str, BaseException] = {}
        self.gate: anyio.Event | None = None
        self.commit = GroupCommit(self.store)

    async def store(self, saves: Sequence[RunSave]) -> None:
        these = [save.run for save in saves]
        self.tried.append(these)
        if self.gate is not None:
            await self.gate.wait()
        for run in these:
            if run in self.broken:
                raise self.broken[run]
        self.stored.append(these)

    async def save(self, run: str) -> None:
        try:
            await self.commit.save(RunSave(run, (), ()))
        except (Problem, RuntimeError) as error:
            self.ends[run] = error
        else:
            self.ends[run] = "stored"

    async def save_all(self, runs: str) -> None:
        """All of them at once."""
        async with anyio.create_task_group() as tasks:
            for run in runs:
                tasks.start_soon(self.save, run)


@pytest.fixture
def shop() -> Shop:
    return Shop()


async def test_runs_that_are_due_together_are_stored_in_one_transaction(shop):
    await shop.save_all("abc")
    assert shop.stored == [["a", "b", "c"]]
    assert shop.ends == dict.fromkeys("abc", "stored")
    await shop.save_all("d")
    assert shop.stored[1:] == [["d"]]


async def test_what_is_due_during_a_transaction_waits_for_it_alone(shop):
    shop.gate = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(shop.save, "a")
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(shop.save_all, "bc")
        await anyio.wait_all_tasks_blocked()
        assert shop.tried == [["a"]]
        shop.gate.set()
    assert shop.stored == [["a"], ["b", "c"]]


async def test_a_run_that_cannot_be_stored_does_not_keep_the_others_from_it(shop):
    gone, bug = NotFound("The message is there no more."), RuntimeError("a bug")
    shop.broken = {"b": gone, "d": bug}
    await shop.save_all("abcd")
    assert shop.tried == [["a", "b", "c", "d"], ["a"], ["b"], ["c"], ["d"]]
    assert shop.stored == [["a"], ["c"]]
    assert shop.ends == {"a": "stored", "b": gone, "c": "stored", "d": bug}


async def test_a_database_that_is_away_is_not_asked_for_each_run(shop):
    away = Unavailable("The disk is full.")
    shop.broken = {"a": away}
    await shop.save_all("abc")
    assert shop.tried == [["a", "b", "c"]]
    assert shop.ends == dict.fromkeys("abc", away)
    shop.broken = {}
    await shop.save_all("abc")
    assert shop.stored == [["a", "b", "c"]]


async def test_one_that_is_cancelled_while_it_stores_for_others_leaves_none_of_them_waiting(shop):
    shop.gate = anyio.Event()
    async with anyio.create_task_group() as tasks, anyio.create_task_group() as leading:
        leading.start_soon(shop.save, "a")
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(shop.save_all, "bc")
        await anyio.wait_all_tasks_blocked()
        leading.cancel_scope.cancel()
        shop.gate.set()
    assert shop.stored == [["a"], ["b", "c"]]
    assert shop.ends["b"] == shop.ends["c"] == "stored"


class Killed(BaseException):
    """Ends the task that it is raised in, as the end of the event loop does."""


async def test_a_leader_that_is_killed_leaves_nobody_behind_as_stored(shop):
    shop.broken["a"] = Killed()
    with pytest.raises(BaseExceptionGroup):
        await shop.save_all("ab")
    assert isinstance(shop.ends["b"], Unavailable)
    await shop.save_all("cd")
    assert shop.stored == [["c", "d"]]
