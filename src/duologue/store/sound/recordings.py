"""The recordings of calls and spoken chats: whose each is, how long it is and how it ended. The sound is in files.

Used by `gateway/recordings`. Every read is by owner: a recording of another user does not exist.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import delete, func, insert, select, update

from duologue.errors import NotFound
from duologue.store.database import Database
from duologue.store.schema.tables import recordings
from duologue.values.recordings import StoredRecording


class RecordingRows:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def add(self, recording: StoredRecording) -> StoredRecording:
        """Store a recording that begins now."""
        stored = msgspec.structs.replace(recording, created=self._now())
        async with self._database.writing() as connection:
            await connection.execute(insert(recordings).values(msgspec.structs.asdict(stored)))
        return stored

    async def save(self, recording: StoredRecording) -> None:
        """Store how far it is, or how it ended; without effect if it was deleted."""
        values = {name: getattr(recording, name) for name in ("title", "duration", "size", "frames", "ended")}
        async with self._database.writing() as connection:
            this = update(recordings).where(recordings.c.id == recording.id)
            await connection.execute(this.values(values))

    async def of(self, user: str) -> list[StoredRecording]:
        """Those of this user, the newest first."""
        these = select(recordings).where(recordings.c.user == user)
        return await self._read(these.order_by(recordings.c.created.desc(), recordings.c.id))

    async def get(self, user: str, id: str) -> StoredRecording:
        """Raises NotFound, also for another user's."""
        found = await self._read(select(recordings).where(recordings.c.id == id, recordings.c.user == user))
        if not found:
            raise NotFound("There is no such recording.", code="recording_not_found")
        return found[0]

    async def running(self) -> list[StoredRecording]:
        """Those without an end, of every user."""
        return await self._read(select(recordings).where(recordings.c.ended == ""))

    async def expired(self, older_than_ms: int) -> list[StoredRecording]:
        """Those that ended and began longer ago than that, of every user."""
        before = self._now() - older_than_ms
        return await self._read(
            select(recordings).where(recordings.c.ended != "", recordings.c.created < before)
        )

    async def ids(self) -> set[str]:
        """Every recording there is."""
        async with self._database.reading() as connection:
            return set((await connection.scalars(select(recordings.c.id))).all())

    async def usage(self, user: str | None = None) -> int:
        """The bytes of this user's recordings; None: of everybody's."""
        total = select(func.coalesce(func.sum(recordings.c.size), 0))
        if user is not None:
            total = total.where(recordings.c.user == user)
        async with self._database.reading() as connection:
            return int(await connection.scalar(total) or 0)

    async def delete(self, id: str) -> bool:
        """Forget a recording. Whether there was one."""
        async with self._database.writing() as connection:
            result = await connection.execute(delete(recordings).where(recordings.c.id == id))
        return result.rowcount > 0

    async def _read(self, these: Any) -> list[StoredRecording]:
        async with self._database.reading() as connection:
            return [StoredRecording(**row) for row in (await connection.execute(these)).mappings()]
