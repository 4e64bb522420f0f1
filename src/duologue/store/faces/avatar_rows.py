"""Faces that people brought, each with its bytes and what its owner agreed to.

Used by `gateway.avatars.library`. The bytes are in the database, so that a deleted face leaves nothing behind and every backup has
all of them; lists do not read them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from sqlalchemy import ColumnElement, delete, func, insert, or_, select, update

from duologue.store.database import Database
from duologue.store.schema.locking import one_at_a_time
from duologue.store.schema.tables import avatar_files, avatars
from duologue.values.avatars import Landmarks, StoredAvatar

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

Part = Literal["file", "preview"]
_COLUMNS = tuple(avatars.c[name] for name in StoredAvatar.__struct_fields__)
_id, _user = avatars.c.id, avatars.c.user


class AvatarRows:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def visible(self, user: str) -> list[StoredAvatar]:
        """The faces this user may show: their own, then shared ones, each in the order of their names."""
        order = (_user != user, func.lower(avatars.c.name), avatars.c.created, _id)
        async with self._database.reading() as connection:
            rows = await connection.execute(select(*_COLUMNS).where(_visible(user)).order_by(*order))
            return [_avatar(row) for row in rows.mappings()]

    async def get(self, id: str, user: str) -> StoredAvatar | None:
        """A face this user may show."""
        async with self._database.reading() as connection:
            row = (await connection.execute(select(*_COLUMNS).where(_id == id, _visible(user)))).first()
        return None if row is None else _avatar(row._mapping)

    async def data(self, id: str, part: Part = "file") -> bytes | None:
        """Its bytes: the file, or the preview (PNG)."""
        which = (avatar_files.c.avatar == id, avatar_files.c.part == part)
        async with self._database.reading() as connection:
            data = await connection.scalar(select(avatar_files.c.data).where(*which))
        return None if data is None else bytes(data)

    async def add(self, avatar: StoredAvatar, file: bytes, preview: bytes, most: int) -> StoredAvatar | None:
        """Store a face, created and agreed to now; None where its owner has `most` already. `preview`: empty for none."""
        now = self._now()
        stored = msgspec.structs.replace(
            avatar, created=now, agreed=now if avatar.statement else 0, has_preview=bool(preview)
        )
        parts = {"file": file, **({"preview": preview} if preview else {})}
        count = select(func.count()).select_from(avatars).where(_user == avatar.user)
        async with self._database.writing() as connection:
            await one_at_a_time(connection, f"faces of {avatar.user}")
            if int(await connection.scalar(count) or 0) >= most:
                return None
            await connection.execute(insert(avatars).values(_values(stored)))
            for part, data in parts.items():
                await connection.execute(insert(avatar_files).values(avatar=avatar.id, part=part, data=data))
        return stored

    async def change(self, avatar: StoredAvatar) -> bool:
        """Store its name, its landmarks and whether it is shared. Whether it is still there."""
        values = _values(avatar)
        changed = {name: values[name] for name in ("name", "landmarks", "shared")}
        async with self._database.writing() as connection:
            result = await connection.execute(update(avatars).where(_id == avatar.id).values(changed))
        return result.rowcount > 0

    async def delete(self, id: str) -> bool:
        """Delete a face with its bytes. Whether there was one."""
        async with self._database.writing() as connection:
            await connection.execute(delete(avatar_files).where(avatar_files.c.avatar == id))
            result = await connection.execute(delete(avatars).where(_id == id))
        return result.rowcount > 0


def _visible(user: str) -> ColumnElement[bool]:
    return or_(_user == user, avatars.c.shared)


def _values(avatar: StoredAvatar) -> dict[str, Any]:
    marks = avatar.landmarks
    return msgspec.structs.asdict(avatar) | {
        "landmarks": None if marks is None else msgspec.json.encode(marks).decode()
    }


def _avatar(row: RowMapping) -> StoredAvatar:
    marks = row["landmarks"]
    landmarks = None if marks is None else msgspec.json.decode(marks, type=Landmarks)
    return StoredAvatar(**{**row, "landmarks": landmarks})
