"""Carries out the gateway's orders on a cluster, and tells it the news.

One task reads orders, one writes news, one looks at the cluster, and each place has one that follows its worker. All end with the orders: a
gateway that dies takes its places with it. `__main__` runs it over the standard streams.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable

import anyio
import anyio.abc
import msgspec

from duologue.notifier import Notifier
from duologue.placement import place_watch
from duologue.placement.cluster import Cluster, ClusterProblem, ClusterWorker
from duologue.wire.machines.placement_protocol import (
    ClusterNews,
    DrainNode,
    News,
    Order,
    Place,
    PlaceNews,
    Remove,
    Trouble,
    decode_order,
    encode_line,
)

log = logging.getLogger(__name__)

LOOK = 1.0
"""Seconds between two looks at the cluster."""
MOST_PLACES = 10_000
"""Orders beyond them are refused: nothing here may grow without an end."""


class _Held:
    """A place: its worker in the cluster, and the task that follows it."""

    def __init__(self, worker: ClusterWorker) -> None:
        self.worker = worker
        self.following = anyio.CancelScope()
        self.last: PlaceNews | None = None


class PlacementService:
    """`write` sends a line to the gateway, and waits while it does not read."""

    def __init__(self, cluster: Cluster, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._cluster = cluster
        self._write_line = write
        self._places: dict[str, _Held] = {}
        self._unsaid: dict[str, News] = {}
        """The news that were not written yet, the latest of each kind and place: a slow reader loses none that still matters."""
        self._something = Notifier()
        self._view = ClusterNews()

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Serve until the lines end. Raises ClusterProblem when the cluster cannot be used, or is lost."""
        connected = await self._cluster.connect()
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._write)
                tasks.start_soon(self._look)
                self._say("connected", connected)
                async for line in lines:
                    try:
                        order = decode_order(line)
                    except (msgspec.DecodeError, UnicodeDecodeError) as error:
                        log.error("an order cannot be read: %s", error)
                        continue
                    self._carry_out(order, tasks)
                tasks.cancel_scope.cancel()
        finally:
            self._cluster.close()

    def _carry_out(self, order: Order, tasks: anyio.abc.TaskGroup) -> None:
        match order:
            case Place() if order.name in self._places:
                log.error("there is a place %s already", order.name)
            case Place() if len(self._places) >= MOST_PLACES:
                message = f"There are {MOST_PLACES} places, and no more."
                self._say(f"trouble {order.name}", Trouble("places_full", message, order.name))
            case Place():
                tasks.start_soon(self._place, order)
            case Remove():
                tasks.start_soon(self._remove, order.name)
            case DrainNode():
                tasks.start_soon(self._drain, order)

    async def _place(self, place: Place) -> None:
        held = self._places[place.name] = _Held(self._cluster.place(place))
        # What happened to a worker that ended is told before what became of the next one.
        with held.following:
            await place_watch.watch(place.name, held.worker, lambda news: self._told(held, news))

    def _told(self, held: _Held, news: PlaceNews | Trouble) -> None:
        kind = "trouble" if isinstance(news, Trouble) else "ended" if news.state == "ended" else "place"
        self._say(f"{kind} {news.name}", news)

    async def _remove(self, name: str) -> None:
        held = self._places.pop(name, None)
        if held is not None:
            held.following.cancel()
            with anyio.CancelScope(shield=True):
                await held.worker.remove()
        # An unknown place counts as gone.
        self._unsaid.pop(f"ended {name}", None)
        self._say(f"place {name}", PlaceNews(name, "gone"))

    async def _drain(self, order: DrainNode) -> None:
        try:
            await self._cluster.drain(order.node, order.seconds)
        except ClusterProblem as problem:
            self._say(f"trouble {order.node}", Trouble(problem.code, problem.message, order.node))

    async def _look(self) -> None:
        while True:
            view = await self._cluster.view()
            if view != self._view:
                self._view = view
                self._say("cluster", view)
            await anyio.sleep(LOOK)

    def _say(self, about: str, news: News) -> None:
        self._unsaid.pop(about, None)
        self._unsaid[about] = news
        self._something.notify()

    async def _write(self) -> None:
        while True:
            while self._unsaid:
                about = next(iter(self._unsaid))
                await self._write_line(encode_line(self._unsaid.pop(about)))
            await self._something.wait()
