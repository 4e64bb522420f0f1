"""A Ray cluster: the only file that imports Ray. Places are actors, each of which owns one worker process.

Ray starts an actor again, on any node with room, whenever its worker, the actor itself or its node has ended (`max_restarts=-1`). Places are not
detached: when this process leaves the cluster, Ray ends its actors, and with them their workers. A model over several cards gets a placement
group, so that its cards stay reserved together while its actor is started again.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import signal
import tempfile
import time
from contextlib import suppress
from typing import Any, cast

import anyio

from duologue.placement.cluster import Arrival, ClusterProblem, OutOfReach, ProcessEnd
from duologue.placement.loss_detection import loss_detection
from duologue.placement.worker_child import WorkerChild
from duologue.threads import ThreadLane
from duologue.wire.machines.placement_protocol import (
    ClusterNews,
    ClusterOptions,
    Connected,
    Node,
    Place,
    Resources,
    Wanted,
)

log = logging.getLogger(__name__)

MISSING = "Ray is not installed: install duologue[ray], or choose another pool."
NAMESPACE = "duologue"
AGAIN = 0.25
"""Seconds after which an actor is asked again that Ray starts again."""
REMOVING = 10.0
"""Seconds in which an actor has to end its worker before both are killed."""
LEAVES_AFTER = 2
"""Seconds after which an actor ends whose worker has ended. Usually the placement process ends it at once."""
OBJECT_STORE = 80_000_000
"""Bytes of Ray's object store of a cluster that is started here: nothing is put there, and this is the least it takes."""
PREEMPTED = 2
"""Why a node is drained, in Ray's words: it goes away."""
ACCELERATOR = "accelerator_type:"


class _WorkerActor:
    """What Ray runs on a node: a worker process, and three methods about it, each in a thread of its own."""

    def __init__(self, environment: dict[str, str], python: str) -> None:
        self._child = WorkerChild(environment, python)

    def arrive(self) -> tuple[str, int]:
        """Start the worker unless it runs; the node's id and the process."""
        import ray

        process = self._child.start()
        while self._child.has_ended:  # this actor is about to end too, and the next one answers
            time.sleep(AGAIN)
        return ray.get_runtime_context().get_node_id(), process

    def watch(self) -> tuple[int, str]:
        """Wait for the end of the worker. The actor ends soon after."""
        try:
            return self._child.watch()
        finally:
            # Ray starts an actor again that ended by itself, not one that left in an orderly way.
            signal.alarm(LEAVES_AFTER)

    def stop(self) -> None:
        """End the worker."""
        self._child.stop()


class RayCluster:
    """`Cluster` of Ray. `options`: which one."""

    def __init__(self, options: ClusterOptions) -> None:
        self._options = options
        self._lane = ThreadLane(2)
        self._folder = ""
        self._address = ""
        self._gcs: Any = None

    async def connect(self) -> Connected:
        try:
            return await self._lane.run(self._connect)
        except ImportError as error:
            raise ClusterProblem("ray_missing", MISSING) from error
        except Exception as error:
            log.debug("Ray", exc_info=True)
            raise ClusterProblem("ray_unreachable", self._sentence(error)) from error

    def place(self, place: Place) -> _RayWorker:
        return _RayWorker(place)

    async def drain(self, node: str, seconds: float) -> None:
        deadline = int((time.time() + seconds) * 1000)
        try:
            accepted, reason = await self._lane.run(
                self._gcs.drain_node, node, PREEMPTED, "it is drained by Duologue", deadline
            )
        except Exception as error:
            raise ClusterProblem(
                "node_not_drained", f"Ray could not drain the node {node}: {error}"
            ) from error
        if not accepted:
            raise ClusterProblem("node_not_drained", f"Ray does not drain the node {node}: {reason}")

    async def view(self) -> ClusterNews:
        try:
            return await self._lane.run(self._view)
        except Exception as error:
            raise ClusterProblem(
                "ray_lost", f"The Ray cluster does not answer: {_first_line(error)}"
            ) from error

    def close(self) -> None:
        with suppress(ImportError):
            import ray

            ray.shutdown()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _connect(self) -> Connected:
        options = self._options
        if options.token_file:
            os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": options.token_file}
        if not options.address:
            self._prepare_own()
        import ray
        from ray._raylet import GcsClient

        # Ray writes to the log of this process only what it must.
        common: dict[str, Any] = {
            "namespace": NAMESPACE,
            "log_to_driver": False,
            "logging_level": logging.WARNING,
            "configure_logging": False,
        }
        if options.address:
            ray.init(address=options.address, **common)
        else:
            ray.init(
                address="local",
                include_dashboard=False,
                object_store_memory=OBJECT_STORE,
                _temp_dir=self._folder,
                _system_config=loss_detection(options.lost_s),
                **common,
            )
        self._address = ray.get_runtime_context().gcs_address
        self._gcs = GcsClient(address=self._address)
        return Connected(self._address, ray.__version__, local=not options.address)

    def _prepare_own(self) -> None:
        """Settings of a cluster that is started here: it listens on loopback alone, and nobody else has its token."""
        # The path of Ray's sockets is in this folder, and must be short.
        self._folder = tempfile.mkdtemp(prefix="duologue-ray-")
        os.environ |= {
            # Ray's word for "take the loopback address for this machine's own".
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
        }

    def _sentence(self, error: Exception) -> str:
        if not self._options.address:
            return f"A Ray cluster could not be started on this machine: {_first_line(error)}"
        return (
            f"The Ray cluster at {self._options.address} cannot be used: {_first_line(error)} This machine must be one of its nodes "
            f"(ray start --address={self._options.address} --num-cpus=0), with the same Ray, Python and token."
        )

    def _view(self) -> ClusterNews:
        from ray.autoscaler.v2 import sdk

        status = sdk.get_cluster_status(self._address)
        demands = status.resource_demands
        wanted = [
            Wanted(_resources(bundle.bundle), bundle.count)
            for demand in (*demands.placement_group_demand, *demands.ray_task_actor_demand)
            for bundle in demand.bundles_by_count
            if any(bundle.bundle.values())
        ]
        nodes = sorted(
            (_node(info) for info in (*status.active_nodes, *status.idle_nodes)), key=lambda node: node.node
        )
        return ClusterNews(tuple(nodes), tuple(wanted))


class _RayWorker:
    """One place: its actor, and its placement group if it takes several cards."""

    def __init__(self, place: Place) -> None:
        import ray
        from ray.util.placement_group import placement_group
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        needs = place.resources
        options: dict[str, Any] = {
            "num_cpus": needs.cpus,
            "num_gpus": needs.gpus,
            "memory": needs.memory,
            "max_restarts": -1,
            "max_task_retries": 0,
            "max_concurrency": 4,
        }
        self._has_arrived = False
        self._group: Any = None
        if needs.gpus > 1:
            bundle = {"CPU": needs.cpus, "GPU": needs.gpus, "memory": float(needs.memory)}
            self._group = placement_group(
                [{name: amount for name, amount in bundle.items() if amount}], strategy="STRICT_PACK"
            )
            options["scheduling_strategy"] = PlacementGroupSchedulingStrategy(self._group, 0)
        # By reference: the nodes have Duologue too, in the same version.
        actor = cast("Any", ray.remote(_WorkerActor))
        self._actor: Any = actor.options(**options).remote(place.environment, place.python)

    async def arrived(self) -> Arrival:
        import ray

        while True:
            try:
                arrival = Arrival(*await self._actor.arrive.remote())
                self._has_arrived = True
                return arrival
            except ray.exceptions.ActorUnavailableError:
                await anyio.sleep(AGAIN)
            except ray.exceptions.RayError as error:
                raise ClusterProblem(
                    "worker_not_placed", f"Ray could not start a worker: {_first_line(error)}"
                ) from error

    async def ended(self) -> ProcessEnd:
        import ray

        try:
            end = ProcessEnd(*await self._actor.watch.remote())
        except ray.exceptions.RayError as error:
            raise OutOfReach(_loss(error)) from error
        # Sooner than the actor does by itself.
        ray.kill(self._actor, no_restart=False)
        return end

    async def remove(self) -> None:
        import ray
        from ray.util.placement_group import remove_placement_group

        # An actor that waits for room does not answer.
        with anyio.move_on_after(REMOVING), suppress(ray.exceptions.RayError):
            if self._has_arrived:
                await self._actor.stop.remote()
        with suppress(ray.exceptions.RayError):
            ray.kill(self._actor)
        if self._group is not None:
            remove_placement_group(self._group)


def _node(info: Any) -> Node:
    total: dict[str, float] = {}
    free: dict[str, float] = {}
    for usage in info.resource_usage.usage if info.resource_usage else ():
        total[usage.resource_name] = usage.total
        free[usage.resource_name] = usage.total - usage.used
    cards = next((name.removeprefix(ACCELERATOR) for name in total if name.startswith(ACCELERATOR)), "")
    return Node(
        info.node_id,
        info.ip_address,
        _resources(total),
        _resources(free),
        info.node_status == "DRAINING",
        cards,
    )


def _resources(amounts: dict[str, float]) -> Resources:
    return Resources(amounts.get("CPU", 0.0), amounts.get("GPU", 0.0), int(amounts.get("memory", 0)))


def _loss(error: Exception) -> str:
    """What was lost, in a few words: Ray's own take pages."""
    text = str(error)
    if "node" in text.lower() and ("died" in text or "dead" in text):
        return "its node was lost"
    return "the process that holds its place was lost"


def _first_line(error: Exception) -> str:
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return line[:300].rstrip(".") + "."
