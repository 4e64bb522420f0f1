"""Users, their keys, and the logins of the page.

Used by `gateway/auth` and the command line. Owns the creation of keys and every digest of a secret. The value of a key is shown
once, when it is created; only its digest is stored.

The digest is a plain SHA-256, not a slow, salted hash: those protect passwords that people choose, which can be guessed. A key is
32 random bytes, which nobody can guess however fast the hash is, and it is checked on every request.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
from msgspec import Struct
from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from duologue.errors import BadRequest, NotFound, TooLarge
from duologue.store.schema.tables import keys, logins, users
from duologue.values.usage.key_limits import KeyLimits

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from duologue.store.database import Database

Role = Literal["user", "admin"]

LOCAL = "local"
"""The id of the only user while there are no keys, and of the user of the key in the settings."""
KEY_PREFIX = "duo_"
SHOWN = 10
"""Characters of a key that stay visible, to tell keys apart: 6 of its 43 random ones."""
KEY_ID_PREFIX = "key_"
KEYS = 1000
"""Limit of valid keys, and of the most recently revoked keys in the list."""
NO_LIMITS = KeyLimits()
_limits = msgspec.json.Decoder(KeyLimits).decode
LOGINS = 1000
LOGINS_OF_ONE = 50


class Account(Struct, frozen=True):
    """A user. `disabled`: since when they cannot log in (ms), 0 while they can."""

    id: str
    name: str
    role: Role
    created: int = 0
    disabled: int = 0


class Key(Struct, frozen=True):
    """A key without its value. `user`: an account's id; `last_used`: accurate to a minute, 0 for never; `limits`: those of its own."""

    id: str
    user: str
    prefix: str
    created: int
    last_used: int = 0
    revoked: int = 0
    limits: KeyLimits = KeyLimits()


class NewKey(NamedTuple):
    """A new key, with its value. `first`: its account is the first, and inherits what `local` wrote."""

    value: str
    key: Key
    account: Account
    first: bool


class Revoked(NamedTuple):
    """The keys that were just revoked, and how many valid keys remain: of all users, and of admins."""

    keys: tuple[Key, ...]
    left: int
    admins_left: int


class StoredLogin(NamedTuple):
    """`key`: the id of the key it was made with; "" for one that is older than this was stored."""

    user: str
    expires: int
    key: str = ""


class Register(Struct, frozen=True):
    """Everything that decides who has access, at one moment: keys and logins by their digest, without revoked keys and
    disabled users. `closed`: keys have been created here, even if none is left."""

    keys: Mapping[bytes, Key] = {}
    accounts: Mapping[str, Account] = {}
    logins: Mapping[bytes, StoredLogin] = {}
    closed: bool = False


def digest_of(secret: str) -> bytes:
    """The stored digest of a key or token."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


class Users:
    """The rows of users, keys and logins."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    @property
    def database(self) -> Database:
        return self._database

    async def register(self) -> Register:
        """The present register."""
        async with self._database.reading() as connection:
            rows = (await connection.execute(select(keys).where(keys.c.revoked == 0))).all()
            known = (await connection.execute(select(users).where(users.c.disabled == 0))).all()
            open_ = (await connection.execute(select(logins).where(logins.c.expires > self._now()))).all()
            closed = bool(rows) or await _count(connection, keys) > 0
        accounts = {row.id: _account(row) for row in known}
        return Register(
            keys={row.digest: _key(row) for row in rows if row.user_id in accounts},
            accounts=accounts,
            logins={row.digest: StoredLogin(row.user_id, row.expires, row.key_id or "") for row in open_},
            closed=closed,
        )

    async def accounts(self) -> tuple[Account, ...]:
        """Every user, by name."""
        async with self._database.reading() as connection:
            rows = (await connection.execute(select(users).order_by(users.c.name))).all()
        return tuple(_account(row) for row in rows)

    async def keys(self) -> tuple[Key, ...]:
        """Every key, also revoked ones, oldest first."""
        async with self._database.reading() as connection:
            rows = (await connection.execute(select(keys).order_by(keys.c.created, keys.c.id))).all()
        return tuple(_key(row) for row in rows)

    async def add_key(self, name: str, *, admin: bool = False) -> NewKey:
        """Create a key for the user of this name, who is created if necessary; `admin` also promotes an existing user.

        The first user inherits everything `local` wrote and is an admin, as `local` was. It gets the id `local`, so that
        no rows have to change while replies are running. Raises BadRequest for an invalid name, TooLarge when there are
        too many keys.
        """
        name = checked_name(name)
        try:
            return await self._add_key(name, admin=admin)
        except IntegrityError:  # another request created the same user at the same moment
            return await self._add_key(name, admin=admin)

    async def _add_key(self, name: str, *, admin: bool) -> NewKey:
        value = KEY_PREFIX + secrets.token_urlsafe(32)
        async with self._database.writing() as connection:
            if await _count(connection, keys, keys.c.revoked == 0) >= KEYS:
                raise TooLarge(
                    f"There are {KEYS} keys already; revoke some that nobody uses.", code="too_many_keys"
                )
            row = (await connection.execute(select(users).where(users.c.name == name))).first()
            first = row is None and await _count(connection, users) == 0
            account = _account(row) if row else await self._new_account(connection, name, admin, first)
            if account.disabled or (admin and account.role != "admin"):
                role: Role = "admin" if admin else account.role
                await connection.execute(
                    update(users).where(users.c.id == account.id).values(role=role, disabled=0)
                )
                account = Account(account.id, account.name, role, account.created)
            key = Key(
                id=KEY_ID_PREFIX + secrets.token_hex(6),
                user=account.id,
                prefix=value[:SHOWN],
                created=self._now(),
            )
            await connection.execute(insert(keys).values(digest=digest_of(value), **_columns(key)))
        return NewKey(value, key, account, first)

    async def _new_account(self, connection: AsyncConnection, name: str, admin: bool, first: bool) -> Account:
        if name == LOCAL and await _count(connection, users, users.c.id == LOCAL):
            raise BadRequest(
                f"What belonged to {LOCAL} is another user's now: choose another name.",
                code="name_taken",
                param="name",
            )
        account = Account(
            id=LOCAL if first or name == LOCAL else f"user_{secrets.token_hex(8)}",
            name=name,
            role="admin" if admin or first or name == LOCAL else "user",
            created=self._now(),
        )
        await connection.execute(insert(users).values(**_columns(account)))
        return account

    async def revoke(self, id_or_name: str, *, spare_last_admin: bool = False) -> Revoked:
        """Revoke the key of this id, or every key of the user of this name, and end the logins of its user.

        Idempotent. Raises NotFound; with `spare_last_admin` BadRequest, when no admin's
        key would be left.
        """
        async with self._database.writing() as connection:
            known = await connection.execute(
                select(keys, users.c.role, users.c.name, users.c.disabled).join(
                    users, users.c.id == keys.c.user_id
                )
            )
            rows = known.all()
            chosen = [row for row in rows if row.id == id_or_name]
            chosen = chosen or [row for row in rows if row.name == id_or_name]
            if not chosen:
                raise NotFound(f"There is no key and no user with keys called {id_or_name[:100]!r}.")
            now, going = self._now(), [row for row in chosen if not row.revoked]
            ids = {row.id for row in going}
            left = [row for row in rows if not row.revoked and row.id not in ids]
            admins = sum(row.role == "admin" and not row.disabled for row in left)
            if spare_last_admin and going and not admins:
                raise BadRequest(
                    "This is the last key of an admin. Add another one first, or revoke it on the server's own "
                    "machine with `duologue key revoke`.",
                    code="last_admin_key",
                )
            await connection.execute(update(keys).where(keys.c.id.in_(ids)).values(revoked=now))
            too_old = (
                select(keys.c.id)
                .where(keys.c.revoked > 0)
                .order_by(keys.c.revoked.desc(), keys.c.id)
                .offset(KEYS)
            )
            old = (await connection.execute(too_old)).scalars().all()
            await connection.execute(delete(keys).where(keys.c.id.in_(old)))
            # Which key opened a login is not kept: one login too many ends, rather than one too few.
            owners = {row.user_id for row in chosen}
            await connection.execute(delete(logins).where(logins.c.user_id.in_(owners)))
        gone = tuple(_key(row, revoked=now) for row in going)
        return Revoked(gone, len(left), admins)

    async def key(self, id: str) -> Key:
        """A key by its id, also a revoked one. Raises NotFound."""
        async with self._database.reading() as connection:
            row = (await connection.execute(select(keys).where(keys.c.id == id))).first()
        if row is None:
            raise _no_key(id)
        return _key(row)

    async def limit(self, id: str, changes: Mapping[str, Any]) -> Key:
        """Change limits of a key, by the names of `KeyLimits`; None for what the settings say. Raises NotFound."""
        async with self._database.writing() as connection:
            row = (await connection.execute(select(keys).where(keys.c.id == id))).first()
            if row is None:
                raise _no_key(id)
            limits = msgspec.structs.replace(_key(row).limits, **changes)
            await connection.execute(
                update(keys).where(keys.c.id == id).values(limits=msgspec.json.encode(limits).decode())
            )
        return _key(row, limits=limits)

    async def change(
        self,
        name: str,
        *,
        role: Role | None = None,
        disabled: bool | None = None,
        key_of_settings: bool = False,
    ) -> Account:
        """Change the role of a user, or disable or enable them; None leaves a property unchanged. Nothing of theirs is deleted.
        `key_of_settings`: the settings have a key too, whose user is an admin.

        Raises NotFound that lists the existing users; BadRequest when no admin with access would remain, and for the user
        of the settings' key, whose role the settings decide.
        """
        async with self._database.writing() as connection:
            rows = (await connection.execute(select(users).order_by(users.c.name))).all()
            row = next((row for row in rows if row.name == name), None)
            if row is None:
                raise _nobody(name, [row.name for row in rows])
            account = _account(row)
            since = account.disabled
            if disabled is not None:
                since = (since or self._now()) if disabled else 0
            changed = Account(account.id, account.name, role or account.role, account.created, since)
            takes_away = changed.role != "admin" or bool(since)
            if takes_away and key_of_settings and account.id == LOCAL:
                raise BadRequest(
                    f"{account.name} is who has the key of the settings, and an admin by it. Take that key out of the "
                    "settings first.",
                    code="configured_user",
                )
            if takes_away and account.role == "admin" and not account.disabled and not key_of_settings:
                await self._spare_last_admin(connection, account.id)
            await connection.execute(
                update(users).where(users.c.id == account.id).values(role=changed.role, disabled=since)
            )
        return changed

    @staticmethod
    async def _spare_last_admin(connection: AsyncConnection, but: str) -> None:
        """Raises BadRequest when this user is the only admin with access."""
        others = (
            select(func.count())
            .select_from(keys.join(users, users.c.id == keys.c.user_id))
            .where(keys.c.revoked == 0, users.c.role == "admin", users.c.disabled == 0, users.c.id != but)
        )
        if not (await connection.execute(others)).scalar_one():
            raise BadRequest(
                "This is the last admin who can come in. Make another one first: `duologue key add NAME --admin`.",
                code="last_admin",
            )

    async def clear(self) -> int:
        """Delete every key and login, as if none had ever been created; users and their data stay. Returns the number of
        keys."""
        async with self._database.writing() as connection:
            count = await _count(connection, keys)
            await connection.execute(delete(keys))
            await connection.execute(delete(logins))
        return count

    async def know_local(self) -> None:
        """Create the user `local` if it does not exist. The user of the settings' key then keeps their data, and the first
        key of another user does not inherit it."""
        async with self._database.writing() as connection:
            if not await _count(connection, users, users.c.id == LOCAL):
                account = Account(LOCAL, LOCAL, "admin", self._now())
                await connection.execute(insert(users).values(**_columns(account)))

    async def note_used(self, used: Mapping[str, int]) -> None:
        """Store when keys, by id, were last used (ms)."""
        async with self._database.writing() as connection:
            for key, at in used.items():
                await connection.execute(update(keys).where(keys.c.id == key).values(last_used=at))

    async def open_login(self, digest: bytes, user: str, expires: int, key: str = "") -> None:
        """Store a login with a key. The oldest are deleted when its user, or all users together, have too many."""
        now = self._now()
        async with self._database.writing() as connection:
            await connection.execute(delete(logins).where(logins.c.expires <= now))
            for limit, whose in ((LOGINS_OF_ONE, logins.c.user_id == user), (LOGINS, logins.c.digest != b"")):
                # One more comes right after.
                too_many = (
                    select(logins.c.digest)
                    .where(whose)
                    .order_by(logins.c.created.desc(), logins.c.digest)
                    .offset(limit - 1)
                )
                old = (await connection.execute(too_many)).scalars().all()
                await connection.execute(delete(logins).where(logins.c.digest.in_(old)))
            await connection.execute(
                insert(logins).values(digest=digest, user_id=user, created=now, expires=expires, key_id=key)
            )

    async def close_login(self, digest: bytes) -> None:
        async with self._database.writing() as connection:
            await connection.execute(delete(logins).where(logins.c.digest == digest))


async def closed(url: str | None, data: Path, *, now: Callable[[], int]) -> bool:
    """Whether keys have been created in the database of a server that is about to start. Does not create or migrate a SQLite
    file."""
    file = data / "duologue.db"
    if url is None:
        try:
            with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
                return connection.execute("SELECT 1 FROM keys LIMIT 1").fetchone() is not None
        except sqlite3.Error:  # no file yet, or none of this version: then there are no keys
            return False
    from duologue.store.database import Database

    async with Database.opened(url, data, now=now) as database:
        return (await Users(database, now).register()).closed


def checked_name(name: str) -> str:
    """The normalised name of a user. Raises BadRequest for one that cannot be shown on one line."""
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    if not 0 < len(name) <= 64 or not name.isprintable() or name.startswith(KEY_ID_PREFIX):
        raise BadRequest(
            f"A user's name is 1 to 64 printable characters and does not begin with {KEY_ID_PREFIX}.",
            param="name",
        )
    return name


def _nobody(name: str, known: Sequence[str]) -> NotFound:
    there = f"There is {', '.join(known[:20])}." if known else "There are no users yet."
    return NotFound(f"There is no user called {name[:100]!r}. {there}", code="user_not_found", param="name")


async def _count(connection: AsyncConnection, table: Any, *conditions: Any) -> int:
    query = select(func.count()).select_from(table).where(*conditions)
    return int((await connection.execute(query)).scalar_one())


def _account(row: Any) -> Account:
    return Account(row.id, row.name, row.role, row.created, row.disabled)


def _no_key(id: str) -> NotFound:
    return NotFound(
        f"There is no key with the id {id[:100]!r}. `duologue key list` shows the ids.", param="id"
    )


def _key(row: Any, *, revoked: int | None = None, limits: KeyLimits | None = None) -> Key:
    at = row.revoked if revoked is None else revoked
    if limits is None:
        limits = _limits(row.limits) if row.limits else NO_LIMITS
    return Key(row.id, row.user_id, row.prefix, row.created, row.last_used, at, limits)


def _columns(row: Account | Key) -> dict[str, Any]:
    fields = {name: getattr(row, name) for name in row.__struct_fields__}
    if isinstance(row, Key):
        fields["user_id"] = fields.pop("user")
        fields["limits"] = None if row.limits == NO_LIMITS else msgspec.json.encode(row.limits).decode()
    return fields
