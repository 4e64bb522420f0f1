"""The slots of workers, and how well each serves a request. Used by the scheduler alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Literal

from msgspec import Struct

from duologue.gateway.scheduling.eta import Job, SlotProgress

Chain = tuple[bytes, ...]
"""Digests of a conversation's prefixes: item i stands for its first i + 1 messages."""

EVERY_SLOT = 1_000_000
"""The `need` of a request that takes one worker whole, however many slots that has."""

SlotsState = Literal["starting", "ready", "held", "draining", "failed"]
NEVER = float("-inf")


class Slot(Struct):
    """A place for one running generation. `chain` and `opening`: what its cache holds, the messages and what precedes them;
    `used`: when it was last released, long ago for one whose cache nobody will ask for."""

    ticket: str | None = None
    kind: str = ""
    since: float = 0.0
    ahead: bool = False
    behind: bool = False
    whole: bool = False
    """Lent together with every other slot of its worker."""
    chain: Chain = ()
    opening: bytes = b""
    used: float = NEVER
    job: Job = Job()
    progress: SlotProgress = SlotProgress()
    share: str = ""
    cost: float = 0.0
    """The seconds that its share was charged in advance."""
    elsewhere: float | None = None
    """Since when it works for another gateway; None if it does not. Both may work in it for a moment: the later one waits in the worker."""

    @property
    def free(self) -> bool:
        return self.ticket is None and self.elsewhere is None


class WorkerSlots(Struct):
    """The slots of one worker. `since`: when it began to start; `expected`: how many slots it had when it was last ready."""

    model: str
    state: SlotsState
    slots: list[Slot]
    detail: str = ""
    since: float = 0.0
    expected: int = 1
    elsewhere: frozenset[int] = frozenset()
    """The slots that work for other gateways, as last told: of a worker that joins in the midst of such work this is heard before it is ready."""
    order: int = 0
    """Grows with each worker that comes: of two that serve a request equally well the one that came first is taken."""
    free: int = 0
    """How many of its slots are free, and how many have the replies of calls: counted by `ServingWorkers`."""
    ahead: int = 0


class QueueEntry(Struct):
    """A waiting request. `left`: the slots that it still waits for; `cost`: the seconds that each is expected to be in use."""

    ticket: str
    model: str
    need: int
    kind: str
    chain: Chain
    since: float
    ahead: bool = False
    opening: bytes = b""
    behind: bool = False
    kept: str = ""
    """The worker that is kept for it, where it needs a whole one."""
    reported: int = 0
    """The last position that was sent; 0 before the first."""
    reported_wait: float = 0.0
    """The seconds that were sent with it, and when that was."""
    reported_at: float = NEVER
    share: str = ""
    weight: float = 1.0
    number: int = 0
    """Grows with each request: what came earlier has a lower one."""
    left: int = 1
    cost: float = 0.0
    job: Job = Job()
    begun: bool = False
    """It has some of its slots already, and waits only for further ones."""

    @property
    def whole(self) -> bool:
        return self.need >= EVERY_SLOT


def reusable_messages(cached: Chain, requested: Chain) -> int:
    """How many messages of a slot's cache serve the request; 0 unless they are more than half of what it holds.

    A shared system prompt alone must not overwrite another conversation's cache while a different slot is free.
    """
    count = 0
    for left, right in zip(cached, requested, strict=False):
        if left != right:
            break
        count += 1
    return count if 2 * count > len(cached) else 0


def cache_score(slot: Slot, entry: QueueEntry) -> float:
    """How much of a slot's cache serves the request: messages, or 0.5 for an equal opening (tools, system text) in a slot that
    holds no messages."""
    same_opening = not slot.chain and bool(entry.opening) and slot.opening == entry.opening
    return reusable_messages(slot.chain, entry.chain) or (0.5 if same_opening else 0)


def used_elsewhere(slots: Sequence[Slot], changed: Iterable[int], numbers: Set[int], at: float) -> None:
    """Mark those of the changed slots that are among `numbers` as at work for other gateways. What was in their caches is overwritten there."""
    for number in changed:
        slot = slots[number]
        if number not in numbers:
            slot.elsewhere = None
        elif slot.elsewhere is None:
            slot.elsewhere = at
            slot.chain, slot.opening = (), b""


def lend(slots: Sequence[Slot], numbers: Iterable[int], entry: QueueEntry, at: float) -> None:
    """Mark these slots as lent to the request."""
    for number in numbers:
        slot = slots[number]
        known = reusable_messages(slot.chain, entry.chain) / len(entry.chain) if entry.chain else 0.0
        slot.ticket, slot.kind, slot.since, slot.chain = entry.ticket, entry.kind, at, entry.chain
        slot.ahead, slot.behind, slot.opening = entry.ahead, entry.behind, entry.opening
        slot.whole, slot.share, slot.cost = entry.whole, entry.share, entry.cost
        slot.job = entry.job.without(known)
        slot.progress = SlotProgress(since=at)
