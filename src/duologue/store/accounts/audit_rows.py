"""The audit log in the database: rows are added, read, and deleted when they are old; none is changed.

Used by `gateway/audit` and, for commands, through it by the command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct
from sqlalchemy import delete, func, insert, select

from duologue.store.database import Database
from duologue.store.schema.tables import audit

Outcome = Literal["done", "refused", "failed"]

TEXT = 300
"""Characters of a target that are kept; of an address 64."""
DETAILS = 2000
"""Characters of the details, as JSON; longer ones are left out and `{"left_out": true}` stands for them."""

_details = msgspec.json.Decoder(dict[str, Any]).decode


class AuditRow(Struct, frozen=True):
    """One act. `at`: ms since 1970; `user` and `key`: ids, "" for a command or the server itself; `name`: the user's name at that time;
    `number`: 0 until it is stored, and larger for later rows."""

    at: int
    name: str
    act: str
    target: str = ""
    outcome: Outcome = "done"
    user: str = ""
    key: str = ""
    address: str = ""
    details: dict[str, Any] = {}
    number: int = 0


class AuditRows:
    """Every method raises Unavailable as the database does."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(self, rows: Sequence[AuditRow]) -> None:
        """Add rows, in this order."""
        async with self._database.writing() as connection:
            await connection.execute(insert(audit), [columns_of(row) for row in rows])

    async def page(
        self, *, before: int = 0, limit: int = 100, actor: str = "", act: str = ""
    ) -> list[AuditRow]:
        """The newest rows first, those with a smaller number than `before`, 0 for all. `actor`: a user's id or name; `act`: an act, or with
        a dot at its end the beginning of several."""
        query = select(audit).order_by(audit.c.number.desc()).limit(limit)
        if before:
            query = query.where(audit.c.number < before)
        if actor:
            query = query.where((audit.c.name == actor) | (audit.c.user == actor))
        if act.endswith("."):
            query = query.where(audit.c.act.startswith(act, autoescape=True))
        elif act:
            query = query.where(audit.c.act == act)
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).mappings().all()
        return [_row(row) for row in rows]

    async def forget(self, *, before: int, most: int) -> int:
        """Delete the rows of before this time (ms), and the oldest beyond `most` rows. Returns how many."""
        async with self._database.writing() as connection:
            old = await connection.execute(delete(audit).where(audit.c.at < before))
            count = (await connection.execute(select(func.count()).select_from(audit))).scalar_one()
            if count <= most:
                return old.rowcount
            last = select(audit.c.number).order_by(audit.c.number.desc()).offset(most).limit(1)
            number = (await connection.execute(last)).scalar_one()
            more = await connection.execute(delete(audit).where(audit.c.number <= number))
        return old.rowcount + more.rowcount


def columns_of(row: AuditRow) -> dict[str, Any]:
    """A row as the columns of its table, with what is too long cut."""
    details = msgspec.json.encode(row.details).decode()
    columns = msgspec.structs.asdict(row)
    del columns["number"]
    columns["key_id"] = columns.pop("key")
    columns["target"], columns["address"] = row.target[:TEXT], row.address[:64]
    columns["details"] = details if len(details) <= DETAILS else '{"left_out":true}'
    return columns


def _row(columns: Any) -> AuditRow:
    fields = dict(columns)
    fields["key"] = fields.pop("key_id")
    fields["details"] = _details(fields["details"])
    return AuditRow(**fields)
