"""How many bytes of a user are in flight: request bodies and socket messages that are arriving or being worked on, and the files that
requests name instead of carrying them.

Pure. `bytes_in_flight` and the socket protocol of `connections` write into it; what reads files for a request calls `count`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from duologue.errors import Busy


class ByteLedger:
    """At most `limit` bytes of each user."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._held: Counter[str] = Counter()

    def held(self, user: str) -> int:
        """The bytes of this user."""
        return self._held[user]

    def open(self, user: str) -> HeldBytes:
        """An entry for one body or one socket, with no bytes yet."""
        return HeldBytes(self, user)

    def change(self, user: str, more: int) -> bool:
        """Add bytes, or take some off. False, and nothing is changed, where that would exceed the limit."""
        held = self._held[user] + more
        if more > 0 and held > self.limit:
            return False
        self._held[user] = held
        if held <= 0:
            del self._held[user]
        return True


class HeldBytes:
    """One entry of the ledger. `close` takes all of its bytes off."""

    def __init__(self, ledger: ByteLedger, user: str) -> None:
        self._ledger, self._user = ledger, user
        self._size = 0
        self._closed = False

    def hold(self, size: int) -> bool:
        """From now on this entry has `size` bytes. False where the user would have too many."""
        if self._closed or not self._ledger.change(self._user, size - self._size):
            return False
        self._size = size
        return True

    def add(self, size: int) -> bool:
        """So many more bytes."""
        return self.hold(self._size + size)

    @property
    def refusal(self) -> Busy:
        """What a user is answered whose bytes would be too many."""
        return too_much(self._ledger.limit)

    @property
    def closed(self) -> bool:
        return self._closed

    def handed_on(self) -> HeldBytes:
        """A new entry with the bytes of this one, which then has none: for work that goes on when its request has ended."""
        entry = HeldBytes(self._ledger, self._user)
        entry._size, self._size = self._size, 0
        return entry

    def close(self) -> None:
        if not self._closed:
            self._ledger.change(self._user, -self._size)
            self._closed = True


_running: ContextVar[HeldBytes | None] = ContextVar("held_bytes", default=None)
"""The entry of the running request; a task that it starts inherits it."""


@contextmanager
def counted_by(entry: HeldBytes) -> Iterator[None]:
    """What is read within this context counts for `entry`."""
    token = _running.set(entry)
    try:
        yield
    finally:
        _running.reset(token)


def count(size: int) -> None:
    """Count so many bytes that are about to be read for the running request, until it has ended. Raises Busy where its user would have too
    many. Without effect in work that no request waits for: batches have a fixed number of places."""
    entry = _running.get()
    if entry is not None and not entry.closed and not entry.add(size):
        raise entry.refusal


def handed_on() -> HeldBytes | None:
    """The bytes of the running request, which from now on count until the returned entry is closed; None outside of requests."""
    entry = _running.get()
    return None if entry is None or entry.closed else entry.handed_on()


def too_much(limit: int) -> Busy:
    """The refusal of bytes beyond the limit."""
    return Busy(
        f"More than {limit / 2**20:g} MB of yours are in flight. Wait for your other requests, or raise limits.in_flight_mb.",
        code="too_much_in_flight",
    )
