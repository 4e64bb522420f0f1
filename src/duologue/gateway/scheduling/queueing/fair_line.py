"""A line of requests that is shared fairly between keys: start-time fair queueing over expected slot-seconds.

Owns the order in which waiting requests of one model get slots; the scheduler asks for the first one, and says what it took. Without a
clock. A share (a key) keeps its own requests first come, first served. Each share has a virtual time: the slot-seconds it has had, divided by its weight. The
share that has had least is next; ties go to the request that came first, so a line with a single share is plain first come, first
served. What a request will take is not known when it begins: the share is charged with the estimate then, and with the difference once the slot
is free again. A share that comes back after a pause begins at the virtual time of the line, so no key saves up a right to overtake. Gateways that share
slots tell each other what they charged: a share that is served at several has its sum in each.

Bound: while a request is the first of its share, at most `overtakings + 3 * K` slots are given to others before it, where K is the most shares
that wait in the meantime. So the k-th request of a share is overtaken at most k times that, whatever the weights and estimates are, and
however many new shares come.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from heapq import heapify, heappop, heappush, heapreplace

from duologue.gateway.scheduling.queueing.slots import QueueEntry

OVERTAKINGS = 64
"""Slots that others may get, besides twice the number of waiting shares, before the first request of a share is next in any case."""
LEAST_WEIGHT = 0.01
LEAST_COST = 0.001
"""Slot-seconds of a request that takes next to none: even those are counted."""
MOST_SHARES = 4096
"""Shares that are remembered although nothing of them waits."""
MOST_COUNTED = 256
"""Shares that are examined to estimate how many requests come before one."""


class Share:
    """The requests of one key. `passed`: its virtual time; `since`: the slots that the line had given when its first request became
    that; `stamp`: changes whenever `passed` or its first request do; `units` and `work`: the slots that it waits for, and their seconds."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.weight = 1.0
        self.passed = 0.0
        self.running = 0
        self.since = 0
        self.stamp = 0
        self.units = 0
        self.work = 0.0
        self.entries: OrderedDict[str, QueueEntry] = OrderedDict()

    @property
    def first(self) -> QueueEntry:
        return next(iter(self.entries.values()))

    @property
    def idle(self) -> bool:
        """Whether none of its requests waits or runs."""
        return not self.entries and self.running <= 0


class FairLine:
    """The waiting requests of one model and one class. A request for several slots counts once for each of them."""

    def __init__(self, overtakings: int = OVERTAKINGS) -> None:
        self._overtakings = overtakings
        self._shares: dict[str, Share] = {}
        self._firsts: OrderedDict[str, Share] = OrderedDict()
        """The shares that wait, the one first whose first request has been that for the longest time."""
        self._heap: list[tuple[float, int, int, Share]] = []
        self._given = 0
        self._running = 0
        self._now = 0.0
        self._count = 0
        self.wholes = 0
        """Requests that need a worker whole."""
        self._units = 0
        self._idle: list[tuple[float, str]] = []
        """The shares of which nothing waits or runs, by their virtual time; what is not so any more is passed over."""
        self.charged: dict[str, float] | None = None
        """Slot-seconds by share since they were last reported to the other gateways; None while there are no others."""

    def __len__(self) -> int:
        return self._count

    @property
    def shares(self) -> int:
        """How many shares wait."""
        return len(self._firsts)

    def add(self, entry: QueueEntry) -> None:
        """A request joins the end of its share's line."""
        if (share := self._shares.get(entry.share)) is None:
            self._forget_shares()
            share = self._shares[entry.share] = Share(entry.share)
        share.weight = max(LEAST_WEIGHT, entry.weight)
        if not share.entries:
            share.passed = max(share.passed, self._now)
            share.since = self._given
            self._firsts[share.name] = share
        share.entries[entry.ticket] = entry
        self._wait(share, entry, entry.left)
        self._count += 1
        self.wholes += entry.whole
        if len(share.entries) == 1:
            self._push(share)

    def remove(self, entry: QueueEntry) -> None:
        """A request leaves, or waits no longer here but for a worker that is kept for it: `take` still charges its share then."""
        share = self._shares[entry.share]
        was_first = share.first is entry
        self._drop(share, entry)
        self._wait(share, entry, -entry.left)
        if was_first and share.entries:
            share.since = self._given
            self._firsts.move_to_end(share.name)
            self._push(share)
        elif not share.entries:
            self._push(share)

    def first(self) -> QueueEntry | None:
        """The request that is next; None if none waits."""
        if not self._firsts:
            return None
        if (due := self.due()) is not None:
            return due
        while self._heap[0][2] != self._heap[0][3].stamp or not self._heap[0][3].entries:
            heappop(self._heap)
        return self._heap[0][3].first

    def due(self) -> QueueEntry | None:
        """The request that has been overtaken as often as is allowed, and is next whatever its share has had."""
        longest = next(iter(self._firsts.values()), None)
        if longest is None or self._given - longest.since < self._overtakings + 2 * len(self._firsts):
            return None
        return longest.first

    def take(self, entry: QueueEntry, slots: int = 1) -> None:
        """The request got slots: one, or all of a worker where it needs that, which is its last step then."""
        share = self._shares.setdefault(entry.share, Share(entry.share))
        waits = entry.ticket in share.entries  # otherwise it was set aside
        units = entry.left if entry.whole else 1
        self._given += 1
        self._running += slots
        share.running += slots
        self._now = max(self._now, share.passed)
        share.passed += slots * max(LEAST_COST, entry.cost) / share.weight
        self._note(share.name, slots * max(LEAST_COST, entry.cost))
        if waits:
            self._wait(share, entry, -units)
        entry.left -= units
        if waits and entry.left <= 0:
            self._drop(share, entry)
        if share.entries:
            share.since = self._given
            self._firsts.move_to_end(share.name)
            self._push(share)

    def settle(self, share_name: str, expected: float, seconds: float) -> None:
        """A slot came back that its share was charged `expected` seconds for, and had for `seconds`."""
        self._running -= 1
        self._note(share_name, max(LEAST_COST, seconds) - max(LEAST_COST, expected))
        if (share := self._shares.get(share_name)) is None:
            return
        share.running -= 1
        share.passed += (max(LEAST_COST, seconds) - max(LEAST_COST, expected)) / share.weight
        self._push(share)
        if not self._firsts and self._running <= 0:
            # Nothing waits and nothing runs: whatever was owed before counts no more.
            self._shares.clear()
            self._heap.clear()
            self._idle.clear()
            self._now = 0.0

    def served_elsewhere(self, share_name: str, seconds: float) -> None:
        """A share has had so many slot-seconds at another gateway, or fewer than was told before. Without effect while nothing waits here: what is owed
        counts only beside others."""
        if not self._firsts:
            return
        if (share := self._shares.get(share_name)) is None:
            if seconds <= 0:
                return
            self._forget_shares()
            share = self._shares[share_name] = Share(share_name)
        share.passed = max(share.passed, self._now) + seconds / share.weight
        self._push(share)

    def _note(self, share_name: str, seconds: float) -> None:
        if self.charged is not None and (share_name in self.charged or len(self.charged) < MOST_SHARES):
            self.charged[share_name] = self.charged.get(share_name, 0.0) + seconds

    def overtake(self) -> None:
        """A request that is not of this line took a slot that could have been one of it."""
        self._given += 1

    def in_order(self, most: int | None = None) -> Iterator[QueueEntry]:
        """The requests in the order in which they would get slots if nothing else came: once for each slot that they wait for. At most
        so many. The line must not change meanwhile."""
        left = self._units if most is None else most
        return _merged(self._ascending(), left, lambda share: share.entries.values())

    def copied_order(self) -> Iterator[QueueEntry]:
        """As `in_order`, by the shares that wait now: the line may change while this is walked. What comes or goes meanwhile may be in it or not."""
        due = self.due()
        overdue = None if due is None else due.share
        waiting = [
            (float("-inf") if share.name == overdue else passed, number, share)
            for passed, number, stamp, share in self._heap
            if stamp == share.stamp and share.entries
        ]
        heapify(waiting)
        return _merged(_popped(waiting), self._units, lambda share: list(share.entries.values()))

    def _ascending(self) -> Iterator[tuple[float, int, Share]]:
        """The shares that wait, the next one first, with their virtual times and the numbers of their first requests. As long as few of them are asked
        for, it costs little, however many there are."""
        due = self.due()
        overdue = None if due is None else self._shares[due.share]
        if due is not None and overdue is not None:
            yield float("-inf"), due.number, overdue
        front = [(self._heap[0], 0)] if self._heap else []
        while front:
            (passed, number, stamp, share), place = heappop(front)
            for child in range(2 * place + 1, min(2 * place + 3, len(self._heap))):
                heappush(front, (self._heap[child], child))
            if stamp == share.stamp and share.entries and share is not overdue:
                yield passed, number, share

    def before(self, entry: QueueEntry) -> tuple[int, float]:
        """About how many slots are given before the last request of its share gets one, and for how many seconds each: without walking the line. Of many
        shares some are taken for all."""
        own = self._shares[entry.share]
        # What its share has before it, and what the others get until the share has had that.
        seconds = own.work - entry.left * entry.cost
        count = own.units - entry.left
        until = own.passed + seconds / own.weight
        others = self._some_shares()
        units, work = 0, 0.0
        for share in others:
            if share is own or share.passed > until:
                continue
            fair = (until - share.passed) * share.weight
            mean = share.work / share.units if share.units else 0.0
            part = min(share.work, fair + mean)
            units += share.units if mean <= 0 else min(share.units, int(part / mean + 0.001))
            work += part
        of = max(1, len(self._firsts)) / max(1, len(others))
        return count + round(units * of), seconds + work * of

    def _some_shares(self) -> Collection[Share]:
        """The waiting shares, or a sample if there are many."""
        if len(self._firsts) <= MOST_COUNTED:
            return self._firsts.values()
        every = self._heap[:: max(1, len(self._heap) // MOST_COUNTED)]
        return [share for _, _, stamp, share in every if stamp == share.stamp and share.entries]

    @property
    def work(self) -> float:
        """The slot-seconds that all of it is expected to take."""
        shares = self._some_shares()
        return sum(share.work for share in shares) * max(1, len(self._firsts)) / max(1, len(shares))

    def _wait(self, share: Share, entry: QueueEntry, units: int) -> None:
        """Requests wait for this many more slots."""
        share.units += units
        share.work += units * entry.cost
        self._units += units

    def _drop(self, share: Share, entry: QueueEntry) -> None:
        del share.entries[entry.ticket]
        self._count -= 1
        self.wholes -= entry.whole
        if not share.entries:
            del self._firsts[share.name]

    def _push(self, share: Share) -> None:
        """The share has another virtual time or another first request, or none."""
        share.stamp += 1
        if share.entries:
            heappush(self._heap, (share.passed, share.first.number, share.stamp, share))
        elif share.running <= 0:
            heappush(self._idle, (share.passed, share.name))
        if len(self._heap) > 64 + 4 * len(self._firsts):
            self._heap = [item for item in self._heap if item[2] == item[3].stamp and item[3].entries]
            heapify(self._heap)
        if len(self._idle) > 64 + 2 * len(self._shares):
            self._idle = [(share.passed, share.name) for share in self._shares.values() if share.idle]
            heapify(self._idle)

    def _forget_shares(self) -> None:
        """Forget shares that would begin at the line's virtual time anyway; when there are too many, all that are idle."""
        if len(self._shares) < 64 + 2 * len(self._firsts):
            return
        every = len(self._shares) >= MOST_SHARES
        while self._idle and (every or self._idle[0][0] <= self._now):
            passed, name = heappop(self._idle)
            share = self._shares.get(name)
            if share is not None and share.idle and share.passed == passed:
                del self._shares[name]


_Reached = tuple[float, int, Share]
"""A share, with its virtual time and the number of its first request."""


def _popped(heap: list[_Reached]) -> Iterator[_Reached]:
    while heap:
        yield heappop(heap)


def _merged(
    shares: Iterator[_Reached], left: int, entries_of: Callable[[Share], Iterable[QueueEntry]]
) -> Iterator[QueueEntry]:
    """The requests of shares that come in the order of their virtual times, each share going on by the cost of its requests. At most `left`."""
    line: list[tuple[float, int, Share, QueueEntry, Iterator[QueueEntry]]] = []
    """Of the shares that were reached, the next request and those after it."""
    reached = next(shares, None)
    while left > 0:
        if reached is not None and (not line or reached[:2] < line[0][:2]):
            units = _units(entries_of(reached[2]), left)
            if (first := next(units, None)) is not None:
                heappush(line, (*reached, first, units))
            reached = next(shares, None)
            continue
        if not line:
            return
        passed, _, share, entry, units = line[0]
        yield entry
        left -= 1
        if (following := next(units, None)) is None:
            heappop(line)
            continue
        passed = max(passed, share.passed) + max(LEAST_COST, entry.cost) / share.weight
        heapreplace(line, (passed, following.number, share, following, units))


def _units(entries: Iterable[QueueEntry], most: int) -> Iterator[QueueEntry]:
    for entry in entries:
        for _ in range(entry.left if not entry.whole else 1):
            if most <= 0:
                return
            most -= 1
            yield entry
