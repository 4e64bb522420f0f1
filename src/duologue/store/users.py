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
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from duologue.errors import BadRequest, TooLarge
from duologue.store.accounts import key_rules
from duologue.store.accounts.login_rows import LoginRows
from duologue.store.accounts.names import (
    KEY_ID_PREFIX,
    checked_label,
    checked_name,
    no_key,
    no_key_of,
    nobody,
)
from duologue.store.schema.locking import one_at_a_time
from duologue.store.schema.repeating import repeated
from duologue.store.schema.tables import keys, logins, users
from duologue.values.usage.key_limits import KeyLimits

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from duologue.store.database import Database

Role = Literal["user", "admin", "worker"]
"""What the keys of a user may do. Those of a worker let workers on other machines join, and do nothing else; its user has no other role."""

LOCAL = "local"
"""The id of the only user while there are no keys, and of the user of the key in the settings."""
KEY_PREFIX = "duo_"
SHOWN = 10
"""Characters of a key that stay visible, to tell keys apart: 6 of its 43 random ones."""
KEYS = 1000
"""Limit of valid keys, and of the most recently revoked keys in the list."""
NO_LIMITS = KeyLimits()
_limits = msgspec.json.Decoder(KeyLimits).decode
ACCOUNTS = "changes of keys and users"
"""One gateway at a time: whether an admin could still come in depends on all of them."""


class Account(Struct, frozen=True):
    """A user. `disabled`: since when they cannot log in (ms), 0 while they can."""

    id: str
    name: str
    role: Role
    created: int = 0
    disabled: int = 0


class Key(Struct, frozen=True):
    """A key without its value. `user`: an account's id; `last_used`: accurate to a minute, 0 for never; `label`: what its user calls it;
    `expires`: when it ends (ms), 0 for never; `limits`: those of its own."""

    id: str
    user: str
    prefix: str
    created: int
    last_used: int = 0
    revoked: int = 0
    label: str = ""
    expires: int = 0
    limits: KeyLimits = KeyLimits()

    def is_valid(self, now: int) -> bool:
        """Whether it opens the server at this time (ms), if its user is not disabled."""
        return not self.revoked and (not self.expires or now < self.expires)


class NewKey(NamedTuple):
    """A new key, or one with a new value, and the value. `first`: its account is the first, and inherits what `local` wrote."""

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
    disabled users. Keys that have expired are in it: they are asked for with the time. `closed`: keys have been created here, even if none is
    left."""

    keys: Mapping[bytes, Key] = {}
    accounts: Mapping[str, Account] = {}
    logins: Mapping[bytes, StoredLogin] = {}
    closed: bool = False

    def key(self, digest: bytes, now: int) -> Key | None:
        """The key with this digest, if it is valid at this time (ms)."""
        key = self.keys.get(digest)
        return key if key is not None and key.is_valid(now) else None

    def has_key(self, user: str, now: int) -> bool:
        """Whether a key of this user is valid at this time (ms)."""
        return any(key.user == user and key.is_valid(now) for key in self.keys.values())


def digest_of(secret: str) -> bytes:
    """The stored digest of a key or token."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


class Users:
    """The rows of users, keys and logins."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now
        self.logins = LoginRows(database, now)

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

    async def named(self, name: str) -> Account:
        """The user of this name. Raises NotFound that lists the existing users."""
        accounts = await self.accounts()
        found = next((account for account in accounts if account.name == name), None)
        if found is None:
            raise nobody(name, [account.name for account in accounts])
        return found

    async def keys(self) -> tuple[Key, ...]:
        """Every key, also revoked ones, oldest first."""
        async with self._database.reading() as connection:
            rows = (await connection.execute(select(keys).order_by(keys.c.created, keys.c.id))).all()
        return tuple(_key(row) for row in rows)

    async def add_key(
        self,
        name: str,
        *,
        admin: bool = False,
        worker: bool = False,
        label: str = "",
        expires: int = 0,
        of_settings: bool = False,
    ) -> NewKey:
        """Create a key for the user of this name, who is created if necessary; `admin` also promotes an existing user, `worker` is for workers
        on other machines. `expires`: when it ends (ms), 0 for never. `of_settings`: the settings have a key too, whose user is an admin.

        The first user inherits everything `local` wrote and is an admin, as `local` was. It gets the id `local`, so that
        no rows have to change while replies are running. Raises BadRequest for an invalid name or label, for a time that has passed, when a
        key that ends would be the only one of an admin, and for a worker's key without a user of its own or before any admin has a key;
        TooLarge when there are too many keys.
        """
        name, label = checked_name(name), checked_label(label)
        expires = key_rules.checked_end(expires, self._now())
        role: Role | None = "admin" if admin else "worker" if worker else None
        new = partial(self._add_key, name, role, label=label, expires=expires, of_settings=of_settings)
        try:
            return await new()
        except IntegrityError:  # another request created the same user at the same moment
            return await new()

    async def _add_key(
        self, name: str, asked: Role | None, *, label: str, expires: int, of_settings: bool
    ) -> NewKey:
        value = _new_value()
        async with self._database.writing() as connection:
            await one_at_a_time(connection, ACCOUNTS)
            if await _count(connection, keys, keys.c.revoked == 0) >= KEYS:
                raise TooLarge(
                    f"There are {KEYS} keys already; revoke some that nobody uses.", code="too_many_keys"
                )
            row = (await connection.execute(select(users).where(users.c.name == name))).first()
            first = row is None and await _count(connection, users) == 0
            if asked == "worker" and not of_settings:
                await key_rules.worker_after_admin(connection)
            account = _account(row) if row else await self._new_account(connection, name, asked, first)
            key_rules.apart(account.name, account.role, asked)
            if account.disabled or (asked == "admin" and account.role != "admin"):
                role: Role = "admin" if asked == "admin" else account.role
                await connection.execute(
                    update(users).where(users.c.id == account.id).values(role=role, disabled=0)
                )
                account = Account(account.id, account.name, role, account.created)
            if expires and account.role == "admin" and not of_settings:
                await key_rules.spare_last_admin(connection, None)
            key = Key(
                id=KEY_ID_PREFIX + secrets.token_hex(6),
                user=account.id,
                prefix=value[:SHOWN],
                created=self._now(),
                label=label,
                expires=expires,
            )
            await connection.execute(insert(keys).values(digest=digest_of(value), **_columns(key)))
        return NewKey(value, key, account, first)

    async def _new_account(
        self, connection: AsyncConnection, name: str, asked: Role | None, first: bool
    ) -> Account:
        if name == LOCAL and (asked == "worker" or await _count(connection, users, users.c.id == LOCAL)):
            raise BadRequest(
                f"What belonged to {LOCAL} is another user's now: choose another name.",
                code="name_taken",
                param="name",
            )
        inherits = (first or name == LOCAL) and asked != "worker"
        id, role = LOCAL if inherits else f"user_{secrets.token_hex(8)}", "admin" if inherits else asked
        account = Account(id, name, role or "user", self._now())
        await connection.execute(insert(users).values(**_columns(account)))
        return account

    async def reset_key(
        self, id_or_name: str, *, expires: int | None = None, of_settings: bool = False
    ) -> NewKey:
        """Give a key a new value, and a new end if `expires` (ms, 0 for never) is given; its id, label and limits stay. The old value and the
        logins with this key end at once. By the key's id, or by the name of a user who has one key.

        Raises NotFound; BadRequest for a revoked key, for the name of a user with several, and as `add_key` does.
        """
        value, end = _new_value(), None if expires is None else key_rules.checked_end(expires, self._now())
        async with self._database.writing() as connection:
            await one_at_a_time(connection, ACCOUNTS)
            id = await key_rules.one_key(connection, id_or_name)
            key = _key((await connection.execute(select(keys).where(keys.c.id == id))).one())
            account = _account((await connection.execute(select(users).where(users.c.id == key.user))).one())
            if end and account.role == "admin" and not account.disabled and not of_settings:
                await key_rules.spare_last_admin(connection, None, but_key=key.id)
            changed = replace(
                key, prefix=value[:SHOWN], last_used=0, expires=key.expires if end is None else end
            )
            columns = _columns(changed) | {"digest": digest_of(value)}
            await connection.execute(update(keys).where(keys.c.id == key.id).values(columns))
            opened = func.coalesce(logins.c.key_id, "").in_(("", key.id))  # older ones do not say
            await connection.execute(delete(logins).where(logins.c.user_id == account.id, opened))
        return NewKey(value, changed, account, False)

    async def revoke(self, id_or_name: str, *, spare_last_admin: bool = False) -> Revoked:
        """Revoke the key of this id, or every key of the user of this name, and end the logins of its user.

        Idempotent. Raises NotFound; with `spare_last_admin` BadRequest, when no admin's
        key would be left.
        """
        async with self._database.writing() as connection:
            await one_at_a_time(connection, ACCOUNTS)
            known = await connection.execute(
                select(keys, users.c.role, users.c.name, users.c.disabled).join(
                    users, users.c.id == keys.c.user_id
                )
            )
            rows = known.all()
            chosen = [row for row in rows if row.id == id_or_name]
            chosen = chosen or [row for row in rows if row.name == id_or_name]
            if not chosen:
                raise no_key(id_or_name)
            now, going = self._now(), [row for row in chosen if not row.revoked]
            ids = {row.id for row in going}
            left = [row for row in rows if _key(row).is_valid(now) and row.id not in ids]
            admins = sum(row.role == "admin" and not row.disabled and not row.expires for row in left)
            if spare_last_admin and going and not admins:
                raise BadRequest(
                    "This is the last key of an admin, apart from keys that expire. Add another one first, or revoke it on the "
                    "server's own machine with `duologue key revoke`.",
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
            raise no_key_of(id)
        return _key(row)

    async def limit(self, id: str, changes: Mapping[str, Any]) -> Key:
        """Change limits of a key, by the names of `KeyLimits`; None for what the settings say. Raises NotFound."""
        async with self._database.writing() as connection:
            await one_at_a_time(connection, ACCOUNTS)
            row = (await connection.execute(select(keys).where(keys.c.id == id))).first()
            if row is None:
                raise no_key_of(id)
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
        new_name: str | None = None,
        key_of_settings: bool = False,
    ) -> Account:
        """Change the role or the name of a user, or disable or enable them; None leaves a property unchanged. Nothing of theirs is deleted.
        `key_of_settings`: the settings have a key too, whose user is an admin.

        Raises NotFound that lists the existing users; BadRequest when no admin with access would remain, for a name that another user
        has, for another role of a worker's user, and for the user of the settings' key, whose role the settings decide.
        """
        renamed = None if new_name is None else checked_name(new_name)
        async with self._database.writing() as connection:
            await one_at_a_time(connection, ACCOUNTS)
            rows = (await connection.execute(select(users).order_by(users.c.name))).all()
            row = next((row for row in rows if row.name == name), None)
            if row is None:
                raise nobody(name, [row.name for row in rows])
            account = _account(row)
            key_rules.apart(account.name, account.role, role)
            since = account.disabled
            if disabled is not None:
                since = (since or self._now()) if disabled else 0
            others = {row.name for row in rows if row.id != account.id}
            if account.id != LOCAL:
                others.add(LOCAL)
            if renamed in others:
                raise BadRequest(
                    f"The name {renamed} is taken. Choose another one.", code="name_taken", param="name"
                )
            changed = Account(
                account.id, renamed or account.name, role or account.role, account.created, since
            )
            takes_away = changed.role != "admin" or bool(since)
            if takes_away and key_of_settings and account.id == LOCAL:
                raise BadRequest(
                    f"{account.name} is who has the key of the settings, and an admin by it. Take that key out of the "
                    "settings first.",
                    code="configured_user",
                )
            if takes_away and account.role == "admin" and not account.disabled and not key_of_settings:
                await key_rules.spare_last_admin(connection, account.id)
            await connection.execute(
                update(users)
                .where(users.c.id == account.id)
                .values(name=changed.name, role=changed.role, disabled=since)
            )
        return changed

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
        # Gateways that start at the same moment on a new database each create it, and one of them wins.
        with suppress(IntegrityError):
            async with self._database.writing() as connection:
                if not await _count(connection, users, users.c.id == LOCAL):
                    account = Account(LOCAL, LOCAL, "admin", self._now())
                    await connection.execute(insert(users).values(**_columns(account)))

    @repeated
    async def note_used(self, used: Mapping[str, int]) -> None:
        """Store when keys, by id, were last used (ms)."""
        async with self._database.writing() as connection:
            # In one order for every gateway: two never wait for each other's rows.
            for key, at in sorted(used.items()):
                await connection.execute(update(keys).where(keys.c.id == key).values(last_used=at))


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


def _new_value() -> str:
    return KEY_PREFIX + secrets.token_urlsafe(32)


async def _count(connection: AsyncConnection, table: Any, *conditions: Any) -> int:
    query = select(func.count()).select_from(table).where(*conditions)
    return int((await connection.execute(query)).scalar_one())


def _account(row: Any) -> Account:
    return Account(row.id, row.name, row.role, row.created, row.disabled)


def _key(row: Any, *, revoked: int | None = None, limits: KeyLimits | None = None) -> Key:
    at = row.revoked if revoked is None else revoked
    if limits is None:
        limits = _limits(row.limits) if row.limits else NO_LIMITS
    known = (row.id, row.user_id, row.prefix, row.created, row.last_used, at, row.label, row.expires)
    return Key(*known, limits)


def _columns(row: Account | Key) -> dict[str, Any]:
    fields = {name: getattr(row, name) for name in row.__struct_fields__}
    if isinstance(row, Key):
        fields["user_id"] = fields.pop("user")
        fields["limits"] = None if row.limits == NO_LIMITS else msgspec.json.encode(row.limits).decode()
    return fields
