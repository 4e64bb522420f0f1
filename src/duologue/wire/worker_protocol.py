"""The protocol between gateway and worker: the messages, their encoding, and the fragmentation of large ones.

Each worker has two WebSockets: `/live` for controls, small requests and all events, `/bulk` for messages larger than PIECE bytes,
cut into `Fragment`s, so that a cancel never waits behind a picture. A frame is a msgpack array of one or more messages.

Each lease has flow control: a worker may have `window` events unacknowledged, and the gateway `Grant`s more as its client
takes them. An `Ask` needs no lease and no slot; at most MAX_ASKS are unanswered. Used by `gateway.workers` and `worker`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec
from msgspec import Struct

from duologue.values.avatars import ClipRequest
from duologue.values.call_events import CallControl, CallEvent, CallSetup
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest
from duologue.values.events import Event
from duologue.values.questions.worker_answers import Answer
from duologue.values.questions.worker_questions import Question
from duologue.values.requests import ChatRequest, ModelCard, ModelPreset, Task
from duologue.values.speech import SpeechCard, SpeechRequest, TranscriptionRequest

PROTOCOL = 7
"""Raised where an older side would misread a message. A new field with a default is no such change: it is passed over."""
PIECE = 64 * 1024
"""Bytes; a larger message is cut into fragments of this size."""
WINDOW = 256
"""Events a worker may send on a lease before the gateway must grant more."""
MAX_ASKS = 64
"""Questions that a worker may have unanswered."""
MAX_MESSAGE = 512 * 1024 * 1024
"""Bytes of a joined message; the public limits are far below."""
FRAGMENT_OVERHEAD = 100
"""Bytes that a fragment takes in memory besides its data."""

WorkerState = Literal["loading", "ready", "failed", "stopping"]


class LoadSpec(Struct, frozen=True):
    """What a worker loads; passed in its environment at the start."""

    worker: str
    engine: str
    model: str = ""
    """The name of the model in requests; empty: the engine's own name for it."""
    options: dict[str, object] = {}
    device: str = "cpu"
    upstream: str = ""
    """The name of the connected server whose models it serves, all of them; empty for one model."""
    python: str = ""
    """The interpreter that runs it; empty: the gateway's own."""
    preset: ModelPreset = ModelPreset()
    template: str = ""
    """The file of the chat template that an admin chose; empty: the model's own."""
    task: Task = "chat"
    """What the model is for, as far as that is known before it is loaded."""


class Begin(Struct, frozen=True, tag="begin"):
    """Start a generation under `lease` in `slot`; of an embedding model or a reranker, its work."""

    lease: int
    slot: int
    request: ChatRequest | EmbeddingRequest | RerankRequest
    request_id: str = ""
    window: int = WINDOW
    traceparent: str = ""
    """The span of the gateway that it belongs to, as in the header of that name; "" where it is not traced."""


class Cancel(Struct, frozen=True, tag="cancel"):
    """Cancel the lease's work; events still on the way are stale. Answered by `Closed`."""

    lease: int


class Grant(Struct, frozen=True, tag="grant"):
    """The client took `count` more events of the lease."""

    lease: int
    count: int


class EndThought(Struct, frozen=True, tag="end_thought"):
    """Close the thought that the lease's reply is in; the reply goes on behind it. Without effect where none is open."""

    lease: int


class Ask(Struct, frozen=True, tag="ask"):
    """A question that needs no slot. Answered by one `AskAnswered` of the same `ask`."""

    ask: int
    question: Question


class Open(Struct, frozen=True, tag="open"):
    """Start a call, a speech, a transcription or a clip under `lease` in seat `slot` of a voice worker. Answered by `CallEvents`, the last
    of which is `CallSessionEnded`, and one `Closed`."""

    lease: int
    slot: int
    request: CallSetup | SpeechRequest | TranscriptionRequest | ClipRequest
    request_id: str = ""
    window: int = WINDOW
    traceparent: str = ""
    """As of `Begin`."""


class SendControls(Struct, frozen=True, tag="tell"):
    """Controls for an open session, in order."""

    lease: int
    controls: tuple[CallControl, ...]


class Beat(Struct, frozen=True, tag="beat"):
    """Is the worker's event loop alive? Answered at once by `Beaten` of the same `number`, over a connection that has no pings of its own."""

    number: int


class Dismiss(Struct, frozen=True, tag="dismiss"):
    """To a worker on another machine: end the process, at once. Its leases are over. `restart`: an admin wants it started again, by whoever
    started it; otherwise the worker was removed and must not come back by itself."""

    restart: bool = False


class Fragment(Struct, frozen=True, tag="fragment"):
    """A part of a message larger than PIECE. The fragments of one `message` arrive in order; `last` ends it."""

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
    """The lease's work has ended and its slot is free. Sent exactly once for every `Begin` and `Open`."""

    lease: int


class AskAnswered(Struct, frozen=True, tag="answered"):
    """The answer to an `Ask`. `code` is empty, or the reason for a failure, with a sentence, an HTTP status and the field at fault;
    there is no `answer` then."""

    ask: int
    answer: Answer | None = None
    code: str = ""
    message: str = ""
    status: int = 500
    param: str | None = None


class Beaten(Struct, frozen=True, tag="beaten"):
    """The answer to a `Beat`."""

    number: int


class SlotsElsewhere(Struct, frozen=True, tag="elsewhere"):
    """All slots that work for other gateways now; sent by a worker with several gateways whenever they change. Two gateways may begin in the
    same slot at the same moment: the later work waits in the worker until the slot is free, without events."""

    slots: tuple[int, ...] = ()


class Report(Struct, frozen=True, tag="report"):
    """The worker's state; sent when it connects and at every change. `progress`: how much is loaded, 0 to 1; None where that
    cannot be measured."""

    worker: str
    state: WorkerState
    protocol: int = PROTOCOL
    card: ModelCard | None = None
    detail: str = ""
    code: str = ""
    progress: float | None = None
    speech: SpeechCard | None = None
    """Of a voice worker: what its engines can do."""


Down = Begin | Open | SendControls | Cancel | Grant | EndThought | Ask | Beat | Dismiss | Fragment
Up = Emit | CallEvents | Closed | AskAnswered | Beaten | SlotsElsewhere | Report | Fragment

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
    """Cut an encoded frame into fragments, to be sent in order under `number`."""
    for start in range(0, len(frame), PIECE):
        end = start + PIECE
        yield Fragment(number, frame[start:end], last=end >= len(frame))


class FragmentJoiner:
    """Joins fragments to frames. Fragments of different messages may interleave; `limit`: bytes of all of them together."""

    def __init__(self, limit: int = MAX_MESSAGE) -> None:
        self._limit = limit
        self._parts: dict[int, list[bytes]] = {}
        self._sizes: dict[int, int] = {}
        self._held = 0

    def add(self, fragment: Fragment) -> bytes | None:
        """The frame if this fragment was its last, else None. Raises ValueError over the limit."""
        parts = self._parts.setdefault(fragment.message, [])
        parts.append(fragment.data)
        # Empty fragments take memory too.
        size = len(fragment.data) + FRAGMENT_OVERHEAD
        self._sizes[fragment.message] = self._sizes.get(fragment.message, 0) + size
        self._held += size
        if self._held > self._limit:
            self.forget(fragment.message)
            raise ValueError(f"unfinished messages of more than {self._limit} bytes")
        if not fragment.last:
            return None
        self.forget(fragment.message)
        return b"".join(parts)

    def forget(self, message: int) -> None:
        """Drop the fragments of a message that will not be completed."""
        self._parts.pop(message, None)
        self._held -= self._sizes.pop(message, 0)
