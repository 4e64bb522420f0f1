"""Whether a server is fit for new requests, by what it answers to us. Pure: the time is an argument.

Used by `replica_set`, which asks each server every few seconds. A refused connection or a server that says it is not ready is believed at once; one that only
does not answer in time may be busy, and is asked again first. Every good answer, to a question or a request, ends all of that.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Answer = Literal["good", "unready", "unreachable", "silent"]
"""What a server answered to a health check. `unready`: it answered that it cannot serve, or not this model."""

SILENCES = 3
"""Health checks in a row without an answer in time after which a server is down."""
REST = 1.0
"""Seconds for which a server that is busy gets nothing while others can take it, where it does not say for how long."""
LONGEST_REST = 30.0


class Health(Struct, frozen=True):
    """`reason`: why it is down, a sentence; `silences`: in a row; `rests_until`: a time until which it said it is too busy."""

    down: bool = False
    reason: str = ""
    silences: int = 0
    rests_until: float = 0.0


def asked(health: Health, answer: Answer, reason: str = "") -> Health:
    """After a health check."""
    if answer == "good":
        return Health(rests_until=health.rests_until)
    silences = health.silences + 1 if answer == "silent" else 0
    if answer == "silent" and silences < SILENCES and not health.down:
        return replace(health, silences=silences)
    return replace(health, down=True, reason=reason, silences=silences)


def answered(health: Health) -> Health:
    """After it began to answer a request."""
    return Health() if health != Health() else health


def unreachable(health: Health, reason: str) -> Health:
    """After a request that did not reach it."""
    return replace(health, down=True, reason=reason)


def too_busy(health: Health, told: float | None, now: float) -> Health:
    """After it refused a request for now; `told`: for so many seconds, if it said so."""
    return replace(health, rests_until=now + min(LONGEST_REST, REST if told is None else told))
