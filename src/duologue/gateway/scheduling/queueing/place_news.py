"""Which of the waiting requests are told their place again in a round over all of them: those for whom it is news. Pure; the scheduler calls this.

Near the head every round is sent, because people watch the seconds there. Further back a request is told its place when the place or the wait has
changed noticeably, and otherwise every SILENCE seconds, so that the queue does not look stuck. With ten thousand waiting requests, writing to each of
them every few seconds would be most of a gateway's work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from duologue.gateway.scheduling.queueing.places import NEAR, Place, note
from duologue.gateway.scheduling.queueing.queue_commands import Moved
from duologue.gateway.scheduling.queueing.slots import QueueEntry

NOTICED = 0.05
"""The part of a position or a wait that makes a difference to a reader."""
SILENCE = 30.0
"""A request is told its place at least this often, in seconds."""
TOLD_AT_ONCE = 25
"""So many streams that write at once are no delay to those that are being answered."""
LOOKED_AT = 100
"""How many requests are looked at in one step, if few of them are told: about a millisecond."""


def is_news(entry: QueueEntry, place: Moved, at: float) -> bool:
    """Whether this place differs enough from the last one that was sent to the request."""
    return (
        place.position <= NEAR
        or at - entry.reported_at >= SILENCE
        or _differs(entry.reported, place.position)
        or _differs(entry.reported_wait, place.wait)
    )


def portions(places: Iterable[Place | None], at: float) -> Iterator[list[Moved]]:
    """The places that are told, a few at a time, each after a bounded amount of work. None among the places: as much work as a step may have."""
    told: list[Moved] = []
    looked = 0
    for each in places:
        if each is not None:
            entry, place = each
            looked += 1
            if is_news(entry, place, at):
                note(entry, place, at)
                told.append(place)
        if each is None or len(told) >= TOLD_AT_ONCE or looked >= LOOKED_AT:
            yield told
            told, looked = [], 0
    if told:
        yield told


def _differs(before: float, now: float) -> bool:
    return abs(now - before) >= NOTICED * before
