"""The rows of parts are changed one gateway after another, with the day's tokens as they are then."""

from functools import partial
from typing import Any

import anyio
import pytest
from tests.support.at_once import done_before
from tests.support.store_fixtures import both, clock, database

from duologue.store.usage.limit_part_rows import KeyRow, LimitPartRows
from duologue.store.usage.usage_rows import UsageRows
from duologue.values.usage.usage_counts import UsageCounts, UsageRow, UsageSlot

__all__ = ["both", "clock", "database"]
pytestmark = pytest.mark.anyio
DAY = "2026-11-27"


@pytest.fixture
def rows(database) -> LimitPartRows:
    if not database.is_postgresql:
        pytest.skip("a database in a file has one gateway")
    return LimitPartRows(database)


async def parts(rows: LimitPartRows, *keys: str) -> dict[str, KeyRow]:
    seen: dict[str, KeyRow] = {}

    def look(row: KeyRow) -> str:
        seen[row.key] = row
        return row.parts

    await rows.change(keys, DAY, look)
    return seen


async def look(rows: LimitPartRows, seen: list[str]) -> None:
    """Change nothing of the key `a`, and note its parts."""

    def note(row: KeyRow) -> str:
        seen.append(row.parts)
        return row.parts

    await rows.change(["a"], DAY, note)


async def test_what_is_decided_is_there_for_the_next_and_empty_parts_leave_no_row(rows):
    await rows.change(["a", "b"], DAY, lambda row: '{"one":1}' if row.key == "a" else "{}")
    seen = await parts(rows, "a", "b")
    assert (seen["a"].parts, seen["b"].parts) == ('{"one":1}', "{}")


async def test_the_tokens_of_the_day_come_with_it(rows, database):
    slot = UsageSlot(DAY, "a", "u", "", "", "m", "chat")
    await UsageRows(database).add([UsageRow(slot, UsageCounts(prompt=10, cached=4, completion=5))])
    seen = await parts(rows, "a", "b")
    assert (seen["a"].spent, seen["b"].spent) == (11, 0)
    assert seen["a"].now > 1_700_000_000_000


async def test_changes_of_several_at_once_are_all_kept(rows):
    async def add() -> None:
        await rows.change(["b", "a"], DAY, lambda row: row.parts[:-1] + " }")

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(add)
    seen = await parts(rows, "a", "b")
    assert [len(seen[key].parts) for key in "ab"] == [12, 12]


async def test_a_row_that_another_gateway_is_removing_or_making_is_changed_all_the_same(both):
    one, two = (LimitPartRows(database) for database in both)
    seen: list[str] = []

    async def remove(first: Any) -> None:
        await LimitPartRows(first).change(["a"], DAY, lambda row: "{}")

    await one.change(["a"], DAY, lambda row: '{"one":1}')
    async with done_before(both[0], partial(look, two, seen), remove) as (first, _):
        await LimitPartRows(first).change(["a"], DAY, lambda row: row.parts)
    async with done_before(both[0], partial(look, two, seen)) as (first, _):
        await LimitPartRows(first).change(["a"], DAY, lambda row: '{"one":2}')
    assert seen == ["{}", '{"one":2}']
