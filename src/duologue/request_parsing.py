"""Reads what users send, off the event loop where it is large, and fairly between users.

Called wherever a request body, a socket message or a grammar becomes values. One large request is read at a time, because readers hold
the interpreter's lock anyway; users take turns, so that however many large requests one user sends, another user's is read next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from duologue.fair_lane import FairLane
from duologue.threads import LARGE, WAITING, Refusal, in_thread

T = TypeVar("T")

WAITING_IN_ALL = 4 * WAITING
"""Large requests that may wait to be read, a quarter of them of one user. Their bytes count for `limits.in_flight_mb`."""
BUSY = Refusal(
    "Too many large requests are waiting to be read; try again soon.",
    "Reading other large requests took too long; try again soon.",
)

_lane = FairLane(1, waiting=WAITING_IN_ALL, waiting_per_user=WAITING, refusal=BUSY)


async def parsing(size: int, function: Callable[..., T], *args: object, user: str) -> T:
    """Run a call that reads `size` bytes of a request of this user: large ones in a thread, so that the loop turns
    meanwhile; small ones at once, which is quicker than a thread. Raises Busy (`busy`), and what the call raises."""
    if size < LARGE:
        return function(*args)
    async with _lane.turn(user):
        return await in_thread(function, *args)
