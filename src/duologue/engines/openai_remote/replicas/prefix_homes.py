"""Which server read the beginning of a conversation last. Pure.

Used by `replica_set`. A server keeps what it has read until its memory is full, far longer than a slot is busy; so this remembers
conversations, and not slots. It is bounded, and forgets what was not used for longest.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence

MOST = 32_768
"""Prefixes; about 6 MB."""
RECENT = 4
"""The last prefixes of a request that are remembered. The next turn begins with the longest of them, and an edited message or another
reply in place of the last one with a shorter one."""


class PrefixHomes:
    """The homes of prefixes, by their digests (`values/prefixes`)."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._homes: OrderedDict[bytes, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._homes)

    def find(self, chain: Sequence[bytes]) -> str:
        """The server that read the longest known prefix; "" where none is known."""
        return next((self._homes[digest] for digest in reversed(chain) if digest in self._homes), "")

    def remember(self, chain: Sequence[bytes], server: str) -> None:
        """The server reads this conversation now."""
        for digest in _kept(chain):
            self._homes[digest] = server
            self._homes.move_to_end(digest)
        while len(self._homes) > self._most:
            self._homes.popitem(last=False)


def _kept(chain: Sequence[bytes]) -> Iterator[bytes]:
    yield from chain[:1] if len(chain) > RECENT else ()
    yield from chain[-RECENT:]
