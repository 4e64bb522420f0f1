"""The worker's end of the internal protocol: leases begun, cancelled and paced, their events packed into frames.

Owns the running leases, one task each, what the calls among them are told, the line of counts, and the outbox. Knows
no model and no public dialect: what a lease does is handed in as `serve(begin, emit)`, what a call, a speech or a
transcription does as `attend(opened, inbox, tell)`, how a prompt is counted as `count(count)`.
"""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from typing import Protocol

import anyio
import anyio.abc

from duologue.errors import Busy, Problem, Unsupported
from duologue.values.call_events import CallEvent, CallSessionEnded
from duologue.values.events import Event, Failed
from duologue.wire import worker_protocol
from duologue.worker.inbox import ControlInbox

log = logging.getLogger(__name__)

Emit = Callable[[Event], Awaitable[None]]
Serve = Callable[[worker_protocol.Begin, Emit], Awaitable[None]]
Tell = Callable[[CallEvent], Awaitable[None]]
Attend = Callable[[worker_protocol.Open, ControlInbox, Tell], Awaitable[None]]
Count = Callable[[worker_protocol.Count], Awaitable[worker_protocol.Counted]]

EARLY_CANCELS = 1024
"""A cancel on the live socket may overtake its large request on the bulk socket; so many are remembered."""


class Socket(Protocol):
    """What a link needs of a WebSocket; raises EOFError once it is closed."""

    async def receive(self) -> bytes: ...

    async def send(self, frame: bytes) -> None: ...


class _Lease:
    """Running work: its scope, how many events it may still send, and where what it is told waits."""

    def __init__(self, credit: int) -> None:
        self.scope = anyio.CancelScope()
        self.inbox = ControlInbox()
        self.credit = credit
        self.granted = anyio.Event()

    def grant(self, count: int) -> None:
        self.credit += count
        self.granted.set()

    async def spend(self) -> None:
        """Take one event's credit, waiting for the gateway to grant more when there is none."""
        while self.credit <= 0:
            self.granted = anyio.Event()
            await self.granted.wait()
        self.credit -= 1


class LiveOutbox:
    """What waits for the live socket's writer, by lease. Bounded by the leases' credit."""

    def __init__(self) -> None:
        self._events: dict[int, list[Event]] = {}
        self._told: dict[int, list[CallEvent]] = {}
        self._rest: list[worker_protocol.Up] = []
        self._posted = anyio.Event()

    def emit(self, lease: int, event: Event) -> None:
        events = self._events.get(lease)
        if events is None:
            self._events[lease] = [event]
            self._posted.set()
        else:
            events.append(event)

    def tell(self, lease: int, event: CallEvent) -> None:
        """An event of a call, a speech or a transcription."""
        self._told.setdefault(lease, []).append(event)
        self._posted.set()

    def post(self, message: worker_protocol.Up) -> None:
        """A message that comes after every event emitted so far."""
        self._rest.append(message)
        self._posted.set()

    def drop(self, lease: int) -> None:
        """Forget the events of a lease that was cancelled."""
        self._events.pop(lease, None)
        self._told.pop(lease, None)

    async def take(self) -> list[worker_protocol.Up]:
        await self._posted.wait()
        self._posted = anyio.Event()
        events, self._events = self._events, {}
        told, self._told = self._told, {}
        rest, self._rest = self._rest, []
        messages: list[worker_protocol.Up] = [
            worker_protocol.Emit(lease, tuple(some)) for lease, some in events.items()
        ]
        messages += [worker_protocol.CallEvents(lease, tuple(some)) for lease, some in told.items()]
        return messages + rest


class WorkerLink:
    """The leases of one gateway connection. When the live socket closes, all of them end."""

    def __init__(
        self,
        serve: Serve,
        count: Count,
        report: Callable[[], worker_protocol.Report],
        attend: Attend | None = None,
    ) -> None:
        self._serve = serve
        self._attend = attend
        self._count = count
        self._report = report
        self._asks: deque[worker_protocol.Count] = deque()
        self._asked = anyio.Event()
        self._outbox = LiveOutbox()
        self._leases: dict[int, _Lease] = {}
        self._early: OrderedDict[int, None] = OrderedDict()
        self._tasks: anyio.abc.TaskGroup | None = None

    @property
    def running(self) -> int:
        """How many generations, calls, speeches and transcriptions run."""
        return len(self._leases)

    def changed(self) -> None:
        """Tell the gateway how the worker is now."""
        self._outbox.post(self._report())

    async def run_live(self, socket: Socket) -> None:
        """Serve the live socket until it closes or breaks the protocol; then every lease ends before this returns.
        There is one gateway: while its live socket is open, another is turned away."""
        if self._tasks is not None:
            log.error("a second live socket was turned away")
            return
        self._outbox = LiveOutbox()
        self.changed()
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                tasks.start_soon(self._write, socket, tasks.cancel_scope)
                tasks.start_soon(self._answer)
                await self._read(socket)
                tasks.cancel_scope.cancel()
        finally:
            self._tasks = None
            self._leases.clear()
            self._asks.clear()

    async def run_bulk(self, socket: Socket) -> None:
        """Serve the bulk socket until it closes."""
        await self._read(socket)

    async def _read(self, socket: Socket) -> None:
        joiner = worker_protocol.Joiner()
        try:
            while True:
                for message in worker_protocol.decode_down(await socket.receive()):
                    self._handle(message, joiner)
        except EOFError:
            return
        except ValueError as error:  # msgspec's validation errors are ValueErrors too
            log.error("the gateway broke the protocol: %s", error)

    async def _write(self, socket: Socket, scope: anyio.CancelScope) -> None:
        try:
            while True:
                await socket.send(worker_protocol.encode(await self._outbox.take()))
        except EOFError:
            scope.cancel()

    def _handle(self, message: worker_protocol.Down, joiner: worker_protocol.Joiner) -> None:
        match message:
            case worker_protocol.Begin(lease) | worker_protocol.Open(lease):
                if lease in self._early:
                    del self._early[lease]
                    self._outbox.post(worker_protocol.Closed(lease))
                elif self._tasks is not None:
                    self._leases[lease] = _Lease(message.window)
                    self._tasks.start_soon(self._run, message)
            case worker_protocol.Tell(lease, controls):
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
            case worker_protocol.Count():
                self._ask(message)
            case worker_protocol.Fragment():
                if (frame := joiner.add(message)) is not None:
                    for inner in worker_protocol.decode_down(frame):
                        self._handle(inner, joiner)

    def _ask(self, count: worker_protocol.Count) -> None:
        if self._tasks is None:
            return
        if len(self._asks) >= worker_protocol.ASKS:
            words = "This worker has more prompts to count than it takes at a time."
            self._outbox.post(
                worker_protocol.Counted(count.ask, code=Busy.code, message=words, status=Busy.status)
            )
            return
        self._asks.append(count)
        self._asked.set()

    async def _answer(self) -> None:
        """Answer the counts one after another, so that at most one of them is in a reply's way."""
        while True:
            await self._asked.wait()
            self._asked = anyio.Event()
            while self._asks:
                count = self._asks.popleft()
                self._outbox.post(await self._counted(count))

    async def _counted(self, count: worker_protocol.Count) -> worker_protocol.Counted:
        try:
            return await self._count(count)
        except Problem as problem:
            return worker_protocol.Counted(
                count.ask, code=problem.code, message=problem.message, status=problem.status
            )
        except Exception:
            log.exception("a prompt could not be counted")
            words = "Something broke while the prompt was counted; the server's log says what."
            return worker_protocol.Counted(count.ask, code=Problem.code, message=words)

    async def _run(self, message: worker_protocol.Begin | worker_protocol.Open) -> None:
        lease = self._leases[message.lease]
        outbox = self._outbox
        try:
            with lease.scope:
                if isinstance(message, worker_protocol.Begin):
                    await self._serve(message, self._emitter(message.lease, lease))
                else:
                    await self._attended(message, lease)
            if lease.scope.cancelled_caught:
                outbox.drop(message.lease)
        except Exception:
            log.exception("request %s failed", message.request_id)
            code, sentence = (
                "internal_error",
                "Something broke while this was answered; the server's log has it under request "
                f"{message.request_id or 'unknown'}.",
            )
            if isinstance(message, worker_protocol.Begin):
                outbox.emit(message.lease, Failed(code, sentence))
            else:
                outbox.tell(message.lease, CallSessionEnded(code, sentence))
        finally:
            self._leases.pop(message.lease, None)
            outbox.post(worker_protocol.Closed(message.lease))

    def _emitter(self, number: int, lease: _Lease) -> Emit:
        outbox = self._outbox

        async def emit(event: Event) -> None:
            if lease.credit > 0:
                lease.credit -= 1
            else:
                await lease.spend()
            outbox.emit(number, event)

        return emit

    async def _attended(self, opened: worker_protocol.Open, lease: _Lease) -> None:
        """A call, a speech or a transcription, to its `CallSessionEnded`."""
        outbox = self._outbox

        async def tell(event: CallEvent) -> None:
            await lease.spend()
            outbox.tell(opened.lease, event)

        try:
            if self._attend is None:
                raise Unsupported("This worker has no voice; calls are for a voice worker.")
            await self._attend(opened, lease.inbox, tell)
        except Problem as problem:
            ended = CallSessionEnded(problem.code, problem.message, problem.status)
        else:
            ended = CallSessionEnded()
        # An end waits for no credit: whoever takes nothing is told so, and gets the seat back.
        outbox.tell(opened.lease, ended)
