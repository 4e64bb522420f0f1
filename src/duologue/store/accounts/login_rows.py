"""The sign-ins of the page as people see them: listed without their secrets, noted when they are used, ended one by one.

Used by `gateway/auth` and the command line, as `logins` of `store/users.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct
from sqlalchemy import delete, insert, select, update

from duologue.errors import Unauthorized
from duologue.store.database import Database
from duologue.store.schema.locking import held
from duologue.store.schema.repeating import repeated
from duologue.store.schema.tables import keys, logins

ID_PREFIX = "login_"
MOST = 1000
MOST_OF_ONE = 50


class Login(Struct, frozen=True):
    """A sign-in. `user`: an account's id; times in ms, `last_seen` accurate to a minute; `address`: a group of addresses, and `agent`: the
    browser in a few words, "" where nothing is known."""

    id: str
    user: str
    created: int
    expires: int
    last_seen: int
    address: str
    agent: str


class Seen(NamedTuple):
    """When and from where a login was last used."""

    at: int
    address: str


def login_id(digest: bytes) -> str:
    """The public id of a login. It says nothing about the digest that is compared."""
    return ID_PREFIX + hashlib.sha256(b"id of a login" + digest).hexdigest()[:20]


class LoginRows:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def all(self, user: str | None = None) -> list[Login]:
        """The valid sign-ins of this user, None for everyone's; the last used first."""
        query = select(logins).where(logins.c.expires > self._now())
        if user is not None:
            query = query.where(logins.c.user_id == user)
        query = query.order_by(logins.c.last_seen.desc(), logins.c.created.desc(), logins.c.digest)
        async with self._database.reading() as connection:
            return [_login(row) for row in await connection.execute(query)]

    @repeated
    async def open(
        self,
        digest: bytes,
        user: str,
        expires: int,
        *,
        address: str = "",
        agent: str = "",
        key: str = "",
        secret: bytes = b"",
    ) -> None:
        """Store a login with the key of this id, and from where and by which browser it was opened. The oldest are deleted when its user, or all users
        together, have too many. `secret`: the digest of the key as it was entered. Raises Unauthorized where the key was just revoked, or has
        another value."""
        now = self._now()
        async with self._database.writing() as connection:
            # The row is locked, so revoking the key has to wait for this login, and ends it too.
            known = await connection.execute(
                held(select(keys.c.revoked, keys.c.digest).where(keys.c.id == key))
            )
            row = known.first()
            if row is not None and (row.revoked or (secret and row.digest != secret)):
                raise Unauthorized("The key is wrong.", param="key")
            await connection.execute(delete(logins).where(logins.c.expires <= now))
            for limit, whose in ((MOST_OF_ONE, logins.c.user_id == user), (MOST, logins.c.digest != b"")):
                # One more comes right after.
                too_many = (
                    select(logins.c.digest)
                    .where(whose)
                    .order_by(logins.c.created.desc(), logins.c.digest)
                    .offset(limit - 1)
                )
                old = (await connection.execute(too_many)).scalars().all()
                await connection.execute(delete(logins).where(logins.c.digest.in_(old)))
            seen = {"last_seen": now, "address": address, "agent": agent}
            await connection.execute(
                insert(logins).values(
                    digest=digest, user_id=user, created=now, expires=expires, key_id=key, **seen
                )
            )

    async def close(self, digest: bytes) -> None:
        async with self._database.writing() as connection:
            await connection.execute(delete(logins).where(logins.c.digest == digest))

    @repeated
    async def note_seen(self, seen: Mapping[bytes, Seen]) -> None:
        """Store when and from where logins, by digest, were last used."""
        async with self._database.writing() as connection:
            # In one order for every gateway: two never wait for each other's rows.
            for digest, (at, address) in sorted(seen.items()):
                known = update(logins).where(logins.c.digest == digest)
                await connection.execute(known.values(last_seen=at, address=address))

    async def end(self, id: str, user: str | None = None) -> Login | None:
        """End the sign-in of this id, of this user or of anyone. Returns it, None where there is none."""
        async with self._database.writing() as connection:
            query = select(logins) if user is None else select(logins).where(logins.c.user_id == user)
            rows = (await connection.execute(query)).all()
            row = next((row for row in rows if login_id(row.digest) == id), None)
            if row is None:
                return None
            await connection.execute(delete(logins).where(logins.c.digest == row.digest))
        return _login(row)

    async def end_all(self, user: str, *, but: bytes = b"") -> int:
        """End every sign-in of a user except the one with this digest. Returns how many."""
        async with self._database.writing() as connection:
            theirs = delete(logins).where(logins.c.user_id == user, logins.c.digest != but)
            return (await connection.execute(theirs)).rowcount


def _login(row: Any) -> Login:
    return Login(
        login_id(row.digest),
        row.user_id,
        row.created,
        row.expires,
        row.last_seen or row.created,
        row.address,
        row.agent,
    )
