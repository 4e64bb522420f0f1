"""Tells waiting requests their places again, a few at a time: a thousand streams that all write at once, or the forecast for all of them in one piece,
would hold up those that are being answered.

Used by `pool`, every few seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import anyio

from duologue.gateway.scheduling.queueing.queue_commands import Command

PAUSE = 0.01
"""Seconds between one portion and the next."""


async def tell_in_turns(
    portions: Iterable[Sequence[Command]], apply: Callable[[Sequence[Command]], None], pause: float = PAUSE
) -> None:
    """Apply the portions, each of which is made when its turn has come. A lease that has got its slot in the meantime ignores its place."""
    for portion in portions:
        apply(portion)
        await anyio.sleep(pause)
