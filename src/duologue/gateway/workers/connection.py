"""The gateway's end of the internal protocol: two sockets to one worker, shared by all leases on it.

Owns the pending questions; the sockets are those of a transport, and running work is in `stream.py`. A keeper runs one connection for
each process; leases begin their work through it. Large requests take the bulk socket, so that they never delay a token.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence

import anyio

from duologue.errors import Busy, Problem, Unavailable, WorkerLost
from duologue.gateway.workers.heartbeat import BEAT, judge_engine
from duologue.gateway.workers.stream import Item as Item
from duologue.gateway.workers.stream import LeaseInbox as LeaseInbox
from duologue.gateway.workers.stream import Outbox
from duologue.gateway.workers.stream import Stream as Stream
from duologue.gateway.workers.transport import FrameChannel, WorkerTransport
from duologue.notifier import Notifier
from duologue.tracing import spans
from duologue.values.avatars import ClipRequest
from duologue.values.call_events import (
    CallSetup,
)
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest
from duologue.values.events import ENGINE_STALLED, WORKER_LOST, Failed
from duologue.values.questions.worker_answers import Answer
from duologue.values.questions.worker_questions import Question
from duologue.values.requests import ChatRequest
from duologue.values.speech import SpeechRequest, TranscriptionRequest
from duologue.wire import worker_protocol

log = logging.getLogger(__name__)
UNENCODABLE = (OverflowError, UnicodeEncodeError)
"""What the encoder raises for an integer beyond 64 bits and for half of a surrogate pair."""

ModelWork = ChatRequest | EmbeddingRequest | RerankRequest
"""What a slot of a model can run."""
Work = ModelWork | CallSetup | SpeechRequest | TranscriptionRequest | ClipRequest
"""What a slot of a model or a seat of the voice worker can run."""

ELSEWHERE_PAUSE = 0.01
"""Seconds between two notices of slots that work elsewhere: each may move the whole queue, and a worker may send them without end."""


class _PendingAsk:
    """A question that was sent, and its answer once there is one."""

    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.result: worker_protocol.AskAnswered | None = None

    def answer(self, result: worker_protocol.AskAnswered) -> None:
        self.result = result
        self.answered.set()


class WorkerConnection:
    """The connection to one worker process, for its lifetime.

    `on_lost` is called once, when the worker is lost and before its streams end: ending a stream releases its slot, and the
    scheduler must not grant that slot again. `on_elsewhere` hears which slots work for other gateways. `stall_limit`: seconds that an
    engine may give no step while it has replies to write, None for ever; `largest`: bytes of the large messages that are on their way up.
    """

    def __init__(
        self,
        transport: WorkerTransport,
        on_report: Callable[[worker_protocol.Report], None],
        on_lost: Callable[[], None] = lambda: None,
        on_elsewhere: Callable[[tuple[int, ...]], None] = lambda slots: None,
        stall_limit: float | None = None,
        largest: int = worker_protocol.MAX_MESSAGE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transport = transport
        self._on_report = on_report
        self._on_lost = on_lost
        self._on_elsewhere = on_elsewhere
        self._elsewhere: tuple[int, ...] | None = None
        """What was heard since the last notice, and is passed on after the pause."""
        self._elsewhere_told = False
        self._elsewhere_news = Notifier()
        self._stall_limit = stall_limit
        self._largest = largest
        self._clock = clock
        self._last_step = float("-inf")
        self._streams: dict[int, Stream] = {}
        self._asks: dict[int, _PendingAsk] = {}
        self._next_number = 1
        self._live = Outbox()
        self._bulk = Outbox()
        self._state: worker_protocol.WorkerState = "loading"
        self._refusal: Failed | None = None
        self._lost = False
        self.hung = ""
        """Why the worker was given up although its process lives, for the log; "" if it was not."""

    async def run(self) -> None:
        """Connect and relay until a socket closes or the worker stops answering. Running streams then end with `worker_lost`,
        or with the failure given to `interrupt`; later ones end at once."""
        try:
            async with self._transport.opened() as channels, anyio.create_task_group() as tasks:
                scope = tasks.cancel_scope
                for channel, outbox in ((channels.live, self._live), (channels.bulk, self._bulk)):
                    tasks.start_soon(self._write, channel, outbox, scope)
                    tasks.start_soon(self._read, channel, scope)
                tasks.start_soon(self._watch, scope)
                tasks.start_soon(self._pass_elsewhere)
        except OSError as error:
            log.debug("connection to %s lost: %s", self._transport.peer, error)
        finally:
            self._lose()

    def begin(
        self,
        slot: int,
        choice: int,
        request: Work,
        inbox: LeaseInbox,
        request_id: str,
        on_closed: Callable[[Stream], None],
    ) -> Stream:
        """Start work in a slot. Its events go to `inbox`; `on_closed` is called once the slot is free. On a connection that is
        closed the stream has already ended, with the reason, when this returns."""
        number, self._next_number = self._next_number, self._next_number + 1
        if self._refusal is not None:
            stream = Stream(number, slot, choice, inbox, self._live, on_closed)
            stream.deliver((self._refusal,))
            stream.close()
            return stream
        trace = spans.traceparent()
        message = (
            worker_protocol.Begin(number, slot, request, request_id, traceparent=trace)
            if isinstance(request, ModelWork)
            else worker_protocol.Open(number, slot, request, request_id, traceparent=trace)
        )
        outbox = self._post(number, message)
        began = self._clock() if isinstance(request, ChatRequest) else None
        stream = Stream(number, slot, choice, inbox, self._live, on_closed, outbox, began, self._clock)
        self._streams[number] = stream
        return stream

    @property
    def asks(self) -> int:
        """Pending questions, including those whose caller has given up: the worker still does the work."""
        return len(self._asks)

    async def ask(self, question: Question) -> Answer:
        """The answer to a question. Raises Busy when too many are open, WorkerLost or Unavailable when the connection is closed or
        closes meanwhile, and the Problem the worker reports."""
        if self._refusal is not None:
            raise _ask_problem(self._refusal)
        if len(self._asks) >= worker_protocol.MAX_ASKS:
            raise Busy("Too many questions wait for this model. Try again in a moment.")
        number, self._next_number = self._next_number, self._next_number + 1
        self._post(number, worker_protocol.Ask(number, question))
        pending = self._asks[number] = _PendingAsk()
        await pending.answered.wait()
        result = pending.result
        if result is None:
            raise _ask_problem(self._refusal or WORKER_LOST)
        if result.code or result.answer is None:
            status = result.status if 400 <= result.status <= 599 else 500
            raise Problem(result.message, code=result.code, status=status, param=result.param)
        return result.answer

    def _post(
        self, number: int, message: worker_protocol.Begin | worker_protocol.Open | worker_protocol.Ask
    ) -> Outbox:
        """Send a message over the socket for its size. Gives the outbox of that."""
        frame = worker_protocol.encode([message])
        if len(frame) <= worker_protocol.PIECE:
            self._live.post(message)
            return self._live
        for fragment in worker_protocol.fragments(number, frame):
            self._bulk.post(fragment)
        return self._bulk

    def interrupt(self, failure: Failed) -> None:
        """End every running stream with this failure and cancel its work, and refuse later ones with it."""
        self._refusal = failure
        for stream in list(self._streams.values()):
            stream.deliver((failure,))
            stream.cancel()
        self._drop_asks()

    def end(self, failure: Failed) -> None:
        """The worker is about to be stopped: treat it as lost now. What it runs ends with this failure."""
        self._refusal = failure
        self._lose()

    def _lose(self) -> None:
        """The worker and its slots are gone: running streams end now, later ones when they begin."""
        if self._lost:
            return
        self._lost = True
        failure = self._refusal = self._refusal or WORKER_LOST
        self._on_lost()
        streams, self._streams = self._streams, {}
        for stream in streams.values():
            stream.deliver((failure,))
            stream.close()
        self._drop_asks()

    def _drop_asks(self) -> None:
        """No more answers will arrive: end every wait with the refusal."""
        asks, self._asks = self._asks, {}
        for pending in asks.values():
            pending.answered.set()

    async def _write(self, channel: FrameChannel, outbox: Outbox, scope: anyio.CancelScope) -> None:
        try:
            while True:
                for part in _split(await outbox.take()):
                    await channel.send(_frame(part))
        except EOFError:
            self._lose()
            scope.cancel()

    async def _watch(self, scope: anyio.CancelScope) -> None:
        """Notice a worker that neither answers nor dies (suspended, swapped out, stuck in a library), and an engine that stands still."""
        transport = self._transport
        try:
            while True:
                with anyio.move_on_after(BEAT):
                    await transport.answer()
                    await anyio.sleep(BEAT)
                if transport.hangs(loading=self._state == "loading"):
                    self.hung = "it did not answer for several seconds"
                elif self._engine_hangs():
                    self.hung = f"its engine gave no step for {self._stall_limit:.0f} s"
                if self.hung:
                    log.error("worker at %s hangs: %s", transport.peer, self.hung)
                    self._lose()
                    transport.abort()
                    scope.cancel()
        except EOFError:
            self._lose()
            scope.cancel()

    def _engine_hangs(self) -> bool:
        """Whether the engine has stood still for so long that the process must be replaced. Before that its replies are cancelled."""
        if not self._transport.reachable:
            # How long that may last is the transport's to say, and what it writes meanwhile comes later.
            self._last_step = self._clock()
            return False
        streams = [(stream, work) for stream in self._streams.values() if (work := stream.work()) is not None]
        works = [work for _, work in streams]
        verdict = judge_engine(works, self._last_step, self._clock(), self._stall_limit)
        if verdict == "stalled":
            log.error(
                "the engine of the worker at %s gives no step; its replies are cancelled",
                self._transport.peer,
            )
            for stream, work in streams:
                if work.cancelled is None and not work.blocked:
                    stream.deliver((ENGINE_STALLED,))
                    stream.cancel()
        return verdict == "hung"

    async def _read(self, channel: FrameChannel, scope: anyio.CancelScope) -> None:
        joiner = worker_protocol.FragmentJoiner(self._largest)
        try:
            while True:
                for message in worker_protocol.decode_up(await channel.receive()):
                    self._handle(message, joiner)
        except EOFError:
            self._lose()
            scope.cancel()
        except (ValueError, RecursionError) as error:  # msgspec's validation errors are ValueErrors too
            log.error("worker at %s broke the protocol: %s", self._transport.peer, error)
            self._lose()
            scope.cancel()

    def _handle(self, message: worker_protocol.Up, joiner: worker_protocol.FragmentJoiner) -> None:
        match message:
            case worker_protocol.Emit(lease, events):
                self._last_step = self._clock()
                if (stream := self._streams.get(lease)) is not None:
                    stream.deliver(events)
            case worker_protocol.CallEvents(lease, events):
                if (stream := self._streams.get(lease)) is not None:
                    stream.deliver(events)
            case worker_protocol.Closed(lease):
                self._last_step = self._clock()
                if (stream := self._streams.pop(lease, None)) is not None:
                    stream.close()
            case worker_protocol.AskAnswered(number):
                if (pending := self._asks.pop(number, None)) is not None:
                    pending.answer(message)
            case worker_protocol.Report():
                # Frames that were already read may be handled after the loss. By then the scheduler has no slots of this worker.
                if not self._lost:
                    self._state = message.state
                    self._on_report(message)
            case worker_protocol.Beaten(number):
                self._transport.beaten(number)
            case worker_protocol.SlotsElsewhere(slots):
                self._hear_elsewhere(slots)
            case worker_protocol.Fragment():
                if (frame := joiner.add(message)) is not None:
                    for inner in worker_protocol.decode_up(frame):
                        if isinstance(inner, worker_protocol.Fragment):
                            raise ValueError("a fragment within fragments")
                        self._handle(inner, joiner)

    def _hear_elsewhere(self, slots: tuple[int, ...]) -> None:
        """Pass it on at once, or the newest of several after the pause."""
        if self._elsewhere_told:
            self._elsewhere = slots
        elif not self._lost:
            self._on_elsewhere(slots)
            self._elsewhere_told = True
            self._elsewhere_news.notify()

    async def _pass_elsewhere(self) -> None:
        while True:
            while not self._elsewhere_told:
                await self._elsewhere_news.wait()
            await anyio.sleep(ELSEWHERE_PAUSE)
            newest, self._elsewhere, self._elsewhere_told = self._elsewhere, None, False
            if newest is not None:
                self._hear_elsewhere(newest)


def _ask_problem(failure: Failed) -> Problem:
    if failure is WORKER_LOST:
        return WorkerLost(
            "The worker that was asked this ended unexpectedly. It is being restarted; please try again."
        )
    return Unavailable(failure.message, code=failure.code, status=failure.status)


def _split(messages: list[worker_protocol.Down]) -> Iterator[Sequence[worker_protocol.Down]]:
    """The frames to send, in order: one for each fragment, so that pings pass between them, and one for what lies between two."""
    small: list[worker_protocol.Down] = []
    for message in messages:
        if not isinstance(message, worker_protocol.Fragment):
            small.append(message)
            continue
        if small:
            yield small
            small = []
        yield [message]
    if small:
        yield small


def _frame(messages: Sequence[worker_protocol.Down]) -> bytes:
    """One frame of these messages, without any that cannot be encoded: such a one came from a single client, and once took
    every call of the worker with it."""
    try:
        return worker_protocol.encode(messages)
    except UNENCODABLE:
        return worker_protocol.encode([message for message in messages if _can_be_encoded(message)])


def _can_be_encoded(message: worker_protocol.Down) -> bool:
    try:
        worker_protocol.encode([message])
    except UNENCODABLE as error:
        log.error("a %s for a worker was dropped: %s", type(message).__name__, error)
        return False
    return True
