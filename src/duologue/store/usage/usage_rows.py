"""The rows of usage: written in batches, added to what is there, read by day.

Used by `gateway/usage` and the command line.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import delete, func, select

from duologue.store.schema.repeating import repeated
from duologue.store.schema.tables import usage
from duologue.values.usage.usage_counts import UsageCounts, UsageRow, UsageSlot

if TYPE_CHECKING:
    from duologue.store.database import Database

COUNTS = UsageCounts.__struct_fields__
UsageColumn = Literal["day", "user", "key", "model", "kind"]
COLUMNS: tuple[UsageColumn, ...] = ("day", "user", "key", "model", "kind")
"""What usage can be counted by."""
MOST_READ = 50_000
"""Rows of one answer."""
AT_A_TIME = 500
"""Rows of one statement: databases limit its parameters."""


class UsageRows:
    """Every method raises Unavailable as the database does."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @repeated
    async def add(self, rows: Sequence[UsageRow]) -> None:
        """Add counts to what is there, all of them or none."""
        if not rows:
            return
        if self._database.is_postgresql:
            from sqlalchemy.dialects.postgresql import insert
        else:
            from sqlalchemy.dialects.sqlite import insert  # type: ignore[assignment]
        async with self._database.writing() as connection:
            values = _by_primary_key(rows)
            for start in range(0, len(values), AT_A_TIME):
                statement = insert(usage).values(values[start : start + AT_A_TIME])
                added = {name: usage.c[name] + statement.excluded[name] for name in COUNTS}
                await connection.execute(
                    statement.on_conflict_do_update(index_elements=list(usage.primary_key), set_=added)
                )

    async def totals(
        self, first: str, last: str, by: Collection[UsageColumn], user: str | None = None
    ) -> list[UsageRow]:
        """The counts of these days, both included, added up by these columns, in the order of the table's; the other columns are "". A key
        brings its user and the beginning of the key, a user the name. With `user`, only theirs. At most MOST_READ rows."""
        columns = [usage.c[name] for name in COLUMNS if name in by]
        named = [func.max(usage.c[name]).label(name) for name in _named(by)]
        sums = [func.sum(usage.c[name]).label(name) for name in COUNTS]
        these = select(*columns, *named, *sums).where(usage.c.day >= first, usage.c.day <= last)
        if user is not None:
            these = these.where(usage.c.user == user)
        if columns:
            these = these.group_by(*columns).order_by(*columns)
        else:
            these = these.having(func.count() > 0)
        async with self._database.reading() as connection:
            rows = (await connection.execute(these.limit(MOST_READ))).mappings().all()
        return [_row(row) for row in rows]

    async def tokens_of(self, day: str) -> dict[str, int]:
        """The tokens of each key on a day, as limits count them."""
        tokens = func.sum(usage.c.prompt - usage.c.cached + usage.c.completion)
        async with self._database.reading() as connection:
            rows = await connection.execute(
                select(usage.c.key, tokens).where(usage.c.day == day).group_by(usage.c.key)
            )
            return {key: int(count) for key, count in rows}

    async def forget(self, before: str) -> None:
        """Delete the rows of earlier days."""
        async with self._database.writing() as connection:
            await connection.execute(delete(usage).where(usage.c.day < before))


def _by_primary_key(rows: Sequence[UsageRow]) -> list[dict[str, Any]]:
    """The columns of rows, one for each row of the table, in one order for every gateway. A user was renamed or a key got a new value
    between two rows that are the same for the table, and PostgreSQL refuses to add to one row twice in one statement."""
    together: dict[tuple[str, ...], UsageRow] = {}
    for row in rows:
        key = (row.slot.day, row.slot.key, row.slot.model, row.slot.kind)
        known = together.get(key)
        together[key] = row if known is None else UsageRow(row.slot, known.counts.plus(row.counts))
    return [_columns(together[key]) for key in sorted(together)]


def _columns(row: UsageRow) -> dict[str, Any]:
    slot, counts = row.slot, row.counts
    names = {name: getattr(slot, name) for name in slot.__struct_fields__}
    return names | {name: getattr(counts, name) for name in COUNTS}


def _row(row: Mapping[Any, Any]) -> UsageRow:
    slot = UsageSlot(**{name: row.get(name, "") for name in UsageSlot.__struct_fields__})
    return UsageRow(slot, UsageCounts(**{name: int(row[name]) for name in COUNTS}))


def _named(by: Collection[UsageColumn]) -> tuple[str, ...]:
    """The columns that follow from those that are counted by."""
    if "key" in by:
        return ("name", "prefix") if "user" in by else ("user", "name", "prefix")
    return ("name",) if "user" in by else ()
