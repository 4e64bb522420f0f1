"""A bounded cache of what was fetched from web addresses: clients send their whole history, addresses and all, with every request.

Owns how long something is kept, and for whom: each user only finds what they had fetched. As a private cache should, it honours
`Cache-Control`. Pure; the time is an argument. Used by `references`.
"""

from __future__ import annotations

import hashlib

from msgspec import Struct

from duologue.gateway.media.media_cache import MediaCache
from duologue.tools.web_request import WebAnswer

BYTES = 64 * 2**20
ENTRIES = 256
SECONDS = 600.0
"""The longest that something is kept: the length of a conversation's pauses."""


class _Kept(Struct, frozen=True):
    """`until`: seconds of the clock."""

    body: bytes
    until: float


class AddressCache:
    def __init__(self, most_bytes: int = BYTES) -> None:
        self._entries = MediaCache(most_bytes, ENTRIES)

    def get(self, user: str, url: str, now: float) -> bytes | None:
        """What was at the address, if this user had it fetched a short while ago."""
        key = _key(user, url)
        kept = self._entries.get(key, _Kept)
        if kept is None or now < kept.until:
            return None if kept is None else kept.body
        self._entries.discard(key)
        return None

    def put(self, user: str, url: str, answer: WebAnswer, now: float) -> None:
        """Keep an answer for as long as its server allows, unless it was cut off."""
        seconds = seconds_to_keep(answer.cache_control)
        if answer.complete and seconds:
            key = _key(user, url)
            self._entries.discard(key)
            self._entries.put(key, _Kept(answer.body, now + seconds), len(answer.body) + len(url) + 256)


def seconds_to_keep(cache_control: str) -> float:
    """How long an answer with these directives, of all redirects too, may be kept; 0: not at all."""
    seconds = SECONDS
    for directive in cache_control.lower().split(","):
        name, _, value = directive.strip().partition("=")
        if name in ("no-store", "no-cache"):
            return 0.0
        if name == "max-age":
            seconds = min(seconds, float(value) if value.isascii() and value.isdigit() else 0.0)
    return seconds


def _key(user: str, url: str) -> bytes:
    return hashlib.sha256(f"{user}\0{url}".encode("utf-8", "surrogatepass")).digest()
