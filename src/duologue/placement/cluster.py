"""What the placement process needs of a cluster. `ray_cluster` is one; tests have another without Ray."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from duologue.wire.machines.placement_protocol import ClusterNews, Connected, Place


class ClusterProblem(Exception):
    """The cluster cannot be used, or does not do what it was asked for. `code` and `message` are for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Arrival(NamedTuple):
    """Where a worker runs: the node's id, and its process there."""

    node: str
    process: int


class ProcessEnd(NamedTuple):
    """The exit code of a worker's process, negative for a signal, and the last line of its log."""

    code: int
    last_line: str = ""


class OutOfReach(Exception):
    """The actor that keeps the worker does not answer: the actor or its node is lost, or the network failed for a moment. Says why."""


class ClusterWorker(Protocol):
    """A worker that the cluster places, and starts again wherever there is room until it is removed."""

    async def arrived(self) -> Arrival:
        """Wait for room and for its process, as long as it takes. Raises ClusterProblem if that cannot be."""

    async def ended(self) -> ProcessEnd:
        """Wait until the process ends. The cluster starts another one then. Raises OutOfReach."""

    async def remove(self) -> None:
        """End the process and give its place up."""


class Cluster(Protocol):
    """The machines of a cluster, and the workers on them."""

    async def connect(self) -> Connected:
        """Connect, or start a cluster on this machine. Raises ClusterProblem."""

    def place(self, place: Place) -> ClusterWorker:
        """Ask for a place. Does not wait."""

    async def drain(self, node: str, seconds: float) -> None:
        """Place nothing new on a node. Raises ClusterProblem."""

    async def view(self) -> ClusterNews:
        """The nodes and the room that is wanted, now. Raises ClusterProblem when the cluster is lost."""

    def close(self) -> None:
        """Leave the cluster: all places end, and the cluster too if it was started here."""
