"""One duplex session: a call whose audio goes back and forth in chunks, and the client connected to it at the moment.

Owns the order of messages and results, pauses, and the session's end. It outlives its socket for a while. `DuplexBuffer` decides
which audio is due; `Call` runs the call. Started by `DuplexSessions`.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import anyio
from msgspec.structs import replace

from duologue.errors import Busy, Problem
from duologue.gateway.apps.app_notice import app_disabled_message
from duologue.gateway.apps.modes import SWITCHED_OFF, AppId
from duologue.gateway.calls.call import Call, CallEnded
from duologue.gateway.calls.call_model import CallModel, other_seat, seeing
from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.calls.history import EphemeralHistory
from duologue.gateway.calls.voice_socket import LAST_MESSAGE_TIMEOUT, LAST_REPLY_TIMEOUT
from duologue.gateway.duplex.duplex_camera import DuplexCamera
from duologue.gateway.duplex.duplex_encoder import DuplexEncoder
from duologue.gateway.duplex.duplex_frames import DuplexBuffer
from duologue.gateway.duplex.duplex_recording import DuplexRecording
from duologue.gateway.duplex.duplex_voice import fixed_fields, voice_after_move, voice_of
from duologue.gateway.models.registry import admit
from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.speech.voice_choice import VoiceChoice
from duologue.http.error_responses import problem_body
from duologue.notifier import Notifier
from duologue.values import call_events
from duologue.values.audio import samples
from duologue.values.call_events import CallSetup
from duologue.values.duplex import ChunkResult
from duologue.values.messages import ImagePart
from duologue.values.requests import ModelCard
from duologue.wire.calls import duplex

log = logging.getLogger(__name__)

NORMAL, REFUSED = 1000, 1013
CHECK_INTERVAL = 0.25
"""Seconds between two checks of a session's time limits."""
RECONNECT_TIMEOUT = 30.0
"""Seconds a session waits for a client that was disconnected."""
SILENT = 5.0
"""Seconds without a message after which another socket may take over a session: its client is most likely gone."""
PREPARE_TIMEOUT = 120.0
"""Seconds a client has to send `prepare`."""
REPORT_INTERVAL = 0.2
"""Seconds between two reports of what was played."""
AHEAD = 3.0
"""Seconds the session may be ahead of playback: what the client has, what is kept for the next chunk, and a reserve."""
SESSION: dict[str, Any] = {"pauses": True, "marks": True, "fills": False, "ahead": AHEAD}
"""What the setup of every session has."""
MAX_UNANSWERED = 16
"""Chunks that may wait for their results; a client that sends more does not read them."""


class DuplexClient(Protocol):
    """The socket of a session at the moment."""

    async def write(self, messages: Sequence[str]) -> None:
        """Send messages; dropped if the socket is gone."""
        ...

    def end(self, code: int, reason: str) -> None:
        """Close the socket."""
        ...


class DuplexSession:
    """One session, from its queue to its end. `run` lasts as long; its socket calls the other methods."""

    def __init__(
        self,
        id: str,
        user: str,
        services: CallServices,
        *,
        model: str = "",
        request_id: str = "",
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.id, self.user = id, user
        self.mode = duplex.mode_of(id)
        services.apps.require(*self._apps)
        self._model = self._choose_model(services, model)
        seat = services.seat(self._model, self._kind, native_kind=self._kind)
        self.client: DuplexClient | None = None
        self.lost_at = math.inf
        """When its client disconnected, in the event loop's seconds."""
        self.buffer = DuplexBuffer(native=seat.native)
        self._services, self._request_id, self._wall = services, request_id, wall
        self._card: ModelCard | None = None
        self._camera = DuplexCamera(services, self._use_model)
        self._history = EphemeralHistory("", "", ())
        self._prepare: duplex.Prepare | None = None
        self._voice = VoiceChoice()
        self._prepare_arrived = anyio.Event()
        self._prepared = False
        self._resuming = False
        self._paused_at = self._disabled_at = math.inf
        self._max_pause = 0.0
        self._wakeup = Notifier()
        self._reported_at = -math.inf
        self._scope = anyio.CancelScope()
        self._ending = (NORMAL, "")
        self._received_at = anyio.current_time()
        self._encoder = DuplexEncoder(
            self.buffer,
            left=lambda played: self.recording.report(played),
            held=self.report_played,
            changed=self.wake,
        )
        self._call = Call(
            seat,
            services.generate,
            self._history,
            self._encoder,
            self._write,
            user=user,
            request_id=request_id,
            prepare=self._begin,
            revoice=self._revoiced,
            observe=services.observe,
            read_ahead=services.read_ahead,
            context_of=services.context_of,
            transcribe=services.transcriber(user, request_id),
        )

        self.recording = DuplexRecording(services, self._call, user, self.wake)

    @property
    def _apps(self) -> tuple[AppId, ...]:
        """The apps of which one must be switched on for it."""
        return ("omni", "audio_duplex") if self.mode == "any" else (self.mode,)

    @property
    def _kind(self) -> str:
        """What the queue calls it."""
        return "audio_duplex" if self.mode == "audio_duplex" else "omni_duplex"

    def _choose_model(self, services: CallServices, name: str) -> CallModel | None:
        """The model whose seat the session takes, chosen before `prepare`, because the queue comes first; None for a seat of the voice
        with any model. Raises ModelNotFound, Unavailable."""
        if name:
            return services.call_model(name)
        card = services.native_model(seeing=self.mode != "audio_duplex")
        return services.call_model(card.name) if card is not None else None

    # ---- its client

    @property
    def ending(self) -> bool:
        """Whether it ends by itself: nobody can take it over."""
        return self._scope.cancel_called

    @property
    def taken(self) -> bool:
        """Whether its client seems to be connected."""
        if self.client is None:
            return False
        quiet = anyio.current_time() - self._received_at
        return not (self._prepared and self._paused_at == math.inf and quiet > SILENT)

    async def attach(self, client: DuplexClient) -> None:
        """Give the session to this socket."""
        before, self.client = self.client, client
        if before is not None:
            before.end(1008, "another socket has taken over")
        self.lost_at, self._received_at = math.inf, anyio.current_time()
        if self._prepared:
            self._resuming = True
            self.buffer.pause()
            await client.write([duplex.queue_done_message()])

    def detach(self, client: DuplexClient, *, left: bool) -> None:
        """The socket is gone: its client has `left`, or its connection was lost. Then a session that was prepared waits for
        another one."""
        if self.client is not client:
            return
        self.client, self.lost_at = None, anyio.current_time()
        if left or not self._prepared:
            self._scope.cancel()

    async def _write(self, messages: Sequence[str | bytes]) -> None:
        if self.client is not None:
            await self.client.write([message for message in messages if isinstance(message, str)])

    # ---- its life

    async def run(self) -> None:
        """Run until the session is over, then close its client's socket."""
        try:
            async with anyio.create_task_group() as tasks:
                self._scope = tasks.cancel_scope
                for work in (
                    self._run_call,
                    self._send_results,
                    self._enforce_limits,
                    self._end_when_disabled,
                ):
                    tasks.start_soon(work)
        except Exception as error:
            log.exception("duplex session %s failed", self._request_id)
            body = problem_body(error, "/ws/duplex", self._request_id)["error"]
            problem = Problem(body["message"], code=body["code"])
            await self.end(REFUSED, problem.code, duplex.error_message(problem))
        finally:
            self.recording.close()
            if self.client is not None:
                self.client.end(*self._ending)

    async def end(self, code: int, reason: str, *messages: str) -> None:
        """Send the last messages and end the session."""
        self._ending = (code, reason)
        with anyio.move_on_after(LAST_MESSAGE_TIMEOUT):
            await self._write(messages)
        self._scope.cancel()

    async def _run_call(self) -> None:
        settings = self._services.settings
        setup = CallSetup(voice=settings.voice, language=settings.language, **SESSION)
        try:
            await self._call.run(setup)
        except CallEnded as ended:
            if ended.problem is not None:
                await self.end(REFUSED, ended.problem.code, duplex.error_message(ended.problem))
        self._scope.cancel()

    async def _begin(self, setup: CallSetup, seat: Lease) -> CallSetup:
        """The call has its seat: wait for the client's `prepare`, and write down in a seat of the voice what is said in its recording."""
        await self._prepare_arrived.wait()
        while not self._prepared:
            prepare, choice = self._prepare, self._voice
            assert prepare is not None
            if not self._call.seat.native:
                choice = await self._services.with_text(choice, prepare.language, self._request_id, seat)
            self._prepared = self._prepare is prepare  # unless another one came meanwhile
        assert prepare is not None
        assert self._card is not None
        await self._tell_prepared(prepare, self._card, note=choice.note)
        return self._setup(setup, prepare, choice)

    async def _end_when_disabled(self) -> None:
        """Tell the client when its mode is switched off; the session ends once the current reply was sent."""
        await self._services.apps.until_disabled(*self._apps)
        await self._write([app_disabled_message(self._apps[0])])
        self._disabled_at = anyio.current_time()

    async def _enforce_limits(self) -> None:
        """End a session that is paused, disconnected or silent for too long, or lasts too long."""
        settings = self._services.settings
        while True:
            await anyio.sleep(CHECK_INTERVAL)
            now = anyio.current_time()
            if self._disabled_at < math.inf and (
                now - self._disabled_at > LAST_REPLY_TIMEOUT
                or self._paused_at < math.inf
                or not self.buffer.is_replying
            ):
                await self.end(NORMAL, SWITCHED_OFF, duplex.stopped_message(self.id, SWITCHED_OFF))
            elif now - self._paused_at > self._max_pause:
                reason = f"Pause timeout ({self._max_pause:g}s)"
                await self.end(NORMAL, "pause timeout", duplex.timeout_message(reason))
            elif now - self.lost_at > RECONNECT_TIMEOUT:
                log.info("duplex session %s was not taken over", self._request_id)
                await self.end(NORMAL, "lost")
            elif not self._prepare_arrived.is_set() and now - self._call.seated_at > PREPARE_TIMEOUT:
                await self._limit("session_unprepared", "The session was never prepared. Send prepare first.")
            elif self._paused_at == math.inf and now - self._call.active_at > settings.idle_s:
                await self._limit(
                    "call_idle",
                    f"The session was silent for {settings.idle_s:.0f} seconds (setting voice.idle_s). Start a new one.",
                )
            elif now - self._call.seated_at > settings.session_s:
                await self._limit(
                    "call_too_long",
                    f"A session may last at most {settings.session_s:.0f} seconds (setting voice.session_s). Start a new one.",
                )

    async def _limit(self, code: str, sentence: str) -> None:
        await self.end(NORMAL, code, duplex.error_message(Problem(sentence, code=code, status=408)))

    # ---- from the client

    async def take(self, message: duplex.DuplexMessage) -> None:
        """Carry out one message. Raises Problem, after which the session continues."""
        self._received_at = anyio.current_time()
        match message:
            case duplex.Prepare():
                await self._apply(message)
            case duplex.DuplexChunk():
                await self._take_audio(message)
            case duplex.DuplexImage():
                await self._tell(self._camera.take(message.image, self._call.saw))
            case duplex.Pause():
                self._require_prepared()
                self._paused_at, self._max_pause = self._received_at, message.timeout
                self._call.pause(True)
                self.buffer.pause()
                await self._write_results(self.buffer.due(self._received_at, all=True))
                await self._write([duplex.paused_message(message.timeout)])
            case duplex.DuplexResume():
                self._paused_at = math.inf
                self._call.pause(False)
                await self._write([duplex.resumed_message()])
            case duplex.DuplexInterrupt():
                self._interrupt(self._received_at)
                await self._write([duplex.interrupted_message()])
            case duplex.DuplexStop():
                await self.end(NORMAL, "", duplex.stopped_message(self.id))
            case duplex.Diagnostic():
                log.debug("duplex session %s: %d diagnostic fields", self._request_id, len(message.fields))

    async def _apply(self, prepare: duplex.Prepare) -> None:
        """Set the session up. A second `prepare` starts a new conversation; after a lost connection the old one continues."""
        if self._resuming and self._prepare is not None and self._card is not None:
            self._resuming = False
            await self._tell_prepared(self._prepare, self._card, again=True)
            return
        card = self._model_of(prepare)
        native = self._call.seat.native
        self._history.restart(prepare.prompt, card.name, prepare.sampling)
        if not native:
            admit(card, self._history.request("?"), hears=True)
        # The voice worker's session has begun with these, and cannot change them.
        fixed = () if native or not self._prepared else fixed_fields(prepare, self._prepare)
        if native or not self._prepared:
            self._voice = await voice_of(self._services, prepare, card, self.user, native=native)
            self.buffer.mouth = prepare.mouth
        ignored = (*duplex.ignored_fields(prepare, self._call.seat.model), *fixed)
        self._camera.prepare(card, may_change=not prepare.model and not native)
        self._prepare, self._card = replace(prepare, ignored=ignored), card
        if self._prepared:
            self._interrupt(self._received_at)
            if native:
                self.buffer.restarted()
                self._call.restart(self._setup(CallSetup(**SESSION), self._prepare, self._voice))
            await self._tell_prepared(self._prepare, card, note=self._voice.note if native else "")
        self._prepare_arrived.set()

    def _model_of(self, prepare: duplex.Prepare) -> ModelCard:
        """The model that answers. Raises Problem for one that needs another seat than the session has."""
        services, held_by = self._services, self._call.seat.model
        if held_by is not None:
            if prepare.model and services.models.resolve(prepare.model).name != held_by.name:
                raise other_seat(self.id, services.models.resolve(prepare.model), held_by)
            return held_by
        if prepare.model or self._model is not None:
            asked = services.call_model(prepare.model) if prepare.model else self._model
            assert asked is not None
            if asked.native:
                raise other_seat(self.id, asked.card, None)
            return asked.card
        card = services.models.resolve("")
        return card if self.mode == "audio_duplex" else seeing(services.models.cards()) or card

    async def _revoiced(self, setup: CallSetup, seat: Lease) -> CallSetup:
        """After the session has moved to another worker: with the voice that a new one would get there. A native model keeps its own."""
        if self._prepare is None or self._card is None or self._call.seat.native:
            return setup
        asked = (self._services, self._prepare, self._card, self.user)
        if (choice := await voice_after_move(*asked, self._request_id, seat)) is not None:
            self._voice = choice
        return replace(setup, voice=self._voice.voice, sample=self._voice.sample)

    def _setup(self, setup: CallSetup, prepare: duplex.Prepare, voice: VoiceChoice) -> CallSetup:
        """The setup with what the client has said."""
        return replace(
            setup,
            voice=voice.voice,
            sample=voice.sample,
            speed=prepare.speed,
            language=prepare.language or self._services.settings.language,
            mouth=prepare.mouth,
            omni=prepare.omni if self._call.seat.native else None,
        )

    def _use_model(self, card: ModelCard) -> None:
        """Have another model continue, which sees."""
        self._card = card
        self._history.use_model(card.name)

    async def _tell_prepared(
        self, prepare: duplex.Prepare, card: ModelCard, *, note: str = "", again: bool = False
    ) -> None:
        """Record the session if its client asks for it, and say that it listens."""
        problem = None if again else await self.recording.switch(prepare.record)
        messages = [
            duplex.prepared_message(
                self.id,
                prepare,
                card.name,
                native=self._call.seat.native,
                model_note=self._model.note if self._model is not None else "",
                note=note,
                again=again,
                recording=self.recording.id,
            )
        ]
        await self._write(messages + ([duplex.error_message(problem)] if problem is not None else []))

    def _require_prepared(self) -> None:
        if not self._prepared:
            raise Problem(
                "The session is not prepared yet: send prepare and wait for prepared.",
                code="session_unprepared",
                status=409,
            )

    async def _take_audio(self, chunk: duplex.DuplexChunk) -> None:
        self._require_prepared()
        if self._paused_at != math.inf:
            raise Problem("The session is paused; send resume first.", code="session_paused", status=409)
        if self.buffer.unanswered >= MAX_UNANSWERED:
            raise Busy("Audio arrives faster than its results are read.", code="too_slow")
        frames = chunk.images if chunk.images and self._camera.sees else ()
        arrival = self.buffer.add_chunk(
            samples(chunk.pcm), self._received_at, force_listen=chunk.force_listen, images=len(frames)
        )
        if self._call.seat.native:
            self._pass_on(chunk, frames, heard=arrival.heard)
        else:
            if arrival.heard:
                self._call.send(call_events.MicrophoneAudio(chunk.pcm))
            if chunk.force_listen:
                self._interrupt(self._received_at)
            if frames:
                self._call.saw(frames[-1])
        self.wake()
        if chunk.images and not frames:
            await self._tell(self._camera.check())

    def _pass_on(self, chunk: duplex.DuplexChunk, frames: tuple[ImagePart, ...], *, heard: bool) -> None:
        """Give a chunk to the model that holds the session by itself. What was played of a reply that is to end comes before it."""
        if chunk.force_listen:
            self._interrupt(self._received_at)
        if not heard:
            return
        if self._call.observer is not None:
            for frame in frames:
                self._call.observer.saw(frame)
        slices = chunk.max_slices
        self._call.send(call_events.CallChunk(chunk.pcm, frames, chunk.force_listen, slices))

    async def _tell(self, problem: Problem | None) -> None:
        if problem is not None:
            await self._write([duplex.error_message(problem)])

    def _interrupt(self, at: float) -> None:
        if (interrupt := self.buffer.interrupt(at)) is not None:
            self._call.send(interrupt)
        self.wake()

    # ---- to the client

    def wake(self) -> None:
        """A result may be due."""
        self._wakeup.notify()

    def report_played(self) -> None:
        """Report to the call how far the client has played."""
        now = self._reported_at = anyio.current_time()
        if (played := self.buffer.played(now)) is not None:
            self._call.send(played)

    async def _send_results(self) -> None:
        """Send the results in order, and report to the call what was played."""
        while True:
            # Taken before the work, which awaits: what arrives meanwhile must wake the next round.
            wakeup = self._wakeup.pending()
            now = anyio.current_time()
            await self._write_results(self.buffer.due(now))
            await self._write(self.recording.notices(self.buffer.epoch))
            if self.buffer.is_playing and now >= self._reported_at + REPORT_INTERVAL:
                self.report_played()
            due = [] if self.buffer.next_due is None else [self.buffer.next_due]
            if self.buffer.is_playing:
                due.append(self._reported_at + REPORT_INTERVAL)
            with anyio.CancelScope(deadline=min(due, default=math.inf)):
                await wakeup.wait()

    async def _write_results(self, results: Iterable[ChunkResult]) -> None:
        for result in results:
            seconds = anyio.current_time() - result.at
            await self._write([duplex.result_message(result, seconds, self._wall())])
