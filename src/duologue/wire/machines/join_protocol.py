"""How a worker on another machine joins a gateway: the first messages of its connection, before the worker protocol begins.

The worker dials out: WebSocket `/join/live` and `/join/bulk` of the gateway, with a key of the role `worker`. On the live socket it sends
`Join` and gets `Welcome` or `Refuse`; on the bulk socket it sends `JoinBulk`. Each of these is one text frame of JSON, which an older side
reads too. From then on every frame is binary: a `frame_link` header, and a frame of the worker protocol, in the version that `Welcome` names.
The roles do not change: the gateway begins work, the worker answers. A connection that breaks is dialled again with the same `session`
and goes on where it was; the leases live as long as `Welcome.lease_s` allows. A gateway that does not know a session of which frames were
received refuses it with SESSION_UNKNOWN, and the worker begins a new one. A worker that stops reports `stopping`, and closes its sockets with
GOING when nothing runs any more, as it does with a session that it gives up: that session is over at once. With the reason FOR_GOOD its name is
given up too; without it the gateway waits for the next process of the name, as after a restart. The only text frame after the first
one is `Gateways`, from the gateway on the live socket. Used by `worker.joined` and `gateway.machines`.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from duologue.values.requests import Task

JOIN_PATH = "/join"
OLDEST_PROTOCOL = 7
"""The oldest version of the worker protocol that a joined worker or a gateway still speaks: what makes rolling upgrades possible."""


GOING = 1001
"""The close code of a worker that does not come back with this session."""
FOR_GOOD = "for good"
"""The reason beside that code if the worker will not be started again: it was stopped, or removed by an admin."""
SESSION_UNKNOWN = "session_unknown"
"""The `code` of a `Refuse`: begin a new session at once."""
ALREADY_JOINED = "already_joined"
"""The `code` of a `Refuse`: the worker has joined this gateway by another address."""


class MachineDevice(Struct, frozen=True):
    """A device of the worker's machine; memory in bytes, 0 where it is not known."""

    name: str
    """As in the settings: `cpu`, `cuda:0` ..."""
    description: str = ""
    memory: int = 0
    free: int = 0


class Join(Struct, frozen=True, tag="join"):
    """A worker asks to be let in, or is back."""

    machine: str
    """The name of its machine, by which status pages group workers."""
    worker: str
    """The name of the worker on its machine."""
    session: str
    """A random name of this process. The same one again: the connection broke and goes on."""
    oldest: int
    newest: int
    """The versions of the worker protocol that it speaks."""
    received: int = 0
    """The number of the last frame of the live link that it has handled; 0 at first."""
    version: str = ""
    """Of Duologue, for people."""
    engine: str = ""
    model: str = ""
    """The name of its model in requests; empty: the engine's own name for it."""
    task: Task = "chat"
    device: str = "cpu"
    devices: tuple[MachineDevice, ...] = ()
    joined: tuple[str, ...] = ()
    """The ids of the gateways that it has joined by other addresses."""
    placed: str = ""
    """The name of the place that the gateway made for it (`pool: ray`); empty for one that was started by hand."""
    serves: bool = False
    """Whether its files are those that this gateway offers, adapters included, which it looks at again whenever it starts."""


class JoinBulk(Struct, frozen=True, tag="join_bulk"):
    """The second socket of a session that is let in."""

    session: str
    received: int = 0
    """The number of the last frame of the bulk link that it has handled."""


class Welcome(Struct, frozen=True, tag="welcome"):
    """The worker is let in. Also the answer to `JoinBulk`."""

    protocol: int
    """The version of the worker protocol that both sides speak from now on."""
    gateway: str
    """The id of the gateway's process. Another one than before: it knows nothing of the session, and all leases have ended."""
    lease_s: float
    """Seconds that the worker may be out of reach before the gateway gives it up, and the worker the gateway."""
    received: int = 0
    """The number of the last frame of this link that the gateway has handled."""
    gateways: tuple[str, ...] = ()
    """The addresses of all gateways of the same database, this one included; a worker joins each of them."""


class Refuse(Struct, frozen=True, tag="refuse"):
    """The worker is not let in. `retry_s`: when to ask again; None: never, a person has to change something."""

    code: str
    message: str
    retry_s: float | None = None


class Gateways(Struct, frozen=True, tag="gateways"):
    """The addresses of all gateways of the same database have changed; sent on the live socket at any time, between the binary frames."""

    addresses: tuple[str, ...] = ()


Opening = Join | JoinBulk
Reply = Welcome | Refuse

_encoder = msgspec.json.Encoder()
_opening: msgspec.json.Decoder[Opening] = msgspec.json.Decoder(Opening)
_gateways: msgspec.json.Decoder[Gateways] = msgspec.json.Decoder(Gateways)
_reply: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)


def encode_opening(message: Opening | Reply | Gateways) -> str:
    """The text frame of a message."""
    return _encoder.encode(message).decode()


def decode_opening(frame: str | bytes) -> Opening:
    """What a worker said first. Raises msgspec.ValidationError on anything else."""
    return _opening.decode(frame)


def decode_reply(frame: str | bytes) -> Reply:
    """What the gateway answered. Raises msgspec.ValidationError on anything else."""
    return _reply.decode(frame)


def decode_gateways(frame: str | bytes) -> Gateways:
    """A text frame that came between the binary ones. Raises msgspec.ValidationError on anything else."""
    return _gateways.decode(frame)


def agreed(oldest: int, newest: int, own_oldest: int, own_newest: int) -> int | None:
    """The newest version that both sides speak; None if there is none."""
    version = min(newest, own_newest)
    return version if version >= max(oldest, own_oldest) else None
