"""When a run is saved, and what a failing store means, with a store that is played."""

from typing import Any

import anyio
import pytest

from duologue.conversations.runs.event_log import RunLog
from duologue.conversations.runs.saving.autosave import Autosave, pause_after
from duologue.errors import Problem, Unavailable
from duologue.values.conversations import StoredMessage, TextContent
from duologue.values.runs import RunDelta

pytestmark = pytest.mark.anyio


class Shop:
    """A log, one row whose text grows, and a store that may fail or wait."""

    def __init__(self, interval=60.0, retry=0.001):
        self.log = RunLog()
        self.text = ""
        self.kept = []
        self.told: list[Any] = []
        self.problem = None
        self.gate = None
        self.saving = Autosave(
            self.log, row=self.row, save=self.save, on_save=self.told.append, interval=interval, retry=retry
        )

    def row(self, id):
        return StoredMessage(id, "c", None, "assistant", (TextContent(self.text),))

    async def save(self, rows, entries):
        if self.gate is not None:
            await self.gate.wait()
        if self.problem is not None:
            raise self.problem
        self.kept.append(([row.text for row in rows], [(entry.first, entry.last) for entry in entries]))

    def write(self, text):
        self.text += text
        self.log.add(RunDelta("a", "text", text))
        self.saving.touch("a")


@pytest.fixture
async def shop(anyio_backend):
    shop = Shop()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(shop.saving.loop)
        yield shop
        tasks.cancel_scope.cancel()


async def test_many_pieces_are_saved_at_once_and_not_again_so_soon(shop):
    shop.write("a")
    await anyio.wait_all_tasks_blocked()
    assert shop.kept == [(["a"], [(1, 1)])]
    for piece in "bcd":
        shop.write(piece)
        await anyio.wait_all_tasks_blocked()
    assert len(shop.kept) == 1
    await shop.saving.flush()
    assert shop.kept[1:] == [(["abcd"], [(2, 4)])]


async def test_a_flush_with_nothing_to_save_is_nothing(shop):
    await shop.saving.flush()
    assert shop.kept == []


async def test_what_comes_during_a_saving_is_in_the_next(shop):
    shop.gate = anyio.Event()
    shop.write("a")
    await anyio.wait_all_tasks_blocked()
    shop.write("b")
    shop.gate.set()
    await shop.saving.flush()
    assert shop.kept == [(["a"], [(1, 1)]), (["ab"], [(2, 2)])]


async def test_a_failing_store_loses_nothing_and_is_tried_again(shop):
    shop.problem = Unavailable("Full.")
    shop.write("a")
    with pytest.raises(Unavailable):
        await shop.saving.flush()
    assert shop.told[-1] is shop.problem
    shop.problem = None
    with anyio.fail_after(60):
        while not shop.kept:
            await anyio.lowlevel.checkpoint()
    assert shop.kept == [(["a"], [(1, 1)])]
    assert shop.told[-1] is None


async def test_closing_waits_for_a_saving_that_began_and_keeps_its_books(shop):
    shop.gate = anyio.Event()
    shop.write("a")
    await anyio.wait_all_tasks_blocked()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(shop.saving.close)
        await anyio.wait_all_tasks_blocked()
        shop.gate.set()
    assert len(shop.kept) == 1
    assert shop.saving.unsaved() == ([], [])
    shop.write("b")
    rows, entries = shop.saving.unsaved()
    assert ([row.text for row in rows], [entry.first for entry in entries]) == (["ab"], [2])


async def test_a_bug_of_the_store_is_told_like_any_other_trouble(shop, caplog):
    shop.problem = RuntimeError("a secret")
    shop.write("a")
    with pytest.raises(Problem) as caught:
        await shop.saving.flush()
    assert "secret" not in caught.value.message
    assert "a secret" in caplog.text


def test_all_runs_are_due_at_the_same_ticks_and_none_later_than_an_interval():
    for start in (100.0, 100.13, 100.37):
        assert start + pause_after(start, start, 0.5) == pytest.approx(100.5)
    assert 100.4 + pause_after(100.3, 100.4, 0.1) == pytest.approx(100.42), "it took longer than the interval"
    assert 100.49 + pause_after(100.49, 100.49, 0.5) == pytest.approx(100.59), "the tick is too near"
