"""The folders of users for conversations. A folder can be inside another."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.errors import BadRequest, NotFound
from duologue.store.database import Database
from duologue.store.schema.locking import inserted, one_at_a_time
from duologue.store.schema.repeating import repeated
from duologue.store.schema.tables import conversations, folders
from duologue.values.conversations import Folder


class Folders:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def all(self, user: str, *, within: AsyncConnection | None = None) -> list[Folder]:
        """Every folder of a user, by name, then by id."""
        these = select(folders.c.id, folders.c.name, folders.c.parent, folders.c.created)
        these = these.where(folders.c.user == user).order_by(folders.c.name, folders.c.id)
        async with self._database.reading(within) as connection:
            return [Folder(*row) for row in await connection.execute(these)]

    @repeated
    async def put(self, user: str, folder: Folder, *, within: AsyncConnection | None = None) -> Folder:
        """Create a folder, or change the one with this id. Raises BadRequest `unknown_folder` (the parent), `cycle`, `id_taken`
        (by another user)."""
        async with self._database.writing(within) as connection:
            # Two folders that are moved into each other at two gateways would be a circle.
            await one_at_a_time(connection, f"folders of {user}")
            own = {folder.id: folder for folder in await self.all(user, within=connection)}
            _check_parent(folder, own)
            old = own.get(folder.id)
            new = msgspec.structs.replace(
                folder, created=old.created if old else folder.created or self._now()
            )
            values = {"name": new.name, "parent": new.parent}
            if old is not None:
                await connection.execute(update(folders).where(folders.c.id == new.id).values(values))
                return new
            row = {"id": new.id, "user": user, "created": new.created} | values
            if not (await connection.execute(inserted(connection, folders, row))).rowcount:
                raise BadRequest(
                    "A folder with this id exists already. Choose another id.", code="id_taken", param="id"
                )
        return new

    @repeated
    async def delete(self, user: str, id: str) -> None:
        """Delete a folder. Its content moves to where the folder was. Raises NotFound."""
        async with self._database.writing() as connection:
            await one_at_a_time(connection, f"folders of {user}")
            own = {folder.id: folder for folder in await self.all(user, within=connection)}
            if id not in own:
                raise NotFound("There is no such folder.")
            parent = own[id].parent
            for table, inside in ((folders, folders.c.parent), (conversations, conversations.c.folder)):
                await connection.execute(update(table).where(inside == id).values({inside.name: parent}))
            await connection.execute(delete(folders).where(folders.c.id == id))


def _check_parent(folder: Folder, own: dict[str, Folder]) -> None:
    above, seen = folder.parent, {folder.id}
    while above is not None:
        # Also a circle that this one is not in: an older version could store one.
        if above in seen:
            raise BadRequest("A folder cannot be in itself.", code="cycle", param="parent")
        if above not in own:
            raise BadRequest("There is no such folder.", code="unknown_folder", param="parent")
        seen.add(above)
        above = own[above].parent
