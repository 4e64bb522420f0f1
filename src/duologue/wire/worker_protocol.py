"""The one protocol between gateway and worker, over kept WebSockets.

Two sockets a worker: `/live` for controls, small requests and the events coming up; `/bulk` for whatever is larger
than a piece, so that no cancel waits behind a picture. A frame is a msgpack array of messages: whoever has several
to say packs them together. Messages over PIECE bytes travel as `Fragment`s on `/bulk`.

Flow is bounded per lease, both ways: the worker may have `window` deliveries unacknowledged, the gateway `Grant`s
more as its client takes them. A `Count` needs no lease and no slot; at most ASKS of them are unanswered. Knows no
socket; owns the messages, their coding and the joining of fragments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec
from msgspec import Struct

from duologue.values.call_events import CallControl, CallEvent, CallSetup
from duologue.values.events import Event
from duologue.values.requests import ChatRequest, ModelCard
from duologue.values.speech import SpeechCard, SpeechRequest, TranscriptionRequest

PROTOCOL = 3
PIECE = 64 * 1024
"""Bytes; a larger message is cut into pieces of this size."""
WINDOW = 256
"""Deliveries a worker may send on a lease before the gateway must grant more."""
ASKS = 64
"""Counts a worker may be asked for and has not answered."""
MAX_MESSAGE = 512 * 1024 * 1024
"""Bytes one joined message may have; the public limits are far below."""

WorkerState = Literal["loading", "ready", "failed", "stopping"]


class LoadSpec(Struct, frozen=True):
    """What a worker is to load; handed over in its environment at its start."""

    worker: str
    engine: str
    model: str = ""
    """The name the model is asked for by; empty lets the engine say."""
    options: dict[str, object] = {}
    device: str = "cpu"


class Begin(Struct, frozen=True, tag="begin"):
    """Start a generation under `lease` in `slot`."""

    lease: int
    slot: int
    request: ChatRequest
    request_id: str = ""
    window: int = WINDOW


class Cancel(Struct, frozen=True, tag="cancel"):
    """End the lease's work; whatever it still had to say is stale. Answered by `Closed`."""

    lease: int


class Grant(Struct, frozen=True, tag="grant"):
    """The gateway's client took `count` more events of the lease."""

    lease: int
    count: int


class Count(Struct, frozen=True, tag="count"):
    """How many tokens would the prompt of this request have? Answered by one `Counted` of the same `ask`."""

    ask: int
    request: ChatRequest


class Open(Struct, frozen=True, tag="open"):
    """Start a call, a speech or a transcription under `lease` in seat `slot` of a voice worker. Answered by `CallEvents`, the last
    of which is `Ended`, and one `Closed`."""

    lease: int
    slot: int
    request: CallSetup | SpeechRequest | TranscriptionRequest
    request_id: str = ""
    window: int = WINDOW


class Tell(Struct, frozen=True, tag="tell"):
    """What an open call is told, in order."""

    lease: int
    controls: tuple[CallControl, ...]


class Fragment(Struct, frozen=True, tag="fragment"):
    """Bytes of a message too large for one piece; the pieces of one `message` come in order, `last` closes it."""

    message: int
    data: bytes
    last: bool = False


class Emit(Struct, frozen=True, tag="emit"):
    """Events of a lease, in order."""

    lease: int
    events: tuple[Event, ...]


class CallEvents(Struct, frozen=True, tag="told"):
    """Events of a call, a speech or a transcription, in order."""

    lease: int
    events: tuple[CallEvent, ...]


class Closed(Struct, frozen=True, tag="closed"):
    """The lease's work has truly ended and its slot is free; said exactly once for every `Begin`."""

    lease: int


class Counted(Struct, frozen=True, tag="counted"):
    """The answer to a `Count`: the prompt's `tokens`, of the `context` one chat has (0: not known). `estimated`: some
    of it the engine cannot count. `code` is empty, or why it could not be told, with a sentence and an HTTP status."""

    ask: int
    tokens: int = 0
    context: int = 0
    estimated: bool = False
    code: str = ""
    message: str = ""
    status: int = 500


class Report(Struct, frozen=True, tag="report"):
    """The worker as it is; said at connection and at every change. `progress`: how much of loading is done, 0 to 1;
    None where that cannot be measured."""

    worker: str
    state: WorkerState
    protocol: int = PROTOCOL
    card: ModelCard | None = None
    detail: str = ""
    code: str = ""
    progress: float | None = None
    speech: SpeechCard | None = None
    """Of a voice worker: what of it is there."""


Down = Begin | Open | Tell | Cancel | Grant | Count | Fragment
Up = Emit | CallEvents | Closed | Counted | Report | Fragment

_encoder = msgspec.msgpack.Encoder()
_down = msgspec.msgpack.Decoder(list[Down])
_up = msgspec.msgpack.Decoder(list[Up])


def encode(messages: Iterable[Down | Up]) -> bytes:
    """One frame of these messages."""
    return _encoder.encode(list(messages))


def decode_down(frame: bytes) -> list[Down]:
    """The messages of a frame from the gateway. Raises msgspec.ValidationError on anything else."""
    return _down.decode(frame)


def decode_up(frame: bytes) -> list[Up]:
    """The messages of a frame from a worker. Raises msgspec.ValidationError on anything else."""
    return _up.decode(frame)


def fragments(number: int, frame: bytes) -> Iterator[Fragment]:
    """Cut one encoded frame into pieces, to be sent in order under `number`."""
    for start in range(0, len(frame), PIECE):
        end = start + PIECE
        yield Fragment(number, frame[start:end], last=end >= len(frame))


class Joiner:
    """Joins fragments back to frames; the fragments of different messages may interleave."""

    def __init__(self, limit: int = MAX_MESSAGE) -> None:
        self._limit = limit
        self._parts: dict[int, list[bytes]] = {}
        self._sizes: dict[int, int] = {}

    def add(self, fragment: Fragment) -> bytes | None:
        """The whole frame when this fragment was its last, else None. Raises ValueError over the limit."""
        parts = self._parts.setdefault(fragment.message, [])
        parts.append(fragment.data)
        size = self._sizes.get(fragment.message, 0) + len(fragment.data)
        self._sizes[fragment.message] = size
        if size > self._limit:
            self.forget(fragment.message)
            raise ValueError(f"message of more than {self._limit} bytes")
        if not fragment.last:
            return None
        self.forget(fragment.message)
        return b"".join(parts)

    def forget(self, message: int) -> None:
        """Drop the parts of a message that will not be finished."""
        self._parts.pop(message, None)
        self._sizes.pop(message, None)
