"""Recordings of voices to speak with, each with its sound and what its owner agreed to.

Used by `gateway.speech.voice_library`. The sound is in the row, so that a deleted voice leaves nothing behind and every backup
of the database has all of them; lists do not read it.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from sqlalchemy import ColumnElement, delete, func, insert, or_, select, update

from duologue.store.database import Database
from duologue.store.schema.locking import one_at_a_time
from duologue.store.schema.tables import custom_voices
from duologue.values.custom_voice import CustomVoice

_COLUMNS = tuple(custom_voices.c[name] for name in CustomVoice.__struct_fields__)
_id, _user = custom_voices.c.id, custom_voices.c.user


class CustomVoices:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def visible(self, user: str) -> list[CustomVoice]:
        """The voices this user may speak with: their own, then shared ones, each in the order of their names."""
        order = (_user != user, func.lower(custom_voices.c.name), custom_voices.c.created, _id)
        async with self._database.reading() as connection:
            rows = await connection.execute(select(*_COLUMNS).where(_visible(user)).order_by(*order))
            return [CustomVoice(**row) for row in rows.mappings()]

    async def get(self, user: str, id: str) -> CustomVoice | None:
        """A voice this user may speak with."""
        async with self._database.reading() as connection:
            row = (await connection.execute(select(*_COLUMNS).where(_id == id, _visible(user)))).first()
        return None if row is None else CustomVoice(**row._mapping)

    async def sound(self, id: str) -> bytes | None:
        """The recording: 16-bit mono PCM at 16 kHz."""
        async with self._database.reading() as connection:
            sound = await connection.scalar(select(custom_voices.c.sound).where(_id == id))
        return None if sound is None else bytes(sound)

    async def add(self, voice: CustomVoice, sound: bytes, most: int) -> CustomVoice | None:
        """Store a voice, created and agreed to now; None where its owner has `most` already."""
        now = self._now()
        stored = msgspec.structs.replace(voice, created=now, agreed=now)
        count = select(func.count()).select_from(custom_voices).where(_user == voice.user)
        async with self._database.writing() as connection:
            await one_at_a_time(connection, f"voices of {voice.user}")
            if int(await connection.scalar(count) or 0) >= most:
                return None
            values = msgspec.structs.asdict(stored) | {"sound": sound}
            await connection.execute(insert(custom_voices).values(values))
        return stored

    async def change(self, voice: CustomVoice) -> bool:
        """Store its name, its text and whether it is shared. Whether it is still there."""
        this = update(custom_voices).where(_id == voice.id)
        async with self._database.writing() as connection:
            result = await connection.execute(
                this.values(name=voice.name, text=voice.text, shared=voice.shared)
            )
        return result.rowcount > 0

    async def delete(self, id: str) -> bool:
        """Delete a voice with its sound. Whether there was one."""
        async with self._database.writing() as connection:
            result = await connection.execute(delete(custom_voices).where(_id == id))
        return result.rowcount > 0


def _visible(user: str) -> ColumnElement[bool]:
    return or_(_user == user, custom_voices.c.shared)
