"""One call in the gateway: its seat, the replies that its session asks for or makes itself, and its history.

Owns the order of things between session, replies and history. When a session is lost, another one continues with the same
numbers. Does not know the socket: messages go to `write`. Run by `VoiceSocket` and `DuplexSession`.
"""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack

import anyio
import anyio.abc
import msgspec

from duologue.errors import Busy, Problem, Unavailable, WorkerLost
from duologue.gateway.calls.call_seat import CallSeat
from duologue.gateway.calls.dialect import Dialect, Write
from duologue.gateway.calls.history import CallHistory
from duologue.gateway.calls.native_prompt import native_messages
from duologue.gateway.calls.native_turns import NativeTurns, Transcribe
from duologue.gateway.calls.observer import CallObserver
from duologue.gateway.calls.prefill_ahead import ReadAhead
from duologue.gateway.calls.replies import CallReplies
from duologue.gateway.calls.spoken_approvals import DELETED, LOST, wording
from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.scheduling.request_meter import UNMETERED
from duologue.gateway.scheduling.work_observer import WorkObserver
from duologue.notifier import Notifier
from duologue.values import call_events
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE, samples
from duologue.values.call_events import CallControl, CallEvent, CallSetup, OmniSetup
from duologue.values.conversations import StoredMessage
from duologue.values.events import RESTARTED, WORKER_LOST, Failed, Queued
from duologue.values.generate import Generate
from duologue.values.messages import ImagePart

log = logging.getLogger(__name__)

MAX_HELD = 64
"""Controls held while the call has no seat: about a second of sound, of which the oldest is dropped first. Callers in a queue
are told so, and do not expect an answer to what they said there. What was typed or pressed is never dropped."""
FAREWELL_TIMEOUT = 8.0
"""Seconds the last sentence of a call may take."""
STABLE = 30.0
"""Seconds after which a session counts as a good one, and the restarts before it are forgotten."""
MAX_RESTARTS = 3
SOUND = call_events.MicrophoneAudio | call_events.CallChunk | call_events.CallFrame
REPLYING = ("thinking", "speaking", "paused")
"""States in which a reply is made or spoken."""

TOO_MUCH_HELD = (
    "This call is still waiting for a seat and cannot hold more input. Try again when it has begun."
)
NATIVE_LOST = "The model stopped unexpectedly and is being restarted. The call continues after that, with everything said so far."
CONVERSATION_DELETED = "The conversation of this call was deleted, so the call has ended."

Prepare = Callable[[CallSetup, Lease], Awaitable[CallSetup]]


class CallEnded(Exception):
    """The call is over; `problem` is the reason, None where the client has ended it."""

    def __init__(self, problem: Problem | None = None) -> None:
        self.problem = problem


class Call:
    """From its first seat to its end. `run` returns or raises CallEnded when it is over.

    `prepare` is awaited once the first seat is there, and completes the setup; it may use a seat of the voice for something else before.
    `revoice` is awaited with each further seat, whose worker may speak with other voices.
    `transcribe` writes down what is said in a call that its model holds by itself.
    """

    def __init__(
        self,
        seat: CallSeat,
        generate: Generate,
        history: CallHistory,
        encoder: Dialect,
        write: Write,
        *,
        user: str = "local",
        request_id: str = "",
        prepare: Prepare | None = None,
        revoice: Prepare | None = None,
        transcribe: Transcribe | None = None,
        observe: WorkObserver | None = None,
        read_ahead: ReadAhead | None = None,
        context_of: Callable[[str], int] = lambda model: 0,
    ) -> None:
        self.seat, self._history = seat, history
        self._encoder, self._write = encoder, write
        self._user, self._request_id = user, request_id
        self._observe = observe or WorkObserver()
        self.replies = CallReplies(
            generate,
            history,
            encoder,
            write,
            self.send,
            user=user,
            request_id=request_id,
            read_ahead=read_ahead,
            context_of=context_of,
        )
        self._native = NativeTurns(history, self._tell, transcribe) if seat.native else None
        self._turns: NativeTurns | CallReplies = self._native or self.replies
        self._prepare, self._revoice = prepare, revoice
        self._next: CallSetup | None = None
        self._lease: Lease | None = None
        self._metered = UNMETERED
        self._paused = False
        self._held: deque[CallControl] = deque()
        self._last_reply, self._last_turn = 0, 0
        self._ended: CallEnded | None = None
        self._farewell: anyio.Event | None = None
        self._state: call_events.CallState = "listening"
        self._state_changed = Notifier()
        self.observer: CallObserver | None = None
        """Who looks on; may come and go while the call runs."""
        self.seated_at = math.inf
        """When it got its first seat, in the event loop's seconds."""
        self.active_at = math.inf
        """When either side last spoke, likewise. It starts with each seat, and is infinite while the call waits for one."""

    # ---- from the client

    def send(self, *controls: CallControl) -> None:
        """Send controls to the session, or hold them until there is one. Raises Busy where too many are held."""
        for control in controls:
            if self.observer is not None:
                self.observer.client_sent(control)
            match control:
                case call_events.Played(reply, played):
                    self._turns.set_played(reply, played)
                case call_events.Interrupt():
                    self.replies.silence()
                case call_events.MicrophoneAudio(pcm) | call_events.CallChunk(pcm):
                    self._metered.heard(samples(pcm) / HEARD_RATE)
        if self._lease is None:
            for control in controls:
                self._hold(control)
        elif not self._lease.send(0, *controls):
            log.debug("call %s: sound was dropped, its worker is behind", self._request_id)

    def _hold(self, control: CallControl) -> None:
        # The replies of the lost session are gone, so nobody needs to know how much of them was played.
        if isinstance(control, call_events.Played):
            return
        if isinstance(control, call_events.CallChunk):
            control = msgspec.structs.replace(control, frames=())
        if isinstance(control, call_events.CallFrame):
            # Only the newest counts, and each may have megabytes.
            for held in [held for held in self._held if isinstance(held, call_events.CallFrame)]:
                self._held.remove(held)
        if len(self._held) >= MAX_HELD:
            sound = next((held for held in self._held if isinstance(held, SOUND)), None)
            if sound is not None:
                self._held.remove(sound)
            elif isinstance(control, SOUND):
                return
            else:
                raise Busy(TOO_MUCH_HELD)
        self._held.append(control)

    def pause(self, paused: bool) -> None:
        """The client sends nothing for a while, or sends again. The seat stays; the status pages tell."""
        self._paused = paused
        if self._lease is not None:
            self._lease.paused = paused

    def restart(self, setup: CallSetup) -> None:
        """Begin a new conversation in the same seat: another session with this setup, and the history as it is now. Only for a call that
        its model holds by itself."""
        assert self._native is not None
        self._native.forget()
        self._next = setup
        if self._lease is not None:
            self._lease.cancel()

    async def until_quiet(self) -> None:
        """Return once no reply is made or spoken."""
        while self._state in REPLYING:
            await self._state_changed.wait()

    # ---- running

    async def run(self, setup: CallSetup) -> None:
        """Take a seat, and another one whenever the session is lost, until cancelled or over. Saves the history."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self.replies.run)
                tasks.start_soon(self._sync_history, tasks.cancel_scope)
                try:
                    await self._run_metered(setup)
                except CallEnded as ended:
                    self._ended = ended
                tasks.cancel_scope.cancel()
        finally:
            self._turns.close()
            if self._native is not None:
                await self._native.settle()
            await self._history.close()
        if self._ended is not None:
            raise self._ended

    # ---- changes of its conversation, from elsewhere

    async def _sync_history(self, scope: anyio.CancelScope) -> None:
        await self._history.sync(self)
        if self._farewell is not None:
            self._ended = CallEnded(Problem(CONVERSATION_DELETED, code="conversation_deleted", status=410))
            scope.cancel()

    async def history_changed(self, leaf: str | None, path: Sequence[StoredMessage]) -> None:
        """Send the client the path that the next reply continues from."""
        conversation = self._history.context.conversation
        await self._write(self._encoder.history_changed(conversation, leaf, path))

    async def deleted(self) -> None:
        """Say goodbye, and return when the caller has heard it."""
        self._farewell = anyio.Event()
        self._held.clear()
        if self._native is not None:
            return  # The error that ends the call tells the client; not every such model can say a given sentence.
        self.send(
            call_events.Interrupt(), call_events.Speak(DELETED[self.replies.language], interruptible=False)
        )
        with anyio.move_on_after(FAREWELL_TIMEOUT):
            await self._farewell.wait()

    # ---- its sessions

    async def _run_metered(self, setup: CallSetup) -> None:
        """Run the sessions as a request of the user's key. Raises CallEnded, also where the key's limits do not allow the call."""
        with ExitStack() as stack:
            try:
                await self.seat.ready(self._user)
                self._metered = stack.enter_context(self.seat.metered(self._user))
            except Problem as problem:
                raise CallEnded(problem) from None
            await self._run_sessions(setup)

    async def _run_sessions(self, setup: CallSetup) -> None:
        restarts = 0
        while True:
            name = self.seat.model.name if self.seat.model is not None else ""
            with (
                self.seat.lease(self._user) as lease,
                self._observe.seat_taken(self.seat.kind, name) as seated,
            ):
                await self._wait_for_seat(lease)
                seated()
                self.active_at = anyio.current_time()
                self.seated_at = min(self.seated_at, self.active_at)
                if self._prepare is not None:
                    setup, self._prepare = await self._prepare(setup, lease), None
                elif restarts and self._revoice is not None:
                    setup = await self._revoice(setup, lease)
                began = anyio.current_time()
                setup = await self._run_in_seat(lease, setup)
            if anyio.current_time() - began > STABLE:
                restarts = 0
            restarts += 1
            if restarts > MAX_RESTARTS:
                what = "voice" if self._native is None else "model"
                raise CallEnded(
                    Unavailable(f"The {what} keeps failing. The server's log says why.", code="voice_lost")
                )
            setup = await self._setup_after_loss(setup)

    async def _run_in_seat(self, lease: Lease, setup: CallSetup) -> CallSetup:
        """Run a session, and another one for each conversation that begins anew, until one is lost. Gives the setup of that."""
        lost = False
        while not lost:
            if self._next is not None:
                setup, self._next = self._renumbered(self._next, self._encoder.epoch + 1), None
            setup = self._complete(setup)
            lease.begin(0, setup, self._request_id)
            self._lease, lease.paused = lease, self._paused
            if self.active_at == math.inf:
                self.active_at = anyio.current_time()
            if self._held:
                lease.send(0, *self._held)
                self._held.clear()
            try:
                lost = await self._run_session(lease)
            finally:
                self._lease, self.active_at = None, math.inf
        return setup

    def _complete(self, setup: CallSetup) -> CallSetup:
        """The setup with what was said before, for a model that holds the call by itself; from here on the call speaks its language."""
        language = wording(setup.language)
        self.replies.language = language
        self._history.speak(setup.language)
        if self._native is None or self.seat.model is None:
            return setup
        self._native.language, self._native.heard_language = language, setup.language
        messages = native_messages(self._history.messages, self.seat.model.context)
        return msgspec.structs.replace(
            setup, omni=msgspec.structs.replace(setup.omni or OmniSetup(), messages=messages)
        )

    def _renumbered(self, setup: CallSetup, epoch: int) -> CallSetup:
        """The setup of the next session: what still arrives of the one before is of an older epoch."""
        return msgspec.structs.replace(
            setup, epoch=epoch, reply=self._last_reply + 1, turn=self._last_turn + 1
        )

    async def _wait_for_seat(self, lease: Lease) -> None:
        """Send the client its place in the queue until there is a seat. Raises CallEnded."""
        waited = False
        try:
            async for place in lease.places():
                event = Queued(lease.ticket, place.position, place.wait, place.length)
                await self._write(self._encoder.queued(event, waited))
                waited = True
        except Problem as problem:
            raise CallEnded(problem) from None
        if messages := self._encoder.seated(waited):
            await self._write(messages)

    async def _run_session(self, lease: Lease) -> bool:
        """Carry out the session's events. True: the session was lost; False: another one is to begin in its place. Raises CallEnded when the
        call is over."""
        async with anyio.create_task_group() as tasks:
            if self._native is None:
                self.replies.prefill("", tasks)
            else:
                tasks.start_soon(self._native.run)
            end: Failed | call_events.CallSessionEnded | None = None
            while end is None and not (self._next is not None and not lease.running):
                events: list[CallEvent] = []
                for _, event in await lease.take():
                    if isinstance(event, Failed | call_events.CallSessionEnded):
                        end = event
                        break
                    self._handle(event, tasks)  # type: ignore[arg-type] # a seat sends only call events
                    events.append(event)  # type: ignore[arg-type]
                self._observed(events)
                if messages := self._encoder.encode(events):
                    await self._write(messages)
            tasks.cancel_scope.cancel()
        if end is None:
            return False
        if isinstance(end, Failed) and end.code in (WORKER_LOST.code, RESTARTED.code):
            return True
        raise CallEnded(Problem(end.message, code=end.code, status=end.status) if end.code else None)

    async def _tell(self, events: Sequence[CallEvent]) -> None:
        """Events that are made here, for the client and whoever looks on."""
        self._observed(events)
        if messages := self._encoder.encode(events):
            await self._write(messages)

    def _observed(self, events: Sequence[CallEvent]) -> None:
        if self.observer is not None:
            self.observer.server_sent(events)

    def saw(self, image: ImagePart) -> None:
        """A picture of the camera or the screen, for the turn during which it arrives, or the next unit of the model."""
        if self.observer is not None:
            self.observer.saw(image)
        if self._native is None:
            self.replies.add_image(image)
        else:
            self.send(call_events.CallFrame(image))

    def _handle(self, event: CallEvent, tasks: anyio.abc.TaskGroup) -> None:
        replies = self.replies
        match event:
            case call_events.State():
                self._state = event.state
                self._state_changed.notify()
            case call_events.PartialTurn():
                replies.prefill(event.text, tasks)
            case call_events.ReplyRequested():
                self._last_reply = max(self._last_reply, event.reply)
                self._last_turn = max(self._last_turn, event.turn)
                if self._farewell is None:
                    replies.begin(event, tasks)
            case call_events.TurnConfirmed():
                replies.confirm(event.reply)
            case call_events.CancelReply():
                replies.cancel(event.reply)
            case call_events.Cut():
                replies.interrupt(event.reply)
            case call_events.ReplyBegun() if self._native is not None:
                self._last_reply = max(self._last_reply, event.reply)
                self._last_turn = max(self._last_turn, event.turn)
                self._native.begun(event)
            case call_events.UserSound() if self._native is not None:
                self.active_at = anyio.current_time()
                self._last_turn = max(self._last_turn, event.turn)
                self._native.user_said(event)
            case call_events.UserSaid():
                self.active_at = anyio.current_time()
                self._turns.user_said(event)
            case call_events.AssistantSaid():
                self.active_at = anyio.current_time()
                self._last_reply = max(self._last_reply, event.reply)
                self._turns.assistant_said(event)
                if self._farewell is not None and event.heard in DELETED.values():
                    self._farewell.set()
            case call_events.ReplyText():
                self._turns.add_output(event.reply, text=event.text)
            case call_events.ReplyAudio():
                self._turns.add_output(event.reply, words=event.words, samples=samples(event.pcm))
                self._metered.spoke(samples(event.pcm) / SPOKEN_RATE)
            case call_events.SpeakingClip():
                self._turns.add_output(event.reply, text=event.text, words=event.words, samples=event.samples)
                self._metered.spoke(event.samples / SPOKEN_RATE)
            case call_events.TurnFigures():
                self._observe.turn_ended(self._history.model, event)

    async def _setup_after_loss(self, setup: CallSetup) -> CallSetup:
        """Store what was heard, and have the client drop the rest. Gives the setup of the next session, in a new epoch: what
        still arrives of the old one is stale."""
        log.warning("call %s lost its worker; it continues in another seat", self._request_id)
        epoch = self._encoder.epoch + 1
        for end in self._turns.close():
            end = msgspec.structs.replace(end, epoch=epoch)
            await self._tell([call_events.Cut(epoch, end.reply), end])
        if self._native is not None:
            await self._native.settle()
            await self._write(self._encoder.problem(WorkerLost(NATIVE_LOST)))
        await self._write(self._encoder.waiting(epoch))
        # The client has the error above; not every such model can say a given sentence.
        greeting = LOST[self.replies.language] if self._native is None else ""
        return self._renumbered(msgspec.structs.replace(setup, greeting=greeting), epoch)
