"""One call, as the gateway has it: a seat in a voice worker, the replies it asks for, and what is remembered.

Owns the way between a session and whoever makes its replies: what it wants is generated and told to it, what it keeps is
kept, in that order. A session that is lost is followed by another one, with the numbers going on. Knows no socket: what
goes to the client is handed to `write`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol

import anyio
import anyio.abc
import msgspec
from msgspec import Struct

from duologue.errors import Problem, Unavailable
from duologue.gateway.call_history import CallHistory
from duologue.gateway.lease import Lease
from duologue.gateway.link import WORKER_LOST
from duologue.gateway.pool import RESTARTED, Pool
from duologue.gateway.relay import CALL, Generate
from duologue.values import calls
from duologue.values.calls import CallControl, CallEvent, CallSetup
from duologue.values.events import Done, Event, Failed, Queued, TextDelta, ToolCallDelta, Word
from duologue.values.messages import ImagePart, Message, TextPart, ToolCall, assistant
from duologue.values.requests import ChatRequest
from duologue.wire import voice
from duologue.wire.reply import Reply

log = logging.getLogger(__name__)

SEAT = "voice"
"""The name under which a voice worker's seats are asked for."""
TOOL_PATIENCE = 60.0
"""Seconds a client has to answer a call of its own tool."""
MOST_TURNS = 10
"""Model turns of one reply: a model that goes on calling tools is stopped there."""
EARLY = 64
"""Controls that wait for a seat, the oldest forgotten first: about a second of sound. Who waits longer is told so, and would
not want to be answered later what was said to nobody."""
LOST = {
    "en": "Sorry, I lost the thread for a moment. Please go on.",
    "de": "Entschuldigung, ich war kurz weg. Bitte weiter.",
}
SORRY = {
    "en": "Sorry, I cannot answer that right now.",
    "de": "Entschuldigung, das kann ich gerade nicht beantworten.",
}

Write = Callable[[Sequence[str | bytes]], Awaitable[None]]


Prepare = Callable[[CallSetup], Awaitable[CallSetup]]


class Dialect(Protocol):
    """What a call says, in the words of its socket. It lets nothing out that is stale."""

    @property
    def epoch(self) -> int: ...

    def encode(self, events: Iterable[CallEvent]) -> Sequence[str | bytes]: ...

    def queued(self, event: Queued, again: bool) -> Sequence[str | bytes]: ...

    def seated(self, waited: bool) -> Sequence[str | bytes]: ...

    def waiting(self, epoch: int) -> Sequence[str | bytes]: ...

    def trouble(self, problem: Problem) -> Sequence[str | bytes]: ...

    def tool_calls(self, reply: int, asked: Iterable[ToolCall]) -> Sequence[str | bytes]: ...


class CallEnded(Exception):
    """The call is over; `problem` says why, where its client does not know."""

    def __init__(self, problem: Problem | None = None) -> None:
        self.problem = problem


class _Heard(Struct):
    """A reply as far as the gateway sees it: what to keep of it, and of the turn it answers, should its session be lost."""

    turn: int
    asked: str
    text: str = ""
    words: list[Word] = []
    played: int = 0
    kept: bool = False
    """Whether the turn it answers is kept already."""

    @property
    def heard(self) -> str:
        return self.text[: max((word.to for word in self.words if word.end <= self.played), default=0)]


class Call:
    """From its seat to its end. `run` returns or raises CallEnded when it is over.

    `kind` is what its seat is counted as; `prepare` is awaited once the first seat is there, and says how the call is to be.
    """

    def __init__(
        self,
        seats: Pool,
        generate: Generate,
        history: CallHistory,
        encoder: Dialect,
        write: Write,
        *,
        user: str = "local",
        request_id: str = "",
        kind: str = "call",
        prepare: Prepare | None = None,
        observe: Callable[[calls.TurnFigures], None] = lambda figures: None,
    ) -> None:
        self._seats, self._generate, self._history = seats, generate, history
        self._encoder, self._write = encoder, write
        self._user, self._request_id = user, request_id
        self._observe = observe
        self._kind, self._prepare = kind, prepare
        self._lease: Lease | None = None
        self._early: deque[CallControl] = deque(maxlen=EARLY)
        self._replies: dict[int, anyio.CancelScope] = {}
        self._awaited: dict[str, _Awaited] = {}
        self._turns: dict[int, list[Message]] = {}
        self._images: list[ImagePart] = []
        self._heard: dict[int, _Heard] = {}
        self._last = (0, 0)
        self._language = "en"
        self.active = anyio.current_time()
        """When somebody last said something, in the event loop's seconds."""

    # ---- what the client says

    def tell(self, *controls: CallControl) -> None:
        """Pass these on to the session; while there is none yet, the newest wait for it."""
        for control in controls:
            if isinstance(control, calls.Played) and (heard := self._heard.get(control.reply)) is not None:
                heard.played = max(heard.played, control.samples)
        if self._lease is None:
            self._early.extend(controls)
        elif not self._lease.tell(0, *controls):
            log.debug("call %s: sound was dropped, the voice worker is behind", self._request_id)

    def see(self, image: ImagePart) -> None:
        """A picture for the turn it falls in: the newest one counts."""
        self._images = [image]

    def tool_result(self, result: voice.ToolResult) -> bool:
        """The client's tool has answered. False: nobody waits for it."""
        if (awaited := self._awaited.get(result.call_id)) is None:
            return False
        awaited.result = result
        awaited.arrived.set()
        return True

    # ---- running

    async def run(self, setup: CallSetup) -> None:
        """Take a seat, and another one whenever the session is lost, until cancelled or over. What was said is kept."""
        ended: CallEnded | None = None
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._history.keeping)
                try:
                    await self._seated(setup)
                except CallEnded as over:
                    ended = over
                tasks.cancel_scope.cancel()
        finally:
            await self._history.close()
        if ended is not None:
            raise ended

    async def _seated(self, setup: CallSetup) -> None:
        again = 0
        while True:
            with self._seats.lease(SEAT, kind=self._kind, user=self._user) as lease:
                await self._wait(lease)
                if self._prepare is not None:
                    setup, self._prepare = await self._prepare(setup), None
                self._language = "de" if setup.language.lower().startswith("de") else "en"
                lease.begin(0, setup, self._request_id)
                self._lease = lease
                if self._early:
                    lease.tell(0, *self._early)
                    self._early.clear()
                began = anyio.current_time()
                try:
                    await self._listen(lease)
                finally:
                    self._lease = None
            if anyio.current_time() - began > 30.0:
                again = 0
            again += 1
            if again > 3:
                raise CallEnded(
                    Unavailable("The voice keeps failing. The server's log says why.", code="voice_lost")
                )
            setup = await self._lost(setup)

    async def _wait(self, lease: Lease) -> None:
        """Tell the client of its place until there is a seat. Raises CallEnded."""
        waited = False
        try:
            async for place in lease.places():
                event = Queued(lease.ticket, place.position, place.wait, place.length)
                await self._write(self._encoder.queued(event, waited))
                waited = True
        except Problem as problem:
            raise CallEnded(problem) from None
        if said := self._encoder.seated(waited):
            await self._write(said)

    async def _listen(self, lease: Lease) -> None:
        """Carry out what the session says. Returns when it is lost; raises CallEnded when it is over."""
        async with anyio.create_task_group() as tasks:
            over: Failed | calls.Ended | None = None
            while over is None:
                events: list[CallEvent] = []
                for _, event in await lease.take():
                    if isinstance(event, Failed | calls.Ended):
                        over = event
                        break
                    self._take(event, tasks)  # type: ignore[arg-type] # a seat says nothing else
                    events.append(event)  # type: ignore[arg-type]
                if messages := self._encoder.encode(events):
                    await self._write(messages)
            tasks.cancel_scope.cancel()
        self._replies.clear()
        assert over is not None
        if isinstance(over, Failed) and over.code in (WORKER_LOST.code, RESTARTED.code):
            return
        code, message = over.code, over.message
        raise CallEnded(Problem(message, code=code, status=over.status) if code else None)

    def _take(self, event: CallEvent, tasks: anyio.abc.TaskGroup) -> None:
        match event:
            case calls.Wanted():
                self._last = (max(self._last[0], event.reply), max(self._last[1], event.turn))
                self._heard[event.reply] = _Heard(event.turn, event.text)
                scope = self._replies[event.reply] = anyio.CancelScope()
                request = self._history.request(event.text, self._images)
                tasks.start_soon(self._reply, event.reply, request, scope)
            case calls.Unwanted():
                self._heard.pop(event.reply, None)
                self._stop(event.reply)
            case calls.Cut():
                self._stop(event.reply)
            case calls.UserSaid():
                self.active = anyio.current_time()
                self._history.user_said(event.text, self._images, typed=event.typed)
                self._images = []
                for answer in self._heard.values():
                    answer.kept = answer.kept or answer.turn == event.turn
            case calls.AssistantSaid():
                self.active = anyio.current_time()
                self._last = (max(self._last[0], event.reply), self._last[1])
                self._stop(event.reply)
                if turns := self._turns.pop(event.reply, None):
                    self._history.called(turns)
                self._history.assistant_said(event.heard, event.unheard, event.ending)
                self._heard.pop(event.reply, None)
            case calls.ReplyText():
                if (heard := self._heard.get(event.reply)) is not None:
                    heard.text += event.text
            case calls.Sound():
                if (heard := self._heard.get(event.reply)) is not None:
                    heard.words.extend(event.words)
            case calls.TurnFigures():
                self._observe(event)

    def _stop(self, reply: int) -> None:
        if (scope := self._replies.pop(reply, None)) is not None:
            scope.cancel()

    async def _lost(self, setup: CallSetup) -> CallSetup:
        """The session is gone: what was heard is kept, the client drops the rest. How the next one begins."""
        log.warning("call %s lost its voice worker; it goes on in another seat", self._request_id)
        epoch = self._encoder.epoch + 1
        for reply, spoken in self._heard.items():
            if not spoken.kept:
                self._history.user_said(spoken.asked, self._images)
                self._images = []
            if turns := self._turns.pop(reply, None):
                self._history.called(turns)
            unheard = spoken.text[len(spoken.heard) :]
            said = calls.AssistantSaid(epoch, reply, spoken.heard, unheard, "interrupted")
            self._history.assistant_said(said.heard, said.unheard, said.ending)
            await self._write(self._encoder.encode([calls.Cut(epoch, reply), said]))
        self._heard.clear()
        await self._write(self._encoder.waiting(epoch))
        return msgspec.structs.replace(
            setup,
            greeting=LOST[self._language],
            epoch=epoch,
            reply=self._last[0] + 1,
            turn=self._last[1] + 1,
        )

    # ---- replies

    async def _reply(self, reply: int, request: ChatRequest, scope: anyio.CancelScope) -> None:
        """Have the reply made, and tell the session its text. Tools of the client are called in between."""
        with scope:
            for _ in range(MOST_TURNS):
                turn = await self._turn(reply, request)
                if turn is None:
                    return
                if not turn.tool_calls:
                    self.tell(calls.Text(reply, "", last=True))
                    return
                self.tell(calls.Working(reply))
                results = await self._results(reply, turn)
                self.tell(calls.Working(reply, busy=False))
                said = [msgspec.structs.replace(assistant(turn.text), tool_calls=turn.tool_calls), *results]
                self._turns.setdefault(reply, []).extend(said)
                request = msgspec.structs.replace(request, messages=(*request.messages, *said))
            self.tell(calls.Broken(reply, SORRY[self._language]))

    async def _turn(self, reply: int, request: ChatRequest) -> Reply | None:
        """One model turn, told as it comes; None where it failed, which was said. A worker that is lost before it has said
        anything is asked once more: it comes back."""
        for attempt in (1, 2):
            turn, failed = Reply(), None
            async with self._generate(
                request, kind=CALL, request_id=self._request_id, user=self._user
            ) as batches:
                async for batch in batches:
                    failed = self._say(reply, turn, (event for _, event in batch)) or failed
            if failed is None:
                return turn
            if attempt == 1 and failed.code == WORKER_LOST.code and not turn.text:
                continue
            await self._write(self._encoder.trouble(Problem(failed.message, code=failed.code)))
            self.tell(calls.Broken(reply, SORRY[self._language]))
            return None
        raise AssertionError("the second try ends in one way or the other")

    def _say(self, reply: int, turn: Reply, events: Iterable[Event]) -> Failed | None:
        text: list[str] = []
        failed: Failed | None = None
        for event in events:
            if isinstance(event, Failed):
                failed = event
            elif isinstance(event, TextDelta | ToolCallDelta | Done):
                turn.add(event)
                if isinstance(event, TextDelta):
                    text.append(event.text)
        if text:
            self.tell(calls.Text(reply, "".join(text)))
        return failed

    async def _results(self, reply: int, turn: Reply) -> list[Message]:
        """What the client's tools answer; one that does not is said to have been silent."""
        waiting = [_Awaited(call.id) for call in turn.tool_calls]
        self._awaited |= {awaited.id: awaited for awaited in waiting}
        try:
            await self._write(self._encoder.tool_calls(reply, turn.tool_calls))
            with anyio.move_on_after(TOOL_PATIENCE):
                for awaited in waiting:
                    await awaited.arrived.wait()
        finally:
            for awaited in waiting:
                self._awaited.pop(awaited.id, None)
        return [awaited.message() for awaited in waiting]


class _Awaited:
    """A call of the client's tool, and its answer once there is one."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.arrived = anyio.Event()
        self.result: voice.ToolResult | None = None

    def message(self) -> Message:
        silent = f"The tool has not answered within {TOOL_PATIENCE:.0f} seconds."
        text = silent if self.result is None else self.result.content
        return Message("tool", (TextPart(text),), tool_call_id=self.id)
