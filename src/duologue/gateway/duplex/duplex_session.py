"""One duplex session: a call whose audio goes back and forth in chunks, and the client connected to it at the moment.

Owns the order of messages and results, pauses, and the session's end. It outlives its socket for a while. `DuplexBuffer` decides
which audio is due; `Call` runs the call. Started by `DuplexSessions`.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import anyio
from msgspec.structs import replace

from duologue.errors import Busy, Problem, Unsupported
from duologue.gateway.apps.app_notice import app_disabled_message
from duologue.gateway.apps.modes import SWITCHED_OFF, AppId
from duologue.gateway.calls.call import Call, CallEnded
from duologue.gateway.calls.call_model import no_eyes, seeing
from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.calls.history import EphemeralHistory
from duologue.gateway.calls.voice_socket import LAST_MESSAGE_TIMEOUT, LAST_REPLY_TIMEOUT
from duologue.gateway.duplex.duplex_encoder import DuplexEncoder
from duologue.gateway.duplex.duplex_frames import DuplexBuffer
from duologue.gateway.duplex.duplex_recording import DuplexRecording
from duologue.gateway.models.registry import admit
from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.scheduling.voice_seats import NO_VOICE
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
        request_id: str = "",
        wall: Callable[[], float] = time.time,
    ) -> None:
        if services.seats is None:
            raise Unsupported(NO_VOICE, code="voice_unavailable")
        self.id, self.user = id, user
        self.mode = duplex.mode_of(id)
        services.apps.require(*self._apps)
        self.client: DuplexClient | None = None
        self.lost_at = math.inf
        """When its client disconnected, in the event loop's seconds."""
        self.buffer = DuplexBuffer()
        self._services, self._request_id, self._wall = services, request_id, wall
        self._card: ModelCard | None = None
        self._images_refused = False
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
            services.seats,
            services.generate,
            self._history,
            self._encoder,
            self._write,
            user=user,
            request_id=request_id,
            kind="audio_duplex" if self.mode == "audio_duplex" else "omni_duplex",
            prepare=self._begin,
            observe=services.observe,
            read_ahead=services.read_ahead,
            context_of=services.context_of,
        )

        self.recording = DuplexRecording(services, self._call, user, self.wake)

    @property
    def _apps(self) -> tuple[AppId, ...]:
        """The apps of which one must be switched on for it."""
        return ("omni", "audio_duplex") if self.mode == "any" else (self.mode,)

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
        setup = CallSetup(
            voice=settings.voice,
            language=settings.language,
            pauses=True,
            marks=True,
            fills=False,
            ahead=AHEAD,
        )
        try:
            await self._call.run(setup)
        except CallEnded as ended:
            if ended.problem is not None:
                await self.end(REFUSED, ended.problem.code, duplex.error_message(ended.problem))
        self._scope.cancel()

    async def _begin(self, setup: CallSetup, seat: Lease) -> CallSetup:
        """The call has its seat: wait for the client's `prepare`, and write down in the seat what is said in its recording."""
        await self._prepare_arrived.wait()
        while not self._prepared:
            prepare = self._prepare
            assert prepare is not None
            choice = await self._services.with_text(self._voice, prepare.language, self._request_id, seat)
            self._prepared = self._prepare is prepare  # unless another one came meanwhile
        assert prepare is not None
        assert self._card is not None
        await self._tell_prepared(prepare, self._card, note=choice.note)
        return replace(
            setup,
            voice=choice.voice,
            sample=choice.sample,
            speed=prepare.speed,
            language=prepare.language or setup.language,
        )

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
                self._take_audio(message)
                if message.images:
                    await self._see(message.images[-1])
            case duplex.DuplexImage():
                await self._see(message.image)
            case duplex.Pause():
                self._require_prepared()
                self._paused_at, self._max_pause = self._received_at, message.timeout
                self.buffer.pause()
                await self._write_results(self.buffer.due(self._received_at, all=True))
                await self._write([duplex.paused_message(message.timeout)])
            case duplex.DuplexResume():
                self._paused_at = math.inf
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
        card = self._services.models.resolve(prepare.model)
        if not prepare.model and self.mode != "audio_duplex":
            card = seeing(self._services.models.cards()) or card
        self._history.restart(prepare.prompt, card.name, prepare.sampling)
        admit(card, self._history.request("?"), hears=True)
        if not self._prepared:
            self._voice = await self._services.choose_voice(
                prepare.voice, prepare.language, self.user, prepare.recording
            )
        # The voice worker's session has begun with these, and cannot change them.
        fixed = [
            {"recording": "ref_audio_base64"}.get(name, name)
            for name in ("voice", "speed", "language", "recording")
            if self._prepared and self._prepare and getattr(prepare, name) != getattr(self._prepare, name)
        ]
        self._images_refused = False
        self._prepare, self._card = replace(prepare, ignored=(*prepare.ignored, *fixed)), card
        if self._prepared:
            self._interrupt(self._received_at)
            await self._tell_prepared(self._prepare, card)
        self._prepare_arrived.set()

    async def _tell_prepared(
        self, prepare: duplex.Prepare, card: ModelCard, *, note: str = "", again: bool = False
    ) -> None:
        """Record the session if its client asks for it, and say that it listens."""
        problem = None if again else await self.recording.switch(prepare.record)
        messages = [
            duplex.prepared_message(
                self.id, prepare, card.name, note=note, again=again, recording=self.recording.id
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

    def _take_audio(self, chunk: duplex.DuplexChunk) -> None:
        self._require_prepared()
        if self._paused_at != math.inf:
            raise Problem("The session is paused; send resume first.", code="session_paused", status=409)
        if self.buffer.unanswered >= MAX_UNANSWERED:
            raise Busy("Audio arrives faster than its results are read.", code="too_slow")
        sees = bool(chunk.images) and self._services.apps.is_enabled("omni") and self._has_eyes()
        images = len(chunk.images) if sees else 0
        arrival = self.buffer.add_chunk(
            samples(chunk.pcm), self._received_at, force_listen=chunk.force_listen, images=images
        )
        if arrival.heard:
            self._call.send(call_events.MicrophoneAudio(chunk.pcm))
        if chunk.force_listen:
            self._interrupt(self._received_at)
        self.wake()

    def _has_eyes(self) -> bool:
        """Whether the session's model takes pictures. If the client named none, a model of this machine that does takes over: only
        pictures tell one kind of session from the other, and nothing is known of them before the first."""
        cards = self._services.models.cards()
        card = next((each for each in cards if self._card and each.name == self._card.name), self._card)
        if card is None or "image" in card.modalities:
            return card is not None
        other = seeing(cards) if self._prepare is not None and not self._prepare.model else None
        if other is None:
            return False
        self._card = other
        self._history.use_model(other.name)
        return True

    async def _see(self, image: ImagePart) -> None:
        """A picture for the current turn. The first one that is refused is answered with an error, the rest is ignored: clients
        send one a second."""
        try:
            self._services.apps.require("omni")
            if not self._has_eyes():
                cards = self._services.models.cards()
                raise no_eyes(self._card, cards, field="prepare (model)", param="frame_base64_list")
            self._call.saw(image)
        except Problem as problem:
            if not self._images_refused:
                self._images_refused = True
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
