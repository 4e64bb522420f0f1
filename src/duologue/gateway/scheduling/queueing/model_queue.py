"""The queue of one model: its fair lines, and the requests that a whole worker is kept for. Used by the scheduler alone.

Three classes, each a fair line of its own: the replies of calls (`ahead`), everything else, and batches (`behind`). A request that
needs a worker whole leaves its line when its turn comes, and waits for the worker that is kept for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from duologue.gateway.scheduling.queueing.fair_line import OVERTAKINGS, FairLine
from duologue.gateway.scheduling.queueing.slots import QueueEntry


class ModelQueue:
    """What waits for one model. `kept`: the requests for which a worker is kept; `settled`: the version of the model's workers with which each of
    them last had one, None if they must be looked at again."""

    def __init__(self, overtakings: int = OVERTAKINGS) -> None:
        self.kept: list[QueueEntry] = []
        self.settled: object = None
        self.ahead, self.ordinary, self.behind = (FairLine(overtakings) for _ in range(3))

    def __bool__(self) -> bool:
        return bool(self.kept or len(self.ahead) or len(self.ordinary) or len(self.behind))

    @property
    def wanted(self) -> bool:
        """Whether something waits that is no batch."""
        return bool(self.kept or len(self.ahead) or len(self.ordinary))

    def line(self, *, ahead: bool, behind: bool) -> FairLine:
        """The line of a class."""
        if behind:
            return self.behind
        return self.ahead if ahead else self.ordinary

    def line_of(self, entry: QueueEntry) -> FairLine:
        return self.line(ahead=entry.ahead, behind=entry.behind)

    @property
    def lines(self) -> tuple[FairLine, FairLine, FairLine]:
        """All three."""
        return self.ahead, self.ordinary, self.behind

    def remove(self, entry: QueueEntry) -> None:
        """The request waits no longer."""
        if entry in self.kept:
            self.kept.remove(entry)
            self.settled = None
        else:
            self.line_of(entry).remove(entry)

    def keep(self, entry: QueueEntry) -> None:
        """Its turn has come, and there is no empty worker yet."""
        self.line_of(entry).remove(entry)
        self.kept.append(entry)

    def in_order(self, most: int | None = None) -> Iterator[QueueEntry]:
        """As it would be served: each request once for every slot that it waits for, at most so many in all."""
        return islice(self._every(most), most)

    def before(self, entry: QueueEntry) -> tuple[int, float]:
        """About how many slots are given before this request gets one, and for how many seconds they are in use together."""
        count, seconds = self.line_of(entry).before(entry)
        count, seconds = count + len(self.kept), seconds + sum(kept.cost for kept in self.kept)
        lines = (self.ahead, self.ordinary) if entry.behind else () if entry.ahead else (self.ahead,)
        return count + sum(map(len, lines)), seconds + sum(line.work for line in lines)

    def copied_order(self) -> Iterator[QueueEntry]:
        """As `in_order`, of all; the queue may change while this is walked."""
        return chain(list(self.kept), *(line.copied_order() for line in self.lines if len(line)))

    @property
    def wants_whole(self) -> bool:
        """Whether a request waits that needs a worker whole."""
        return bool(self.kept) or any(line.wholes for line in self.lines)

    def _every(self, most: int | None) -> Iterator[QueueEntry]:
        yield from self.kept
        for line in self.lines:
            if len(line):
                yield from line.in_order(most)
