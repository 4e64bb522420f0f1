"""A bounded cache of what was made of media: the frames of videos, pictures that were scaled down, transcripts.

Clients send their whole history with every request, and a conversation's files are read again for every turn. Keys are digests of
contents, so entries never go stale. Used by `fitter`, and by `address_cache`, whose entries do.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar, cast

T = TypeVar("T")

BYTES = 96 * 2**20
ENTRIES = 1024


class MediaCache:
    """Holds at most `most_bytes` and `most_entries`; the entry that was not used for longest goes first."""

    def __init__(self, most_bytes: int = BYTES, most_entries: int = ENTRIES) -> None:
        self._most_bytes, self._most_entries = most_bytes, most_entries
        self._entries: OrderedDict[bytes, tuple[object, int]] = OrderedDict()
        self.size = 0
        """Bytes of all entries."""

    def get(self, key: bytes, kind: type[T]) -> T | None:
        """The entry, which is of this kind."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return cast(T, entry[0])

    def discard(self, key: bytes) -> None:
        """Forget an entry, if there is one."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.size -= entry[1]

    def put(self, key: bytes, value: object, size: int) -> None:
        """Keep a value that takes `size` bytes. One that is larger than a half of the cache is not kept."""
        if size > self._most_bytes // 2 or key in self._entries:
            return
        self._entries[key] = (value, size)
        self.size += size
        while self.size > self._most_bytes or len(self._entries) > self._most_entries:
            _, (_, gone) = self._entries.popitem(last=False)
            self.size -= gone
