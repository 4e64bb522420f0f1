"""The places of this gateway on a Ray cluster: makes keepers for workers, orders their places, and passes on what Ray says. `app` makes one
with `pool: ray`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import anyio
import anyio.abc

from duologue.config import Settings
from duologue.errors import Busy, NotFound, Unavailable
from duologue.gateway.machines.model_bytes import model_bytes
from duologue.gateway.machines.place_environment import place_environment
from duologue.gateway.machines.place_keys import PlaceKeys
from duologue.gateway.machines.place_resources import (
    GIGA,
    fits,
    in_words,
    is_placed,
    on_node,
    place_resources,
)
from duologue.gateway.machines.placed_keeper import PlacedKeeper
from duologue.gateway.machines.placement_process import COMMAND, PlacementProcess
from duologue.gateway.workers.keeper_contracts import Listener
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.notifier import Notifier
from duologue.threads import disk_io
from duologue.wire.machines.placement_protocol import (
    ClusterNews,
    ClusterOptions,
    Connected,
    DrainNode,
    News,
    Node,
    Place,
    PlaceNews,
    Remove,
    Resources,
    Trouble,
)
from duologue.wire.worker_protocol import LoadSpec

log = logging.getLogger(__name__)

GONE_SECONDS = 20.0
"""Seconds in which the worker of a place that was given up has ended."""
LOOK_AGAIN = 30.0
"""Seconds until workers that could not be moved from a drained node are tried again."""
BUSY_SECONDS = 1.0
"""Seconds until a model's files are read again after the disk was too busy."""


class RayPlaces:
    """`clock`: that of the pool; `fingerprint` of what this server shows, "" without TLS: it may read files; `command`: for tests."""

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Callable[[], float],
        fingerprint: Callable[[], str] = str,
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._settings = settings
        self.enabled = settings.pool == "ray"
        """Whether there are places at all."""
        self._clock = clock
        self._fingerprint = fingerprint
        ray = settings.ray
        log_settings = (settings.log.level, settings.log.format)
        options = ClusterOptions(ray.address, str(ray.token_file or ""), ray.lost_s, log_settings)
        self._process = PlacementProcess(options, self._hear, self._lost, command)
        self._keys = PlaceKeys()
        self._keepers: dict[str, PlacedKeeper] = {}
        self._taken: dict[str, Resources] = {}
        """The places that exist, with what they take."""
        self._changed = Notifier()
        self._trouble = ""
        self.cluster = ClusterNews()
        self.move: Callable[[Sequence[str]], bool] = lambda workers: True
        """Moves these workers to other nodes; False: not now."""

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run the placement process until cancelled; all places end with it."""
        task_status.started()
        if not self.enabled:
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._move_from_drained)
            await self._process.run()

    def keeper(
        self, load_spec: LoadSpec, listener: Listener, stall_limit: float | None
    ) -> PlacedKeeper | None:
        """The keeper of a worker; None for one that runs on this machine."""
        if not self.enabled or not is_placed(load_spec):
            return None
        keeper = self._keepers[load_spec.worker] = PlacedKeeper(
            load_spec,
            listener,
            self,
            lease_s=self._settings.machines.lease_s,
            clock=self._clock,
            stall_limit=stall_limit,
            over=lambda: self._forget(load_spec.worker, keeper),
        )
        return keeper

    def _forget(self, name: str, keeper: PlacedKeeper) -> None:
        """A worker was removed."""
        if self._keepers.get(name) is keeper:
            del self._keepers[name]

    # ---- what /join asks

    def place_of(self, key: str) -> str | None:
        """The place that a key opens."""
        return self._keys.place_of(key)

    def kept(self, place: str) -> PlacedKeeper | None:
        """The keeper that takes the worker which joins for a place; None if there is none."""
        return self._keepers.get(place) if place in self._taken else None

    # ---- what keepers order

    async def make(self, spec: LoadSpec) -> str:
        """As `PlaceOrders`."""
        name = spec.worker
        keeper = self._keepers[name]
        needed, fingerprint = await self._looked_up(spec)
        # Nothing is awaited between this and the order, which would be lost with the process. The nodes are told after the connection, and say
        # whether there are cards.
        while self._process.connected is None or not self.cluster.nodes:
            if self._process.connected is None and self._trouble:
                keeper.lost(self._trouble)
            await self._changed.wait()
        cards = any(node.total.gpus for node in self.cluster.nodes)
        memory = int(self._settings.ray.card_gb * GIGA)
        resources = place_resources(spec, needed, cards=cards, card_memory=memory)
        key = self._keys.issue(name)
        environment = place_environment(self._settings, on_node(spec, resources), key, fingerprint)
        self._taken[name] = resources
        self._process.order(Place(name, resources, environment, spec.python))
        return in_words(resources)

    async def _looked_up(self, spec: LoadSpec) -> tuple[int, str]:
        """The bytes that a model needs, and this server's fingerprint, however busy the disk is."""
        while True:
            try:
                return await disk_io(model_bytes, spec), await disk_io(self._fingerprint)
            except Busy as busy:
                log.warning("the place of %s waits: %s", spec.worker, busy.message)
                await anyio.sleep(BUSY_SECONDS)

    async def give_up(self, name: str) -> None:
        """As `PlaceOrders`."""
        self._keys.revoke(name)
        if name in self._taken:
            self._process.order(Remove(name))
            with anyio.move_on_after(GONE_SECONDS):
                while name in self._taken:
                    await self._changed.wait()
            self._taken.pop(name, None)

    # ---- what the placement process says

    def _hear(self, news: News) -> None:
        match news:
            case Connected():
                self._trouble = ""
            case PlaceNews(state="gone"):
                self._taken.pop(news.name, None)
            case PlaceNews() | Trouble() if news.name in self._keepers:
                self._keepers[news.name].told(news)
            case Trouble():
                log.error("%s", news.message)
                self._trouble = news.message
            case ClusterNews():
                self.cluster = news
        self._changed.notify()

    def _lost(self, reason: str) -> None:
        self.cluster, self._trouble = ClusterNews(), reason
        self._taken.clear()
        self._changed.notify()
        for keeper in list(self._keepers.values()):
            keeper.lost(reason)

    # ---- nodes

    @property
    def connected(self) -> Connected | None:
        """The cluster; None while there is none."""
        return self._process.connected

    def has_room(self, status: WorkerStatus) -> bool | None:
        """Whether the cluster has room for one more worker like this one now; None for a worker that is not placed."""
        keeper = self._keepers.get(status.worker)
        if keeper is None or keeper.status is not status:
            return None
        resources = self._taken.get(status.worker)
        return resources is not None and fits(resources, self.cluster.nodes)

    def placed(self, status: WorkerStatus) -> bool:
        """Whether Ray places this worker."""
        keeper = self._keepers.get(status.worker)
        return keeper is not None and keeper.status is status

    def workers_on(self, node: str) -> list[str]:
        """The names of the workers on a node."""
        return [name for name, keeper in self._keepers.items() if keeper.node == node and name in self._taken]

    def drain_node(self, node: str, seconds: float) -> Node:
        """Place nothing new on a node, and move what runs there. Raises NotFound, and Unavailable without a cluster."""
        if self._process.connected is None:
            raise Unavailable(
                f"There is no Ray cluster at the moment. {self._trouble}".strip(), code="ray_lost"
            )
        found = next((one for one in self.cluster.nodes if one.node == node), None)
        if found is None:
            known = ", ".join(one.node for one in self.cluster.nodes) or "none"
            raise NotFound(
                f"There is no node {node[:100]!r}. Known: {known}.", code="node_not_found", param="node"
            )
        self._process.order(DrainNode(node, seconds))
        return found

    async def _move_from_drained(self) -> None:
        """Move the workers of nodes that are drained, by an admin here or by the cluster's own tools, again and again until none is left."""
        while True:
            # The cluster does not report the end of a restart that blocked the move, so look again at intervals.
            with anyio.move_on_after(LOOK_AGAIN):
                await self._changed.wait()
            drained = [node.node for node in self.cluster.nodes if node.draining]
            names = [name for node in drained for name in self.workers_on(node)]
            if names and not self.move(names):
                log.info(
                    "%s are moved from drained nodes once the running restart has ended",
                    ", ".join(names),
                )
