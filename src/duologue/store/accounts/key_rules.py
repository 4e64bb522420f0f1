"""Rules about keys that need the database: which key is meant, and that an admin can always come in. Used by `store/users.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from duologue.errors import BadRequest
from duologue.store.accounts.names import no_key
from duologue.store.schema.tables import keys, users

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection


async def one_key(connection: AsyncConnection, id_or_name: str) -> str:
    """The id of the key that is called so, which is not revoked: by its own id, or by the name of a user who has one. Raises NotFound,
    BadRequest."""
    joined = select(keys.c.id, keys.c.label, keys.c.revoked, users.c.name).join(
        users, users.c.id == keys.c.user_id
    )
    called = joined.where((keys.c.id == id_or_name) | (users.c.name == id_or_name))
    rows = (await connection.execute(called)).all()
    if not rows:
        raise no_key(id_or_name)
    valid = [row for row in rows if not row.revoked]
    if not valid:
        raise BadRequest(
            "This key was revoked, which cannot be undone. Create a new one: `duologue key add NAME`.",
            code="key_revoked",
        )
    if len(valid) > 1:
        ids = ", ".join(f"{row.id} ({row.label})" if row.label else row.id for row in valid[:20])
        raise BadRequest(
            f"{valid[0].name} has several keys. Name one by its id: {ids}.", code="key_ambiguous"
        )
    return str(valid[0].id)


def checked_end(expires: int, now: int) -> int:
    """When a key ends (ms), 0 for never. Raises BadRequest for a time that has passed."""
    if expires and expires <= now:
        raise BadRequest(
            "The key would have expired already. Name a time that is still to come.", param="expires"
        )
    return expires


async def spare_last_admin(
    connection: AsyncConnection, but: str | None, *, but_key: str | None = None
) -> None:
    """Raises BadRequest when no admin but this user has a key that does not expire, or none has one but this key."""
    others = (
        select(func.count())
        .select_from(keys.join(users, users.c.id == keys.c.user_id))
        .where(keys.c.revoked == 0, keys.c.expires == 0)
        .where(users.c.role == "admin", users.c.disabled == 0)
    )
    if but is not None:
        others = others.where(users.c.id != but)
    if but_key is not None:
        others = others.where(keys.c.id != but_key)
    if (await connection.execute(others)).scalar_one():
        return
    if but is None:
        raise BadRequest(
            "An admin needs a key that does not expire, or nobody could administer the server afterwards. Create one first: "
            "`duologue key add NAME --admin`.",
            code="last_admin_key",
            param="expires",
        )
    raise BadRequest(
        "This is the last admin with a key that does not expire. Make another one first: `duologue key add NAME "
        "--admin`.",
        code="last_admin",
    )


async def worker_after_admin(connection: AsyncConnection) -> None:
    """Raises BadRequest where no admin has a key: a worker's key as the first one would close the server to everybody."""
    admins = (
        select(func.count())
        .select_from(keys.join(users, users.c.id == keys.c.user_id))
        .where(keys.c.revoked == 0, users.c.role == "admin", users.c.disabled == 0)
    )
    if not (await connection.execute(admins)).scalar_one():
        raise BadRequest(
            "Make a key for yourself first: `duologue key add NAME`. Once there is a key, the server asks everybody for one, and a "
            "worker's key only lets workers join.",
            code="admin_key_first",
            param="role",
        )


def apart(name: str, role: str, asked: str | None) -> None:
    """Raises BadRequest where the user of a worker is asked to be anything else, or the other way round."""
    if asked is not None and asked != role and "worker" in (asked, role):
        raise BadRequest(
            f"{name} has the role {role}. A worker's keys need a user of their own: choose another name.",
            code="worker_apart",
            param="role",
        )
