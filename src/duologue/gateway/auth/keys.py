"""The valid keys: the one in the settings and those in the database.

Owns the register in memory that every request is checked against; `auth.middleware` and `auth.sessions` call it. Keys are created and
stored by `store/users.py`.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import anyio

from duologue import caller
from duologue.errors import Problem, StartFailed

if TYPE_CHECKING:
    from duologue.store.accounts.login_rows import Seen
    from duologue.store.users import Register, Users

log = logging.getLogger(__name__)

HOW_TO_MAKE_A_KEY = (
    "Create one with `duologue key add NAME`, or set your own with --key-file FILE or the environment variable "
    "DUOLOGUE_KEY."
)
SHORTEST_KEY = 20
"""Characters of a key in the settings that nobody guesses."""
WORKER = "worker"
"""The role of keys with which workers on other machines join."""
PLACE = "place "
"""The beginning of the names of users whose keys open `/join` for a place on a cluster."""
ONLY_JOINS = (
    "This key belongs to a worker on another machine and can only be used to join. People and programs need a key of their own: "
    "`duologue key add NAME`."
)
FRESH_SECONDS = 0.9
LOOK_SECONDS = 0.2
"""The maximum age of the register: keys that the command adds or revokes take effect within a second."""
NOTED_SECONDS = 60
"""How often the last uses of keys are written to the database."""


_KEY = re.compile(r"[\x21-\x7e]{1,1024}")


class User(NamedTuple):
    """The authenticated user. `id` is the owner in the database, `name` is for people, `key` the id of the key that was used, or that
    the login was made with; "" for a login that is older than this was stored."""

    id: str
    role: str
    name: str = ""
    key: str = ""


LOCAL = User("local", "admin", "local")


class Keys:
    """The key of the settings, whose user is `local`, and the keys in the database. `always`: require a key even if there is none.

    `now` gives milliseconds since 1970, which decide whether a key has expired; `clock` seconds of any origin. The register of the database is
    read again when a request finds it older than FRESH_SECONDS; if that fails, the old one stays.
    Only digests are stored, and the key of the settings is compared in constant time.
    """

    def __init__(
        self,
        key: str | None,
        *,
        always: bool = False,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], int] | None = None,
    ) -> None:
        self._now = now or wall_clock
        self._always = always
        self._salt = secrets.token_bytes(16)
        self._digest = self._hash(key) if key else None
        # Part of the digest of every login, so that a new key in the settings invalidates the logins of the old one.
        self.pepper = (
            hashlib.sha256(f"logins of {key}".encode("utf-8", "surrogatepass")).digest() if key else b""
        )
        self._clock = clock
        self._users: Users | None = None
        self._register: Register | None = None
        self._read_at = 0.0
        self._changed = False
        self._reading: anyio.Event | None = None
        self.is_shared = False
        """Whether other gateways store keys and logins in the same database."""
        self._used: dict[str, int] = {}
        self._seen: dict[bytes, Seen] = {}
        self._noted_at = float("-inf")
        self.place_of: Callable[[str], str | None] = lambda key: None
        """The place on a cluster that a key opens `/join` for; such keys are in no database, and end with their place."""

    @property
    def required(self) -> bool:
        """Whether every request needs a key. Once the database has had a key it stays true: revoking the last key must not open the
        server to everyone."""
        closed = self._register is not None and self._register.closed
        return self._always or self._digest is not None or closed

    @property
    def of_settings(self) -> bool:
        """Whether the settings have a key."""
        return self._digest is not None

    @property
    def users(self) -> Users | None:
        return self._users

    @property
    def register(self) -> Register | None:
        """The register as last read from the database."""
        return self._register

    async def use(self, users: Users) -> None:
        """From now on also accept the keys of this database. Raises Unavailable when it cannot be read."""
        if self.of_settings:
            await users.know_local()
        self._register, self._read_at = await users.register(), self._clock()
        self._users = users

    def outdated(self) -> None:
        """The database was just changed: the next request reads the register again."""
        self._changed = True

    async def refresh(self) -> None:
        """Read the register again if it is too old. Concurrent requests wait for the same read: none is checked against an old
        register."""
        while self._users is not None and (self._reading is not None or self._is_old()):
            if self._reading is not None:
                await self._reading.wait()
                continue
            reading = self._reading = anyio.Event()
            # The age counts from before the read: a key that is revoked during it must not stay valid for longer.
            read_at, self._changed = self._clock(), False
            try:
                self._register = await self._users.register()
            except Problem as problem:
                log.warning("the keys could not be read; the known ones stay valid: %s", problem.message)
            except BaseException:
                self._changed = True
                raise
            finally:
                self._reading = None
                reading.set()
            self._read_at = read_at
            if self._clock() - self._noted_at >= NOTED_SECONDS:
                await self.note_used()

    async def look_again(self) -> bool:
        """For a key or a login that is not known: another gateway may have stored it a moment ago. Whether the register is as of now; the
        unknown ones wait for one read together, a few times a second at most."""
        if not self.is_shared or self._users is None:
            return False
        arrived = self._clock()
        if (early := LOOK_SECONDS - (arrived - self._read_at)) > 0:
            await anyio.sleep(early)
        while self._read_at < arrived:
            # A read that began before may have missed it.
            self._changed = self._changed or self._reading is None
            await self.refresh()
        return True

    def _is_old(self) -> bool:
        return self._changed or self._clock() - self._read_at >= FRESH_SECONDS

    def user(self, candidate: str, now: int = 0) -> User | None:
        """The user of a key; None for a wrong one and one that has expired. `now` (ms) is recorded as its last use; 0: not recorded."""
        if (place := self.place_of(candidate)) is not None:
            return User(PLACE + place, WORKER, place, PLACE + place)
        if self._digest is not None and hmac.compare_digest(self._hash(candidate), self._digest):
            local = self.account(LOCAL.id)
            return local and local._replace(key=caller.KEY_OF_SETTINGS)
        if self._register is None:
            return None
        # The lookup is by digest, so its timing reveals nothing about the key.
        digest = hashlib.sha256(candidate.encode("utf-8", "surrogatepass")).digest()
        key = self._register.key(digest, now or self._now())
        if key is None:
            return None
        if now:
            self._used[key.id] = now
        owner = self._register.accounts[key.user]
        return User(owner.id, owner.role, owner.name, key.id)

    def end_of(self, key: str) -> int:
        """When the key of this id ends (ms), 0 for never: a login that it opened ends with it."""
        keys = self._register.keys.values() if self._register else ()
        return next((each.expires for each in keys if each.id == key), 0)

    def account(self, user: str, now: int = 0) -> User | None:
        """The user with this id, if any key of theirs is valid at `now` (ms), 0 for this moment."""
        account = self._register.accounts.get(user) if self._register else None
        if user == LOCAL.id and self._digest is not None:
            return User(LOCAL.id, LOCAL.role, account.name if account else LOCAL.name)
        if self._register is None or account is None:
            return None
        valid = self._register.has_key(user, now or self._now())
        return User(account.id, account.role, account.name) if valid else None

    def is_admin(self, user: str) -> bool:
        """Whether this user is an admin: everyone is, as long as no key is needed."""
        return not self.required or ((account := self.account(user)) is not None and account.role == "admin")

    def role(self, user: str) -> str | None:
        """What this user may do now, for work that goes on after its request; None for one without a valid key."""
        if not self.required:
            return LOCAL.role
        account = self.account(user)
        return None if account is None else account.role

    def note_seen(self, login: bytes, seen: Seen) -> None:
        """A login, by its digest, was used just now."""
        self._seen[login] = seen

    def accepts(self, user: str, key: str) -> bool:
        """Whether work that this user began with the key of this id may go on; "" is a login, or a server without keys."""
        if user.startswith(PLACE):
            return True  # whoever made the place ends what its key began
        if self.required and self.role(user) is None:
            return False
        if not self.required or key in ("", caller.KEY_OF_SETTINGS):
            return True
        known, now = self._register.keys.values() if self._register else (), self._now()
        return any(each.id == key and each.is_valid(now) for each in known)

    async def note_used(self) -> None:
        """Write the last uses of keys and logins to the database; called now and then and when the server stops."""
        if self._users is None or not (self._used or self._seen):
            return
        used, self._used, self._noted_at = self._used, {}, self._clock()
        seen, self._seen = self._seen, {}
        try:
            if used:
                await self._users.note_used(used)
            if seen:
                await self._users.logins.note_seen(seen)
        except Problem as problem:
            log.warning("the last uses of keys could not be saved: %s", problem.message)

    def _hash(self, key: str) -> bytes:
        # Keys are long and random, so one fast keyed hash is enough; a password hash would slow down every request.
        return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), key=self._salt).digest()


def read_key(key: str | None, key_file: Path | None) -> str | None:
    """The key of the settings or the key file, or None. Raises StartFailed for an unusable file."""
    if key and key_file:
        raise StartFailed(
            "Both a key and a key file are set. Use either DUOLOGUE_KEY or --key-file.", param="key"
        )
    source = "The key"
    if key_file is not None:
        source = f"The key file {key_file}"
        try:
            key = key_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise StartFailed(f"{source} cannot be read: {reason}.", param="key_file") from None
        if not key:
            raise StartFailed(f"{source} is empty. {HOW_TO_MAKE_A_KEY}", param="key_file")
    if key and not _KEY.fullmatch(key):
        raise StartFailed(
            f"{source} must be one line of up to 1024 letters, digits and symbols, without spaces."
        )
    return key or None


def short_key(key: str | None, *, remote: bool) -> str:
    """A warning about a key of the settings that can be guessed; "" where there is none. Raises StartFailed where others can reach
    the server (`remote`)."""
    if not key or len(key) >= SHORTEST_KEY:
        return ""
    sentence = (
        f"The key has {len(key)} characters, which can be guessed; it needs at least {SHORTEST_KEY} where other machines can "
        "reach the server. Make a good one with `openssl rand -base64 24`, or let `duologue key add NAME` make it."
    )
    if remote:
        raise StartFailed(sentence, param="key")
    return sentence


def wall_clock() -> int:
    """Milliseconds since 1970 (UTC)."""
    return time.time_ns() // 1_000_000
