"""The questions that only a user can answer, and the permissions that the user has granted permanently.

Used by runs and the API. A question is stored until it is answered on any device; the first answer counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Row, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.errors import NotFound
from duologue.store.database import Database
from duologue.store.schema.locking import inserted
from duologue.store.schema.rows import json, one_of_its_kind
from duologue.store.schema.tables import approvals, permissions
from duologue.values.conversations import Approval

_COLUMNS = tuple(approvals.c[name] for name in Approval.__struct_fields__)
_object = msgspec.json.Decoder(dict[str, object]).decode


class StoredApproval(Struct, frozen=True):
    """A question and its answer. `answered`: when (ms), 0 while it is open; `decision`: None when it expired or its run ended
    first; `values`: those of a form."""

    approval: Approval
    user: str
    answered: int
    decision: str | None
    values: dict[str, object]


class Approvals:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def ask(self, user: str, approval: Approval, *, within: AsyncConnection | None = None) -> Approval:
        """Store a question; a `created` of 0 becomes the present time. Idempotent by id."""
        new = msgspec.structs.replace(approval, created=approval.created or self._now())
        values: dict[str, object] = {name: getattr(new, name) for name in Approval.__struct_fields__}
        values |= {"schema": json(new.schema), "user": user, "answered": 0, "decision": None, "values": "{}"}
        async with self._database.writing(within) as connection:
            if (row := (await connection.execute(_one(new.id))).first()) is not None:
                return _stored(row).approval
            await connection.execute(insert(approvals).values(values))
        return new

    async def pending(self, user: str, conversation: str | None = None) -> list[Approval]:
        """The open questions to a user, optionally of one conversation, oldest first."""
        these = _every().where(approvals.c.user == user, approvals.c.answered == 0)
        if conversation is not None:
            these = these.where(approvals.c.conversation == conversation)
        async with self._database.reading() as connection:
            result = await connection.execute(these.order_by(approvals.c.created, approvals.c.id))
            return [_stored(row).approval for row in result]

    async def open(
        self, run: str | None = None, *, within: AsyncConnection | None = None
    ) -> list[StoredApproval]:
        """The open questions of all users, or those of a run."""
        these = _every().where(approvals.c.answered == 0)
        if run is not None:
            these = these.where(approvals.c.run == run)
        async with self._database.reading(within) as connection:
            return [_stored(row) for row in await connection.execute(these)]

    async def get(self, user: str, id: str) -> StoredApproval:
        """Raises NotFound, also for another user's question."""
        async with self._database.reading() as connection:
            row = (await connection.execute(_one(id))).first()
        if row is None or row.user != user:
            raise NotFound("There is no such question.")
        return _stored(row)

    async def answer(
        self,
        id: str,
        decision: str | None,
        values: Mapping[str, object] | None = None,
        *,
        within: AsyncConnection | None = None,
    ) -> StoredApproval:
        """Answer a question; None closes it without a decision. Returns it as it is stored: a later answer does not replace the
        first. Raises NotFound."""
        change = {"answered": self._now(), "decision": decision, "values": json(dict(values or {}))}
        async with self._database.writing(within) as connection:
            await connection.execute(
                update(approvals).where(approvals.c.id == id, approvals.c.answered == 0).values(change)
            )
            row = (await connection.execute(_one(id))).first()
        if row is None:
            raise NotFound("There is no such question.")
        return _stored(row)

    async def permissions(self, user: str) -> set[tuple[str, str]]:
        """The permanent permissions of a user: (server, tool), with the tool "*" for all tools of a server."""
        these = select(permissions.c.server, permissions.c.tool).where(permissions.c.user == user)
        async with self._database.reading() as connection:
            return {(row.server, row.tool) for row in await connection.execute(these)}

    async def allow(self, user: str, server: str, tool: str) -> None:
        """Permit a tool permanently, or with "*" every tool of a server."""
        key = {"user": user, "server": server, "tool": tool}
        async with self._database.writing() as connection:
            await connection.execute(inserted(connection, permissions, key | {"created": self._now()}))

    async def forget(self, user: str, server: str | None = None, tool: str | None = None) -> int:
        """Revoke permissions: of one tool, of a server, or all. Returns how many."""
        these = delete(permissions).where(permissions.c.user == user)
        if server is not None:
            these = these.where(permissions.c.server == server)
        if tool is not None:
            these = these.where(permissions.c.tool == tool)
        async with self._database.writing() as connection:
            return (await connection.execute(these)).rowcount


def _every() -> Any:
    return select(
        *_COLUMNS, approvals.c.user, approvals.c.answered, approvals.c.decision, approvals.c["values"]
    )


def _one(id: str) -> Any:
    return _every().where(approvals.c.id == id)


def _stored(row: Row[Any]) -> StoredApproval:
    fields = tuple(row)
    values = dict(zip(Approval.__struct_fields__, fields, strict=False))
    values["schema"] = _object(values["schema"])
    values["kind"] = one_of_its_kind(values["kind"])
    user, answered, decision, form_values = fields[len(_COLUMNS) :]
    return StoredApproval(Approval(**values), user, answered, decision, _object(form_values))
