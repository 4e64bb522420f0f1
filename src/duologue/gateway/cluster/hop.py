"""The header of a request that one gateway forwards to another: which gateway, when, and for which client. Pure.

It is signed with a secret that is kept in the database, so that nobody else can make one. It does not name the user: the request carries the client's key or login,
which the owner checks like any other.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import NamedTuple

HEADER = b"x-duologue-hop"
VALID_S = 60
"""Seconds for which a header is accepted: the clocks of two machines differ a little."""
LONGEST = 500


class Hop(NamedTuple):
    """The gateway that forwarded a request, and the address of its client."""

    gateway: str
    client: str


def signed(secret: bytes, hop: Hop, method: str, target: str, unix: float) -> bytes:
    """The value of the header."""
    text = f"{hop.gateway} {int(unix)} {hop.client}"
    return f"{text} {_signature(secret, text, method, target)}".encode("latin-1", "replace")


def verified(secret: bytes, value: bytes, method: str, target: str, unix: float) -> Hop | None:
    """Who forwarded a request; None if the header is not from a gateway of this database, or is too old."""
    if not secret or len(value) > LONGEST:
        return None
    text, _, signature = value.decode("latin-1").rpartition(" ")
    gateway, _, rest = text.partition(" ")
    at, _, client = rest.partition(" ")
    right = _signature(secret, text, method, target)
    if not hmac.compare_digest(signature.encode("latin-1"), right.encode()):
        return None
    if not (at.isascii() and at.isdigit() and abs(unix - int(at)) <= VALID_S):
        return None
    return Hop(gateway, client)


def _signature(secret: bytes, text: str, method: str, target: str) -> str:
    message = f"{text}\n{method} {target}".encode("latin-1", "replace")
    return hmac.new(secret, message, hashlib.sha256).hexdigest()
