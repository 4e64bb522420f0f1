"""One call, as the gateway has it: a seat in a voice worker, the replies it asks for, and what is remembered.

Owns the way between a session and whoever makes its replies: what it wants is begun, what it keeps is kept, in that
order. A session that is lost is followed by another one, with the numbers going on. Knows no socket: what goes to the
client is handed to `write`.
"""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

import anyio
import anyio.abc
import msgspec

from duologue.conversations.agent.approvals import ApprovalReply as Decided
from duologue.errors import Busy, Problem, Unavailable
from duologue.gateway.calls.dialect import Dialect, Write
from duologue.gateway.calls.history import CallHistory
from duologue.gateway.calls.prefill_ahead import ReadAhead
from duologue.gateway.calls.replies import CallReplies
from duologue.gateway.calls.spoken_approvals import DELETED, LOST
from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.voice_seats import SEAT
from duologue.values import call_events
from duologue.values.call_events import CallControl, CallEvent, CallSetup
from duologue.values.conversations import StoredMessage
from duologue.values.events import Failed, Queued
from duologue.values.failures import RESTARTED, WORKER_LOST
from duologue.values.generate import Generate
from duologue.values.messages import ImagePart
from duologue.wire import voice

log = logging.getLogger(__name__)

EARLY = 64
"""Controls that wait for a seat: about a second of sound, the oldest forgotten first. Who waits longer is told so, and would
not want to be answered later what was said to nobody. What was typed or pressed meanwhile is never forgotten."""
FAREWELL = 8.0
"""Seconds the last sentence of a call may take."""

CROWDED = "This call has no seat yet, and more was typed and pressed than can wait for one. Say it again when it has begun."
GONE = "The conversation of this call was deleted, so the call has ended."

Prepare = Callable[[CallSetup], Awaitable[CallSetup]]


class CallEnded(Exception):
    """The call is over; `problem` says why, where its client does not know."""

    def __init__(self, problem: Problem | None = None) -> None:
        self.problem = problem


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
        observe: Callable[[call_events.TurnFigures], None] = lambda figures: None,
        read_ahead: ReadAhead | None = None,
        context_of: Callable[[str], int] = lambda model: 0,
    ) -> None:
        self._seats, self._history = seats, history
        self._encoder, self._write = encoder, write
        self._user, self._request_id = user, request_id
        self._observe = observe
        self._replies = CallReplies(
            generate,
            history,
            encoder,
            write,
            self.tell,
            user=user,
            request_id=request_id,
            read_ahead=read_ahead,
            context_of=context_of,
        )
        self._kind, self._prepare = kind, prepare
        self._lease: Lease | None = None
        self._early: deque[CallControl] = deque()
        self._last = (0, 0)
        self._ended: CallEnded | None = None
        self._farewell: anyio.Event | None = None
        self.seated_at = math.inf
        """When it had its first seat, in the event loop's seconds."""
        self.active = math.inf
        """When somebody last said something, likewise, or could begin to: nobody can while it waits for a seat."""

    # ---- what the client says

    def tell(self, *controls: CallControl) -> None:
        """Pass these on to the session; while there is none yet, they wait for it. Raises Busy where too much waits."""
        for control in controls:
            match control:
                case call_events.Played(reply, samples):
                    self._replies.played(reply, samples)
                case call_events.Interrupt():
                    self._replies.hush()
        if self._lease is None:
            for control in controls:
                self._hold(control)
        elif not self._lease.tell(0, *controls):
            log.debug("call %s: sound was dropped, the voice worker is behind", self._request_id)

    def _hold(self, control: CallControl) -> None:
        """Until there is a seat. Of a reply that was lost with the last one nobody will ask how much was played."""
        if isinstance(control, call_events.Played):
            return
        if len(self._early) >= EARLY:
            sound = next(
                (held for held in self._early if isinstance(held, call_events.MicrophoneAudio)), None
            )
            if sound is not None:
                self._early.remove(sound)
            elif isinstance(control, call_events.MicrophoneAudio):
                return
            else:
                raise Busy(CROWDED)
        self._early.append(control)

    def see(self, image: ImagePart) -> None:
        """A picture for the turn it falls in: the newest one counts."""
        self._replies.see(image)

    def tool_result(self, result: voice.ClientToolResult) -> bool:
        """The client's tool has answered. False: nobody waits for it."""
        return self._replies.tool_result(result)

    async def approve(self, id: str, decided: Decided, values: dict[str, object]) -> bool:
        """A question was answered on the screen. False: it is not open. Raises Problem."""
        return await self._replies.approve(id, decided, values)

    # ---- running

    async def run(self, setup: CallSetup) -> None:
        """Take a seat, and another one whenever the session is lost, until cancelled or over. What was said is kept."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._replies.run)
                tasks.start_soon(self._keep, tasks.cancel_scope)
                try:
                    await self._seated(setup)
                except CallEnded as over:
                    self._ended = over
                tasks.cancel_scope.cancel()
        finally:
            self._replies.ended()
            await self._history.close()
        if self._ended is not None:
            raise self._ended

    # ---- what others do to its conversation

    async def _keep(self, scope: anyio.CancelScope) -> None:
        await self._history.keeping(self)
        if self._farewell is not None:
            self._ended = CallEnded(Problem(GONE, code="conversation_deleted", status=410))
            scope.cancel()

    async def rewritten(self, leaf: str | None, path: Sequence[StoredMessage]) -> None:
        """It is another than it was: the client is told what the next reply goes on from."""
        await self._write(self._encoder.rewritten(self._history.surroundings.conversation, leaf, path))

    async def deleted(self) -> None:
        """There is nothing to go on with: say so, and return when that was heard."""
        self._farewell = anyio.Event()
        self._early.clear()
        self.tell(
            call_events.Interrupt(), call_events.Speak(DELETED[self._replies.language], interruptible=False)
        )
        with anyio.move_on_after(FAREWELL):
            await self._farewell.wait()

    # ---- its session

    async def _seated(self, setup: CallSetup) -> None:
        again = 0
        while True:
            with self._seats.lease(SEAT, kind=self._kind, user=self._user) as lease:
                await self._wait(lease)
                self.active = anyio.current_time()
                self.seated_at = min(self.seated_at, self.active)
                if self._prepare is not None:
                    setup, self._prepare = await self._prepare(setup), None
                self._replies.language = "de" if setup.language.lower().startswith("de") else "en"
                lease.begin(0, setup, self._request_id)
                self._lease = lease
                if self._early:
                    lease.tell(0, *self._early)
                    self._early.clear()
                began = anyio.current_time()
                try:
                    await self._listen(lease)
                finally:
                    self._lease, self.active = None, math.inf
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
            self._replies.foresee("", tasks)
            over: Failed | call_events.CallSessionEnded | None = None
            while over is None:
                events: list[CallEvent] = []
                for _, event in await lease.take():
                    if isinstance(event, Failed | call_events.CallSessionEnded):
                        over = event
                        break
                    self._take(event, tasks)  # type: ignore[arg-type] # a seat says nothing else
                    events.append(event)  # type: ignore[arg-type]
                if messages := self._encoder.encode(events):
                    await self._write(messages)
            tasks.cancel_scope.cancel()
        assert over is not None
        if isinstance(over, Failed) and over.code in (WORKER_LOST.code, RESTARTED.code):
            return
        code, message = over.code, over.message
        raise CallEnded(Problem(message, code=code, status=over.status) if code else None)

    def _take(self, event: CallEvent, tasks: anyio.abc.TaskGroup) -> None:
        replies = self._replies
        match event:
            case call_events.PartialTurn():
                replies.foresee(event.text, tasks)
            case call_events.ReplyRequested():
                self._last = (max(self._last[0], event.reply), max(self._last[1], event.turn))
                if self._farewell is None:
                    replies.wanted(event, tasks)
            case call_events.TurnConfirmed():
                replies.released(event.reply)
            case call_events.CancelReply():
                replies.unwanted(event.reply)
            case call_events.Cut():
                replies.cut(event.reply)
            case call_events.UserSaid():
                self.active = anyio.current_time()
                replies.user_said(event)
            case call_events.AssistantSaid():
                self.active = anyio.current_time()
                self._last = (max(self._last[0], event.reply), self._last[1])
                replies.assistant_said(event)
                if self._farewell is not None and event.heard in DELETED.values():
                    self._farewell.set()
            case call_events.ReplyText():
                replies.sounded(event.reply, text=event.text)
            case call_events.ReplyAudio():
                replies.sounded(event.reply, words=event.words)
            case call_events.TurnFigures():
                self._observe(event)

    async def _lost(self, setup: CallSetup) -> CallSetup:
        """The session is gone: what was heard is kept, the client drops the rest. How the next one begins."""
        log.warning("call %s lost its voice worker; it goes on in another seat", self._request_id)
        epoch = self._encoder.epoch + 1
        for said in self._replies.ended():
            said = msgspec.structs.replace(said, epoch=epoch)
            await self._write(self._encoder.encode([call_events.Cut(epoch, said.reply), said]))
        await self._write(self._encoder.waiting(epoch))
        return msgspec.structs.replace(
            setup,
            greeting=LOST[self._replies.language],
            epoch=epoch,
            reply=self._last[0] + 1,
            turn=self._last[1] + 1,
        )
