"""The folders a user sorts conversations into; a folder may be in another."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.errors import BadRequest, NotFound
from duologue.store.database import Database
from duologue.store.schema.tables import conversations, folders
from duologue.values.conversations import Folder


class Folders:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def all(self, user: str, *, within: AsyncConnection | None = None) -> list[Folder]:
        """By name, then by id."""
        these = select(folders.c.id, folders.c.name, folders.c.parent, folders.c.created)
        these = these.where(folders.c.user == user).order_by(folders.c.name, folders.c.id)
        async with self._database.reading(within) as connection:
            return [Folder(*row) for row in await connection.execute(these)]

    async def put(self, user: str, folder: Folder, *, within: AsyncConnection | None = None) -> Folder:
        """Make a folder, or change the one with this id. Raises BadRequest `unknown_folder` (the parent), `cycle`,
        `id_taken` (another user's)."""
        async with self._database.writing(within) as connection:
            mine = {one.id: one for one in await self.all(user, within=connection)}
            _check_place(folder, mine)
            old = mine.get(folder.id)
            new = msgspec.structs.replace(
                folder, created=old.created if old else folder.created or self._now()
            )
            values = {"name": new.name, "parent": new.parent}
            if old is not None:
                await connection.execute(update(folders).where(folders.c.id == new.id).values(values))
                return new
            if await connection.scalar(select(folders.c.id).where(folders.c.id == new.id)) is not None:
                raise BadRequest(
                    "A folder with this id exists already. Choose another id.", code="id_taken", param="id"
                )
            await connection.execute(
                insert(folders).values(id=new.id, user=user, created=new.created, **values)
            )
        return new

    async def delete(self, user: str, id: str) -> None:
        """Remove a folder; what is in it moves to where the folder was. Raises NotFound."""
        async with self._database.writing() as connection:
            mine = {one.id: one for one in await self.all(user, within=connection)}
            if id not in mine:
                raise NotFound("There is no such folder.")
            parent = mine[id].parent
            for table, inside in ((folders, folders.c.parent), (conversations, conversations.c.folder)):
                await connection.execute(update(table).where(inside == id).values({inside.name: parent}))
            await connection.execute(delete(folders).where(folders.c.id == id))


def _check_place(folder: Folder, mine: dict[str, Folder]) -> None:
    above = folder.parent
    while above is not None:
        if above == folder.id:
            raise BadRequest("A folder cannot be in itself.", code="cycle", param="parent")
        if above not in mine:
            raise BadRequest("There is no such folder.", code="unknown_folder", param="parent")
        above = mine[above].parent
