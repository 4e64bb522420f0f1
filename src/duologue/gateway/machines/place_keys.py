"""The keys of placed workers: a secret for each place, which opens `/join` for that place and nothing else.

They are not stored and not listed: the gateway makes one when it makes a place and forgets it with the place, so a worker that outlives its
place is refused. `placed_keeper` issues them; `/join` looks here before it looks at the stored keys.
"""

from __future__ import annotations

import hashlib
import secrets

PREFIX = "place-"
"""How these keys begin, so that no stored key is searched for in vain."""


class PlaceKeys:
    """The places that exist, by the digests of their keys: comparing digests tells nothing by its time."""

    def __init__(self) -> None:
        self._places: dict[bytes, str] = {}

    def issue(self, place: str) -> str:
        """A new key for a place; the one before is no longer valid."""
        self.revoke(place)
        key = PREFIX + secrets.token_urlsafe(32)
        self._places[_digest(key)] = place
        return key

    def revoke(self, place: str) -> None:
        """The place is gone. Without effect if it has no key."""
        for digest in [digest for digest, name in self._places.items() if name == place]:
            del self._places[digest]

    def place_of(self, key: str) -> str | None:
        """The place that a key opens; None for any other key."""
        return self._places.get(_digest(key)) if key.startswith(PREFIX) else None


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
