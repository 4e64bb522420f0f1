"""Rows driven by whoever waits: what each reads, what ends it, and what one that leaves leaves behind."""

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from duologue.engines.contracts import Piece
from duologue.engines.huggingface.batch_plan import ROOM
from duologue.engines.huggingface.reply_rows import Outcome, PromptRow, ReplyRow
from duologue.engines.huggingface.row_driver import RowDriver
from duologue.errors import EngineFailed, Unavailable
from duologue.threads import ThreadLane

pytestmark = pytest.mark.anyio


class Row(ReplyRow):
    """A row that writes `count` pieces after one step of reading."""

    def __init__(self, name: str, count: int) -> None:
        self.name, self.left = name, count
        self.reads, self.ended = True, False


class Steps:
    """Runs steps, and notes the rows of each."""

    def __init__(self) -> None:
        self.log: list[tuple[str, ...]] = []
        self.fails = ""
        self.closed = False

    def __call__(self, reading: PromptRow | None, writing: Sequence[ReplyRow], share: int) -> list[Outcome]:
        if self.closed:
            raise Unavailable("The model is being unloaded.")
        rows: list[Any] = [*([] if reading is None else [reading]), *writing]
        self.log.append(tuple(row.name for row in rows))
        return [self._step(row) for row in rows]

    def _step(self, row: Row) -> Outcome:
        if row.name == self.fails:
            return EngineFailed("The model failed.")
        row.reads = False
        row.left -= 1
        row.ended = row.left == 0
        return [Piece(row.name)]


async def text_of(driver: RowDriver, row: Row) -> str:
    async with driver.drive(row) as items:
        return "".join([item.text async for item in items if isinstance(item, Piece)])


async def test_rows_that_wait_share_their_steps() -> None:
    steps = Steps()
    driver = RowDriver(ThreadLane(1), steps)
    found: list[str] = []

    async def ask(name: str, count: int) -> None:
        found.append(await text_of(driver, Row(name, count)))

    async with anyio.create_task_group() as group:
        for name, count in (("a", 9), ("b", 5), ("c", 7)):
            group.start_soon(ask, name, count)
    assert sorted(found) == ["a" * 9, "b" * 5, "c" * 7]
    assert len(steps.log) < 9 + 5 + 7
    assert any(len(rows) == 3 for rows in steps.log)


async def test_one_that_leaves_is_in_no_later_step() -> None:
    steps = Steps()
    driver = RowDriver(ThreadLane(1), steps)
    async with driver.drive(Row("a", 1000)) as items:
        await anext(aiter(items))
    count = len(steps.log)
    assert await text_of(driver, Row("b", 3)) == "bbb"
    assert all(rows == ("b",) for rows in steps.log[count:])


async def test_one_whose_reader_stops_waits_and_the_others_go_on() -> None:
    steps = Steps()
    driver = RowDriver(ThreadLane(1), steps)
    async with driver.drive(Row("a", 2 * ROOM)) as items:
        await anext(aiter(items))
        assert await text_of(driver, Row("b", 3 * ROOM)) == "b" * 3 * ROOM
        assert sum("a" in rows for rows in steps.log) <= ROOM + 1
        rest = [item async for item in items]
    assert len(rest) == 2 * ROOM - 1


async def test_a_row_that_fails_fails_alone() -> None:
    steps = Steps()
    steps.fails = "a"
    driver = RowDriver(ThreadLane(1), steps)
    async with driver.drive(Row("b", 50)) as items:
        await anext(aiter(items))
        with pytest.raises(EngineFailed):
            await text_of(driver, Row("a", 5))
        assert len([item async for item in items]) == 49


async def test_rows_of_a_model_that_is_unloaded_are_told() -> None:
    steps = Steps()
    steps.closed = True
    with pytest.raises(Unavailable):
        await text_of(RowDriver(ThreadLane(1), steps), Row("a", 5))
