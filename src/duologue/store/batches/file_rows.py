"""The files that clients of the API stored: whose each is, what for, how large, and until when. The bytes are in the data folder.

Used by `gateway/files`. Every read for a user is by owner: a file of another user does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import msgspec
from sqlalchemy import and_, delete, exists, func, or_, select

from duologue.errors import NotFound
from duologue.store.database import Database
from duologue.store.schema.batch_tables import batches, stored_files
from duologue.store.schema.locking import inserted
from duologue.values.batches.stored_batch import RUNNING, StoredFile


class FileRows:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does. A file that has expired is
    not found, though it may still be there."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def add(self, file: StoredFile) -> None:
        """Store a file; without effect if it is there already."""
        async with self._database.writing() as connection:
            await connection.execute(inserted(connection, stored_files, msgspec.structs.asdict(file)))

    async def get(self, user: str, id: str) -> StoredFile:
        """Raises NotFound, also for another user's."""
        found = await self._read(
            select(stored_files).where(stored_files.c.id == id, stored_files.c.user == user, self._alive())
        )
        if not found:
            raise NotFound("There is no such file.", code="file_not_found")
        return found[0]

    async def of(
        self,
        user: str,
        *,
        purpose: str = "",
        after: StoredFile | None = None,
        ascending: bool = False,
        limit: int = 10_000,
    ) -> list[StoredFile]:
        """Those of this user, the newest first or last, from behind the file `after`."""
        created, id = stored_files.c.created, stored_files.c.id
        these = select(stored_files).where(stored_files.c.user == user, self._alive())
        if purpose:
            these = these.where(stored_files.c.purpose == purpose)
        if after is not None:
            beyond = created > after.created if ascending else created < after.created
            same = and_(created == after.created, id > after.id if ascending else id < after.id)
            these = these.where(or_(beyond, same))
        order = (created.asc(), id.asc()) if ascending else (created.desc(), id.desc())
        return await self._read(these.order_by(*order).limit(limit))

    async def usage(self, user: str) -> int:
        """The bytes of this user's files."""
        total = select(func.coalesce(func.sum(stored_files.c.size), 0)).where(stored_files.c.user == user)
        async with self._database.reading() as connection:
            return int(await connection.scalar(total) or 0)

    async def count(self, user: str) -> int:
        """How many files this user has."""
        number = select(func.count()).select_from(stored_files).where(stored_files.c.user == user)
        async with self._database.reading() as connection:
            return int(await connection.scalar(number) or 0)

    async def expired(self, without: Collection[str] = ()) -> list[StoredFile]:
        """Those whose time is over, of every user, `without` some that are in use and without those that a batch still reads."""
        is_read = exists().where(batches.c.input_file == stored_files.c.id, batches.c.status.in_(RUNNING))
        found = await self._read(select(stored_files).where(~self._alive(), ~is_read))
        return [file for file in found if file.id not in without]

    async def ids(self) -> set[str]:
        """Every file there is."""
        async with self._database.reading() as connection:
            return set((await connection.scalars(select(stored_files.c.id))).all())

    async def delete(self, id: str) -> bool:
        """Forget a file. Whether there was one."""
        async with self._database.writing() as connection:
            result = await connection.execute(delete(stored_files).where(stored_files.c.id == id))
        return result.rowcount > 0

    def _alive(self) -> Any:
        return or_(stored_files.c.expires == 0, stored_files.c.expires > self._now())

    async def _read(self, these: Any) -> list[StoredFile]:
        async with self._database.reading() as connection:
            return [StoredFile(**row) for row in (await connection.execute(these)).mappings()]
