"""The keys that open this server: the one of the settings and those of the database, as they are at this moment.

Owns the table in memory that every request is checked against. Knows no request, no cookie and no header; how keys are
made and kept is `store/users.py`'s.
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

from duologue.errors import Problem, StartFailed

if TYPE_CHECKING:
    from duologue.store.users import Register, Users

log = logging.getLogger(__name__)

HOW_TO_MAKE_A_KEY = (
    "Make one with `duologue key add NAME`, or give one of your own by --key-file FILE or the environment variable "
    "DUOLOGUE_KEY."
)
FRESH_SECONDS = 0.9
"""How old the table of keys may be when a request is let in: what the command adds or revokes counts within a second."""
NOTED_SECONDS = 60
"""How often the database is told which keys were used."""


_KEY = re.compile(r"[\x21-\x7e]{1,1024}")


class User(NamedTuple):
    """Who is asking. `id` is what everything in the database belongs to, `name` is for people."""

    id: str
    role: str
    name: str = ""


LOCAL = User("local", "admin", "local")


class Keys:
    """The keys that open this server: the one of the settings, whose user is `local`, and those in the database.

    The database's are kept in memory and read anew when a request finds them older than FRESH_SECONDS; when they
    cannot be read, those known stay. Digests alone are held, and compared in constant time.
    """

    def __init__(
        self, key: str | None, *, always: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._always = always
        self._salt = secrets.token_bytes(16)
        self._digest = self._hash(key) if key else None
        # Another key in the settings is another lock: logins that were opened with the old one are over.
        self.pepper = (
            hashlib.sha256(f"logins of {key}".encode("utf-8", "surrogatepass")).digest() if key else b""
        )
        self._clock = clock
        self._users: Users | None = None
        self._register: Register | None = None
        self._read_at = 0.0
        self._changed = False
        self._reading: anyio.Event | None = None
        self._used: dict[str, int] = {}
        self._noted_at = float("-inf")

    @property
    def required(self) -> bool:
        """Whether every request needs a key: `always` where others can reach the server. Once a key was made in the
        database it stays so, also when it is revoked: taking the last one away must not let everybody in."""
        closed = self._register is not None and self._register.closed
        return self._always or self._digest is not None or closed

    @property
    def of_settings(self) -> bool:
        """Whether the settings hold a key."""
        return self._digest is not None

    @property
    def users(self) -> Users | None:
        return self._users

    @property
    def register(self) -> Register | None:
        """What the database says, as it was read last."""
        return self._register

    async def use(self, users: Users) -> None:
        """Take the keys of a database too, from now on. Raises Unavailable when it cannot be read."""
        if self.of_settings:
            await users.know_local()
        self._register, self._read_at = await users.register(), self._clock()
        self._users = users

    def outdated(self) -> None:
        """Have the next request read the table anew: it was just changed."""
        self._changed = True

    async def refresh(self) -> None:
        """Read the database's keys if they are not fresh. Requests that come meanwhile wait for the same reading: a
        table from long ago lets nobody in."""
        while self._users is not None and (self._reading is not None or self._is_old()):
            if self._reading is not None:
                await self._reading.wait()
                continue
            reading = self._reading = anyio.Event()
            asked, self._changed = self._clock(), False
            try:
                self._register = await self._users.register()
            except Problem as problem:
                log.warning("the keys could not be read, those known stay: %s", problem.message)
            except BaseException:
                self._changed = True
                raise
            finally:
                self._reading = None
                reading.set()
            self._read_at = asked
            if self._clock() - self._noted_at >= NOTED_SECONDS:
                await self.note_used()

    def _is_old(self) -> bool:
        return self._changed or self._clock() - self._read_at >= FRESH_SECONDS

    def user(self, candidate: str, now: int = 0) -> User | None:
        """Whose key this is; None for a wrong one. `now` (ms) is kept as its last use."""
        if self._digest is not None and hmac.compare_digest(self._hash(candidate), self._digest):
            return self.account(LOCAL.id)
        if self._register is None:
            return None
        # What is looked up is a digest: how long that takes tells nothing about a key that makes it.
        digest = hashlib.sha256(candidate.encode("utf-8", "surrogatepass")).digest()
        key = self._register.keys.get(digest)
        if key is None:
            return None
        if now:
            self._used[key.id] = now
        account = self._register.accounts[key.user]
        return User(account.id, account.role, account.name)

    def account(self, user: str) -> User | None:
        """The user of this id, as long as a key of theirs is valid."""
        account = self._register.accounts.get(user) if self._register else None
        if user == LOCAL.id and self._digest is not None:
            return User(LOCAL.id, LOCAL.role, account.name if account else LOCAL.name)
        if self._register is None or account is None:
            return None
        valid = any(key.user == user for key in self._register.keys.values())
        return User(account.id, account.role, account.name) if valid else None

    async def note_used(self) -> None:
        """Tell the database which keys were used since it was last told; also when the server stops."""
        if self._users is None or not self._used:
            return
        used, self._used, self._noted_at = self._used, {}, self._clock()
        try:
            await self._users.note_used(used)
        except Problem as problem:
            log.warning("when keys were used could not be kept: %s", problem.message)

    def _hash(self, key: str) -> bytes:
        # Keys are long and random, so one keyed hash does: a slow one would make every request slow.
        return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), key=self._salt).digest()


def read_key(key: str | None, key_file: Path | None) -> str | None:
    """The key this server was given, or None. Raises StartFailed for a file that holds none."""
    if key and key_file:
        raise StartFailed(
            "There is a key and a key file: give one of DUOLOGUE_KEY and --key-file.", param="key"
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
            f"{source} must be one line of up to 1024 letters, digits and signs, without spaces."
        )
    return key or None


def wall_clock() -> int:
    """Milliseconds since 1970 (UTC)."""
    return time.time_ns() // 1_000_000
