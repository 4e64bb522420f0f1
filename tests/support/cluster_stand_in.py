"""A cluster without Ray, for the tests of the placement process: they say when there is room, and when something ends."""

from __future__ import annotations

import anyio

from duologue.placement.cluster import Arrival, ClusterProblem, OutOfReach, ProcessEnd
from duologue.wire.machines.placement_protocol import ClusterNews, Connected, Place


class WorkerStandIn:
    """A worker that arrives and ends when the test says so."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.removed = False
        self._arrivals: list[Arrival | ClusterProblem] = []
        self._ends: list[ProcessEnd | OutOfReach] = []
        self._changed = anyio.Event()

    def arrive(self, *arrivals: Arrival | ClusterProblem) -> None:
        """What `arrived` gives, or raises, from now on, the last one for ever."""
        self._arrivals = list(arrivals)
        self._wake()

    def end(self, end: ProcessEnd | OutOfReach) -> None:
        self._ends.append(end)
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def arrived(self) -> Arrival:
        while not self._arrivals:
            await self._changed.wait()
        arrival = self._arrivals.pop(0) if len(self._arrivals) > 1 else self._arrivals[0]
        if isinstance(arrival, ClusterProblem):
            raise arrival
        return arrival

    async def ended(self) -> ProcessEnd:
        while not self._ends:
            await self._changed.wait()
        end = self._ends.pop(0)
        if isinstance(end, OutOfReach):
            raise end
        return end

    async def remove(self) -> None:
        self.removed = True


class ClusterStandIn:
    """Every worker gets its place when its stand-in is told to arrive."""

    def __init__(self) -> None:
        self.workers: dict[str, WorkerStandIn] = {}
        self.drained: list[tuple[str, float]] = []
        self.news = ClusterNews()
        self.problem: ClusterProblem | None = None
        self.closed = False

    async def connect(self) -> Connected:
        if self.problem is not None:
            raise self.problem
        return Connected("127.0.0.1:6379", "0", local=True)

    def place(self, place: Place) -> WorkerStandIn:
        self.workers[place.name] = worker = WorkerStandIn(place)
        return worker

    async def drain(self, node: str, seconds: float) -> None:
        if node == "unknown":
            raise ClusterProblem("node_not_drained", "There is no such node.")
        self.drained.append((node, seconds))

    async def view(self) -> ClusterNews:
        if self.problem is not None:
            raise self.problem
        return self.news

    def close(self) -> None:
        self.closed = True
