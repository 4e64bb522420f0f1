"""Tells every waiting request its place again, a few at a time: a thousand streams that all write at once would hold up those that are being answered.

Used by `pool`, every few seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import anyio

from duologue.gateway.scheduling.queueing.queue_commands import Command

AT_ONCE = 25
PAUSE = 0.01
"""Seconds between so many and the next."""


async def tell_in_turns(
    places: Sequence[Command], apply: Callable[[Sequence[Command]], None], pause: float = PAUSE
) -> None:
    """Apply the places in portions. A lease that has got its slot in the meantime ignores its place."""
    for first in range(0, len(places), AT_ONCE):
        if first:
            await anyio.sleep(pause)
        apply(places[first : first + AT_ONCE])
