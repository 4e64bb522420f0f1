"""How many bytes of a user are in flight: request bodies and socket messages that are arriving or being worked on.

Pure. `bytes_in_flight` and the socket protocol of `connections` write into it.
"""

from __future__ import annotations

from collections import Counter


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

    def close(self) -> None:
        if not self._closed:
            self._ledger.change(self._user, -self._size)
            self._closed = True
