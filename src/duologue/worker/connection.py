"""The worker's end of the internal protocol: starts, cancels and paces leases, and packs their events into frames.

Owns the running leases, one task each, their inboxes, and the queue of questions; what waits to be sent is in `live_outbox.py`. What a lease does is
passed in by `app.py`: a generation, a session (a call, a speech request or a transcription), or a question.
"""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

import anyio
import anyio.abc

from duologue.errors import Busy, DeviceLost, Problem, Unsupported
from duologue.notifier import Notifier
from duologue.sessions.chat.reply_controls import ReplyControls
from duologue.sessions.speech.speech_task import SendEvent
from duologue.values.call_events import CallEvent, CallSessionEnded
from duologue.values.events import Event, Failed, ReasoningDelta, TextDelta, ToolCallDelta
from duologue.values.questions.worker_answers import Answer
from duologue.values.questions.worker_questions import Question
from duologue.wire import worker_protocol
from duologue.worker.inbox import ControlInbox
from duologue.worker.live_outbox import LiveOutbox

log = logging.getLogger(__name__)

Emit = Callable[[Event], Awaitable[None]]
Generate = Callable[[worker_protocol.Begin, Emit, ReplyControls], Awaitable[None]]
RunSession = Callable[[worker_protocol.Open, ControlInbox, SendEvent], Awaitable[None]]
AnswerQuestion = Callable[[Question], Awaitable[Answer]]
EndProcess = Callable[[DeviceLost], None]
BeDismissed = Callable[[worker_protocol.Dismiss], None]

FRAME_PAUSE = 0.002
"""Seconds from a frame with text to the next one. What is written meanwhile shares a frame, and further on one write to each client: a frame for
each step of an engine with 32 replies took twice the processor time."""
EARLY_CANCELS = 1024
"""Cancels remembered for requests that have not arrived: one on the live socket may overtake its large request on the bulk
socket."""


class FrameSocket(Protocol):
    """A WebSocket of binary frames. Raises EOFError once it is closed."""

    async def receive(self) -> bytes: ...

    async def send(self, frame: bytes) -> None: ...


class _Lease:
    """Running work: its scope, its inbox, and how many events it may still send."""

    def __init__(self, credit: int, *, session: bool) -> None:
        self.session = session
        """Whether it is a call, a speech request or a transcription."""
        self.scope = anyio.CancelScope()
        self.inbox = ControlInbox()
        self.controls = ReplyControls()
        self.credit = credit
        self._granted = Notifier()

    def grant(self, count: int) -> None:
        """The gateway accepts this many more events."""
        self.credit += count
        self._granted.notify()

    async def spend(self) -> None:
        """Use the credit for one event, waiting for the gateway to grant more if there is none."""
        while self.credit <= 0:
            await self._granted.wait()
        self.credit -= 1


class GatewayConnection:
    """The connection to the gateway and its leases, which all end when the live socket closes. `end_process` is called once a lease
    has lost its device and the gateway was sent its end; `pause` waits between two frames with text."""

    def __init__(
        self,
        generate: Generate,
        answer: AnswerQuestion,
        report: Callable[[], worker_protocol.Report],
        run_session: RunSession | None = None,
        end_process: EndProcess | None = None,
        be_dismissed: BeDismissed | None = None,
        pause: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._generate = generate
        self._pause = pause
        self._be_dismissed = be_dismissed
        self._run_session = run_session
        self._end_process = end_process
        self._device_lost: DeviceLost | None = None
        self._answer = answer
        self._report = report
        self._asks: deque[worker_protocol.Ask] = deque()
        self._ask_arrived = Notifier()
        self._outbox = LiveOutbox()
        self._leases: dict[int, _Lease] = {}
        self._early: OrderedDict[int, None] = OrderedDict()
        self._tasks: anyio.abc.TaskGroup | None = None
        self._elsewhere: tuple[int, ...] = ()
        self._idle = Notifier()
        self._is_sending = False
        """Whether something that was taken out of the outbox is not sent yet."""

    @property
    def running(self) -> int:
        """Number of running generations and sessions."""
        return len(self._leases)

    def send_report(self) -> None:
        """Send the worker's status to the gateway."""
        self._outbox.post(self._report())

    def tell_elsewhere(self, slots: tuple[int, ...]) -> None:
        """Tell the gateway which slots work for other gateways now."""
        self._elsewhere = slots
        self._outbox.tell_elsewhere(slots)

    async def wait_idle(self) -> None:
        """Return once nothing runs, and everything was sent."""
        while self._leases or not self._outbox.empty or self._is_sending:
            await self._idle.wait()

    def lose_device(self, lost: DeviceLost) -> None:
        """The model hangs in a thread that nothing can stop: send every lease this end, then end the process."""
        for number, lease in self._leases.items():
            self._outbox.drop(number)
            if lease.session:
                self._outbox.send(number, CallSessionEnded(lost.code, lost.message, lost.status))
            else:
                self._outbox.emit(number, Failed(lost.code, lost.message, lost.status))
        self._device_lost = lost

    async def run_live(self, socket: FrameSocket) -> None:
        """Serve the live socket until it closes or breaks the protocol; every lease has ended when this returns. There is one
        gateway: while its live socket is open, another is refused."""
        if self._tasks is not None:
            log.error("a second live socket was refused")
            return
        self._outbox = LiveOutbox()
        self.send_report()
        if self._elsewhere:
            self._outbox.tell_elsewhere(self._elsewhere)
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                tasks.start_soon(self._write, socket, tasks.cancel_scope)
                tasks.start_soon(self._answer_asks)
                await self._read(socket)
                tasks.cancel_scope.cancel()
        finally:
            self._tasks = None
            self._leases.clear()
            self._asks.clear()
            self._outbox, self._is_sending = LiveOutbox(), False
            self._idle.notify()

    async def run_bulk(self, socket: FrameSocket) -> None:
        """Serve the bulk socket until it closes."""
        await self._read(socket)

    async def _read(self, socket: FrameSocket) -> None:
        joiner = worker_protocol.FragmentJoiner()
        try:
            while True:
                for message in worker_protocol.decode_down(await socket.receive()):
                    self._handle(message, joiner)
        except EOFError:
            return
        except ValueError as error:  # msgspec's validation errors are ValueErrors too
            log.error("the gateway broke the protocol: %s", error)

    async def _write(self, socket: FrameSocket, scope: anyio.CancelScope) -> None:
        outbox = self._outbox
        try:
            while True:
                messages = await outbox.take()
                self._is_sending = True
                for frame in outbox.frames(messages):
                    await socket.send(frame)
                self._is_sending = False
                if self._device_lost is not None and outbox.empty and self._end_process is not None:
                    self._end_process(self._device_lost)
                if not self._leases:
                    self._idle.notify()
                if _has_text(messages):
                    await self._pause(FRAME_PAUSE)
        except EOFError:
            scope.cancel()

    def _handle(self, message: worker_protocol.Down, joiner: worker_protocol.FragmentJoiner) -> None:
        match message:
            case worker_protocol.Begin(lease) | worker_protocol.Open(lease):
                if lease in self._early:
                    del self._early[lease]
                    self._outbox.post(worker_protocol.Closed(lease))
                elif self._tasks is not None:
                    is_session = isinstance(message, worker_protocol.Open)
                    self._leases[lease] = _Lease(message.window, session=is_session)
                    self._tasks.start_soon(self._run, message)
            case worker_protocol.SendControls(lease, controls):
                if (running := self._leases.get(lease)) is not None:
                    running.inbox.put(controls)
            case worker_protocol.Cancel(lease):
                if (running := self._leases.get(lease)) is not None:
                    running.scope.cancel()
                else:
                    self._early[lease] = None
                    while len(self._early) > EARLY_CANCELS:
                        self._early.popitem(last=False)
            case worker_protocol.Grant(lease, count):
                if (running := self._leases.get(lease)) is not None:
                    running.grant(count)
            case worker_protocol.EndThought(lease):
                if (running := self._leases.get(lease)) is not None:
                    running.controls.end_thought()
            case worker_protocol.Ask():
                self._queue_ask(message)
            case worker_protocol.Beat(number):
                self._outbox.post(worker_protocol.Beaten(number))
            case worker_protocol.Dismiss():
                for running in self._leases.values():
                    running.scope.cancel()
                if self._be_dismissed is not None:
                    self._be_dismissed(message)
            case worker_protocol.Fragment():
                if (frame := joiner.add(message)) is not None:
                    for inner in worker_protocol.decode_down(frame):
                        self._handle(inner, joiner)

    def _queue_ask(self, ask: worker_protocol.Ask) -> None:
        if self._tasks is None:
            return
        if len(self._asks) >= worker_protocol.MAX_ASKS:
            sentence = "Too many questions wait for this model. Try again in a moment."
            self._outbox.post(
                worker_protocol.AskAnswered(ask.ask, code=Busy.code, message=sentence, status=Busy.status)
            )
            return
        self._asks.append(ask)
        self._ask_arrived.notify()

    async def _answer_asks(self) -> None:
        """Answer the questions one after another, so that at most one of them delays a reply."""
        while True:
            while not self._asks:
                await self._ask_arrived.wait()
            self._outbox.post(await self._answer_ask(self._asks.popleft()))

    async def _answer_ask(self, ask: worker_protocol.Ask) -> worker_protocol.AskAnswered:
        try:
            return worker_protocol.AskAnswered(ask.ask, await self._answer(ask.question))
        except Problem as problem:
            return worker_protocol.AskAnswered(
                ask.ask,
                code=problem.code,
                message=problem.message,
                status=problem.status,
                param=problem.param,
            )
        except Exception:
            log.exception("a question could not be answered: %s", type(ask.question).__name__)
            sentence = "The model's worker failed to answer. The server's log has the reason."
            return worker_protocol.AskAnswered(ask.ask, code=Problem.code, message=sentence)

    async def _run(self, message: worker_protocol.Begin | worker_protocol.Open) -> None:
        lease = self._leases[message.lease]
        outbox = self._outbox
        try:
            with lease.scope:
                if isinstance(message, worker_protocol.Begin):
                    await self._generate(message, self._emitter(message.lease, lease), lease.controls)
                else:
                    await self._session(message, lease)
            if lease.scope.cancelled_caught:
                outbox.drop(message.lease)
        except DeviceLost as lost:
            self._device_lost = lost
        except Exception:
            log.exception("request %s failed", message.request_id)
            code, sentence = (
                "internal_error",
                "The request failed unexpectedly. The server's log has the reason under request "
                f"{message.request_id or 'unknown'}.",
            )
            if isinstance(message, worker_protocol.Begin):
                outbox.emit(message.lease, Failed(code, sentence))
            else:
                outbox.send(message.lease, CallSessionEnded(code, sentence))
        finally:
            self._leases.pop(message.lease, None)
            outbox.post(worker_protocol.Closed(message.lease))

    def _emitter(self, number: int, lease: _Lease) -> Emit:
        outbox = self._outbox

        async def emit(event: Event) -> None:
            # No coroutine for each token while there is credit.
            if lease.credit > 0:
                lease.credit -= 1
            else:
                await lease.spend()
            outbox.emit(number, event)

        return emit

    async def _session(self, opening: worker_protocol.Open, lease: _Lease) -> None:
        """Run a call, a speech request or a transcription, and send its `CallSessionEnded`. Raises DeviceLost after it."""
        outbox = self._outbox

        async def send(event: CallEvent) -> None:
            await lease.spend()
            outbox.send(opening.lease, event)

        try:
            if self._run_session is None:
                raise Unsupported("This worker has no voice. Calls need a voice worker.")
            await self._run_session(opening, lease.inbox, send)
        except Problem as problem:
            end = CallSessionEnded(problem.code, problem.message, problem.status)
            lost = problem if isinstance(problem, DeviceLost) else None
        else:
            end, lost = CallSessionEnded(), None
        # Without credit: a client that reads nothing must still learn of the end, and its seat must become free.
        outbox.send(opening.lease, end)
        if lost is not None:
            raise lost


def _has_text(messages: Iterable[worker_protocol.Up]) -> bool:
    """Whether text goes out with these. What comes before the first text of a reply does not count: that follows at once."""
    return any(
        isinstance(event, TextDelta | ReasoningDelta | ToolCallDelta)
        for message in messages
        if isinstance(message, worker_protocol.Emit)
        for event in message.events
    )
