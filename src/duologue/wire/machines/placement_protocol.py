"""What a gateway and its placement process say to each other: JSON lines over the standard streams, one message a line.

The gateway sends orders: place a worker, remove it, drain a node. The placement process carries them out on a Ray cluster and sends news: it is
connected, what became of each place, which nodes there are, and what waits for room. The end of its standard input ends it, and with it all places.
Used by `gateway.machines` and `placement`.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

LINE_LIMIT = 4 * 1024 * 1024
"""Bytes of a line; a load spec has some kilobytes."""


PLACEMENT_OPTIONS = "DUOLOGUE_PLACEMENT"
"""The variable with the options of a placement process."""


class ClusterOptions(Struct, frozen=True):
    """Which cluster, and how. `address`: of its head, empty for one that is started on this machine; `token_file`: what opens it, empty for
    Ray's own search; `lost_s`: seconds after which a silent node of a cluster that is started here counts as lost; `log`: level and format."""

    address: str = ""
    token_file: str = ""
    lost_s: float = 5.0
    log: tuple[str, str] = ("info", "text")


class Resources(Struct, frozen=True):
    """What a place takes of a node. `memory` in bytes; half a `gpu` shares a card with another place."""

    cpus: float = 0.0
    gpus: float = 0.0
    memory: int = 0


class Place(Struct, frozen=True, tag="place"):
    """Place a worker. It is started again, on any node with room, until it is removed."""

    name: str
    resources: Resources
    environment: dict[str, str]
    """Of the joined worker, added to that of the node."""
    python: str = ""
    """The interpreter that runs it on the node; empty: the one of Ray's own worker there."""


class Remove(Struct, frozen=True, tag="remove"):
    """End the worker of a place, and give the place up. Answered by `PlaceNews` with `gone`."""

    name: str


class DrainNode(Struct, frozen=True, tag="drain_node"):
    """Nothing new is placed on this node. What runs there is moved by the gateway."""

    node: str
    seconds: float
    """In which it should be empty, for the cluster's own tools."""


Order = Place | Remove | DrainNode

PlaceState = Literal["waiting", "starting", "running", "ended", "gone"]
"""`waiting`: for room on a node. `starting`: on a node, without a process yet. `running`: with a process. `ended`: its process, its actor or its
node has ended, and it is started again. `gone`: it was removed."""


class PlaceNews(Struct, frozen=True, tag="place_news"):
    """What became of a place."""

    name: str
    state: PlaceState
    node: str = ""
    """The id of the node that it is on, or was on when it ended."""
    process: int = 0
    """Of the worker, on its node."""
    code: int | None = None
    """Of `ended`: the exit code of the worker's process, negative for a signal; None if the actor or the node was lost."""
    last_line: str = ""
    """Of `ended`: the last line of the worker's log."""
    reason: str = ""
    """Of `ended` without a code: what was lost."""


class Node(Struct, frozen=True):
    """A machine of the cluster."""

    node: str
    address: str
    total: Resources
    free: Resources
    draining: bool = False
    cards: str = ""
    """The type of its graphics cards, as Ray names it; empty if it has none or Ray does not know."""


class Wanted(Struct, frozen=True):
    """Room that is asked for and not there, as the cluster's autoscaler sees it."""

    resources: Resources
    count: int = 1


class Connected(Struct, frozen=True, tag="connected"):
    """The first news: the process has a cluster."""

    address: str
    version: str = ""
    """Of Ray."""
    local: bool = False
    """Whether it started the cluster itself, on this machine."""


class ClusterNews(Struct, frozen=True, tag="cluster_news"):
    """The nodes that are alive, and the room that is wanted; sent when either has changed."""

    nodes: tuple[Node, ...] = ()
    wanted: tuple[Wanted, ...] = ()


class Trouble(Struct, frozen=True, tag="trouble"):
    """The process cannot go on, or an order could not be carried out (`name`: of which place or node)."""

    code: str
    message: str
    name: str = ""


News = Connected | PlaceNews | ClusterNews | Trouble

_encoder = msgspec.json.Encoder()
_order: msgspec.json.Decoder[Order] = msgspec.json.Decoder(Order)
_news: msgspec.json.Decoder[News] = msgspec.json.Decoder(News)


def encode_line(message: Order | News) -> bytes:
    """The line of a message, with its end."""
    return _encoder.encode(message) + b"\n"


def decode_order(line: bytes) -> Order:
    """An order. Raises msgspec.ValidationError or DecodeError on anything else."""
    return _order.decode(line)


def decode_news(line: bytes) -> News:
    """News. Raises msgspec.ValidationError or DecodeError on anything else."""
    return _news.decode(line)
