"""Speech synthesis and transcription for the dialects, on the seats of the voice worker.

Owns the seat each request leases, and refuses what the engines cannot do before it waits in a queue. Called by `dialects` and
`admin.status`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, Literal

import msgspec

from duologue.config.sections.voice import VoiceSettings
from duologue.decoder.service import decode
from duologue.errors import NotFound, Problem, Unavailable, Unsupported
from duologue.fair_lane import FairLane
from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.request_meter import NO_METER, MeteredRequest, RequestMeter
from duologue.gateway.scheduling.voice_seats import NO_VOICE, SEAT
from duologue.gateway.scheduling.work_observer import WorkObserver
from duologue.gateway.speech.voice_choice import (
    CLONED,
    VoiceChoice,
    default_gone,
    model_voice,
    no_model_clone,
    spoken_instead,
)
from duologue.gateway.speech.voice_library import VoiceLibrary
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.media.voice_sample import voice_sample_of
from duologue.threads import Refusal
from duologue.tracing import spans
from duologue.values import call_events
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE, samples
from duologue.values.avatars import AvatarKind, ClipRequest
from duologue.values.custom_voice import is_custom
from duologue.values.events import Failed
from duologue.values.messages import AudioPart
from duologue.values.requests import ModelCard
from duologue.values.speech import (
    SpeechCard,
    SpeechEngineStatus,
    SpeechRequest,
    Transcript,
    TranscriptionRequest,
    VoiceSample,
)
from duologue.values.transcripts import following, joined, later
from duologue.wire import speech
from duologue.wire.collected_reply import problem
from duologue.wire.transcripts import RecordingTranscript

State = Literal["absent", "loading", "ready", "failed"]
TRANSCRIPTIONS = Refusal(
    "Too many recordings are waiting to be transcribed. Try again in a moment.",
    "Other recordings kept the recogniser busy for too long. Try again in a moment.",
)
SHARE_OF_A_USER = 4
"""One user's transcriptions hold at most one of so many seats: a long recording holds its seat for minutes."""
UNNAMED = ("", "default")
"""What a request has as its voice that asks for no particular one."""
NO_VIDEO = (
    "This server draws no video of avatars: it is switched off (video.enabled), or a package is missing."
)
LOCAL = "local"
"""Whose work it is where the caller names no user."""
UNUSABLE = ("absent", "failed")
"""The states of an engine that cannot be used."""


class SpeechService:
    """Synthesis and transcription. `seats` None: the server has no voice; `library`: the voices that people recorded. `observe` hears
    of each piece of work in a seat."""

    def __init__(
        self,
        seats: Pool | None,
        settings: VoiceSettings | None = None,
        library: VoiceLibrary | None = None,
        observe: WorkObserver | None = None,
        meter: RequestMeter = NO_METER,
    ) -> None:
        self.seats, self._observe = seats, observe or WorkObserver()
        self._meter = meter
        self.library = library
        self.settings = settings or VoiceSettings()
        places = self.settings.seats
        self._transcriptions = FairLane(
            places, max(1, places // SHARE_OF_A_USER), patience=None, refusal=TRANSCRIPTIONS
        )

    # ---- capabilities

    @property
    def card(self) -> SpeechCard | None:
        """What the voice worker can do; None while it loads, and where there is none."""
        worker = self._worker
        return worker.speech if worker is not None and worker.state == "ready" else None

    @property
    def status(self) -> tuple[State, str]:
        """The state of the voice, and a sentence about it where it is not ready."""
        worker = self._worker
        if worker is None:
            return "absent", NO_VOICE
        if worker.state == "ready":
            return "ready", ""
        if worker.state == "failed":
            return "failed", worker.detail
        return "loading", "The voice is loading."

    def view(self) -> dict[str, Any]:
        """The voice as `/api/capabilities` shows it."""
        state, detail = self.status
        worker = self._worker
        card = (worker.speech if worker is not None else None) or SpeechCard()
        return {
            "state": state,
            "detail": detail,
            "detector": msgspec.to_builtins(card.detector),
            "recogniser": msgspec.to_builtins(card.recogniser),
            "speaker": msgspec.to_builtins(card.speaker),
            "turn_end": msgspec.to_builtins(card.turn_end),
            "video": msgspec.to_builtins(card.video),
            "draws": list(card.draws),
            "voices": msgspec.to_builtins(card.voices),
            "default_voice": self.default_voice or card.default_voice,
            "clones": card.clones,
            "limited": card.limited,
            "languages": list(card.hears),
            "partials": card.partials,
            "word_times": card.word_times,
        }

    def features(self) -> dict[str, bool]:
        """What is available: `speech` (synthesis), `transcription`, and `voice` (calls, which need a detector too)."""
        card = self.card or SpeechCard()
        detects, hears, speaks = (
            engine.standing not in UNUSABLE for engine in (card.detector, card.recogniser, card.speaker)
        )
        return {"voice": detects and hears and speaks, "speech": speaks, "transcription": hears}

    @property
    def hears(self) -> bool:
        """Whether there is a recogniser, or one that is loading: requests wait for it."""
        card = self.card
        if card is None:
            return self.status[0] == "loading"
        return card.recogniser.standing not in UNUSABLE

    @property
    def clones(self) -> bool:
        """Whether the speaker can speak like a recording, as far as known: while it loads, requests wait for it."""
        card = self.card
        if card is None:
            return self.status[0] == "loading"
        return card.clones and card.speaker.standing not in UNUSABLE

    def require_speaker(self) -> None:
        """Raises Unsupported or Unavailable where speech synthesis is not available."""
        self._require("speaker")

    def require_recogniser(self) -> None:
        """Raises Unsupported or Unavailable where speech recognition is not available."""
        self._require("recogniser")

    def resolve_voice(self, name: str) -> str:
        """The name of the loaded voice that `name` stands for. Raises NotFound."""
        return speech.resolve_voice(name, self.card, self.default_voice)

    @property
    def default_voice(self) -> str:
        """The loaded voice of the settings. "" is the speaker's own: where they name none, a recorded one, or one that is gone."""
        try:
            return (
                "" if is_custom(self.settings.voice) else speech.resolve_voice(self.settings.voice, self.card)
            )
        except NotFound:
            return ""

    def leaves_speaking_to(self, model: ModelCard, request: SpeechRequest, *, recorded: bool = False) -> bool:
        """Whether the model speaks the reply itself: it can, and nobody asked for a voice of this server, or of a recording (`recorded`: one
        that came with the request) that it cannot imitate."""
        if "audio" not in model.outputs:
            return False
        if recorded or request.sample is not None or is_custom(request.voice):
            return model.clones
        voices = self.card.voices if self.card is not None else ()
        return request.voice in model.voices or all(voice.name != request.voice for voice in voices)

    async def choose_model_voice(
        self, card: ModelCard, request: SpeechRequest, user: str, recording: AudioPart | None = None
    ) -> VoiceChoice:
        """The voice of a model that speaks itself: one of its own by name, a recorded one by its id, or `recording`, which came with the
        request. Raises NotFound for a recorded voice that there is not, BadRequest or TooLarge for a recording that cannot be used."""
        custom = is_custom(request.voice) and self.library is not None
        if recording is None and not custom:
            return model_voice(card, request.voice)
        if not card.clones:
            return no_model_clone(card)
        if recording is not None:
            sample = VoiceSample(await decode(voice_sample_of, recording.data, recording.rate, user=user))
            return VoiceChoice("", sample, "", CLONED)
        assert self.library is not None
        return VoiceChoice("", await self.library.sample(user, request.voice), request.voice)

    def voice_for(self, request: SpeechRequest) -> str:
        """The name of the voice that will speak a request: its own, else one of its language, else the default one. "" while
        the voice worker is still loading."""
        card = self.card
        if request.voice or card is None:
            return request.voice
        voices = sorted(card.voices, key=lambda voice: voice.name != card.default_voice)
        language = request.language.lower().replace("_", "-").split("-")
        # The whole tag first (de-AT), then the language alone (de).
        for length in (None, 1):
            for voice in voices:
                if voice.language.lower().split("-")[:length] == language[:length]:
                    return voice.name
        return card.default_voice

    async def choose_voice(
        self, request: SpeechRequest, user: str, recording: AudioPart | None = None
    ) -> tuple[SpeechRequest, VoiceChoice]:
        """The request with its voice: a loaded one, a recorded one by its id, or `recording`, which came with the request.
        Raises NotFound for a voice that there is not, BadRequest or TooLarge for a recording that cannot be used."""
        asked = request.voice
        if recording is None and asked in UNNAMED and self.settings.voice not in UNNAMED:
            return await self._choose_default(request, user)
        custom = is_custom(asked) and self.library is not None
        if recording is None and not custom:
            spoken = msgspec.structs.replace(request, voice=self.resolve_voice(asked))
            return spoken, VoiceChoice(spoken.voice, None, self.voice_for(spoken))
        default = msgspec.structs.replace(request, voice=self.resolve_voice(""))
        sample, name, note = None, "", CLONED
        if recording is None and self.library is not None:
            sample, name, note = await self.library.sample(user, asked), asked, ""
        card = self.card
        if card is not None and not card.clones:
            return default, spoken_instead(default.voice, self.voice_for(default))
        if recording is not None:
            sample = VoiceSample(await decode(voice_sample_of, recording.data, recording.rate, user=user))
        # While the speaker is loading nobody knows what it can: the worker then does it.
        return msgspec.structs.replace(default, sample=sample), VoiceChoice(default.voice, sample, name, note)

    async def _choose_default(self, request: SpeechRequest, user: str) -> tuple[SpeechRequest, VoiceChoice]:
        """The request in the voice of the settings. Where that is gone, or not this user's, the speaker's own voice speaks: nobody
        has asked for the other one."""
        try:
            return await self.choose_voice(msgspec.structs.replace(request, voice=self.settings.voice), user)
        except NotFound:
            request = msgspec.structs.replace(request, voice="")
            return request, default_gone(self.settings.voice, self.voice_for(request))

    async def with_text(
        self, sample: VoiceSample | None, language: str, request_id: str, seat: Lease | None = None
    ) -> VoiceSample | None:
        """The recording with what is said in it, where the speaker needs that and a recogniser can write it down. That is done in
        `seat`, where the caller has one: if everybody with a seat waited for another one, nobody would ever get it. Raises
        Problem."""
        card = self.card
        if sample is None or sample.text or card is None or not card.clones_by_text:
            return sample
        if card.recogniser.standing != "ready":
            return sample
        if seat is None:
            transcript = await self.transcribe(sample.pcm, request_id, language)
        else:
            try:
                transcript = await self._transcribe_in(seat, sample.pcm, request_id, language)
            finally:
                # The seat is free for what follows only once the worker has said so, also where this failed.
                while not seat.idle:
                    await seat.take()
        return msgspec.structs.replace(sample, text=transcript.text)

    def _with_language(self, request: SpeechRequest) -> SpeechRequest:
        """The request in the language of its voice where it names none: it decides how numbers are read."""
        card = self.card
        if request.language or card is None:
            return request
        name = request.voice or card.default_voice
        language = next((voice.language for voice in card.voices if voice.name == name), "")
        return msgspec.structs.replace(request, language=language)

    @property
    def _worker(self) -> WorkerStatus | None:
        return None if self.seats is None else next(iter(self.seats.workers.values()), None)

    def _model(self, kind: Literal["speaker", "recogniser", "video"]) -> str:
        """What usage calls the engine: its model, or its own name."""
        engine: SpeechEngineStatus = getattr(self.card or SpeechCard(), kind)
        return engine.name or engine.engine

    def _require(self, kind: Literal["speaker", "recogniser"]) -> None:
        if self.seats is None:
            raise Unsupported(NO_VOICE, code="voice_unavailable")
        card = self.card
        if card is None:
            return  # While the worker loads, requests wait for a seat; when it has failed, the scheduler refuses them.
        engine: SpeechEngineStatus = getattr(card, kind)
        if engine.standing in UNUSABLE:
            what = "synthesis" if kind == "speaker" else "recognition"
            sentence = engine.detail or f"This server has no engine for speech {what}."
            raise Unavailable(sentence, code="voice_unavailable")

    # ---- work

    @asynccontextmanager
    async def speak(
        self, request: SpeechRequest, request_id: str = "", *, user: str = "local", part: bool = True
    ) -> AsyncIterator[OpenSpeech]:
        """Synthesise a text; of an `open` request, the text that is written to it. Waits for a seat. Leaving the context stops
        it after the current clause. `part`: another request needs it, such as a reply. Raises Problem."""
        self.require_speaker()
        if not part:
            await self._meter.ready(user)
        with self._meter.request("speech", self._model("speaker"), user=user, part=part) as metered:
            sample = await self.with_text(request.sample, request.language, request_id)
            request = msgspec.structs.replace(request, sample=sample)
            async with self._seat("speech") as lease:
                lease.begin(0, self._with_language(request), request_id)
                yield OpenSpeech(lease, metered)

    @asynccontextmanager
    async def transcribe_recording(
        self,
        chunks: AsyncIterator[bytes],
        request: TranscriptionRequest,
        request_id: str = "",
        *,
        user: str = "",
    ) -> AsyncIterator[AsyncIterator[str | RecordingTranscript]]:
        """Transcribe a recording: its text in pieces, then the transcript of all of it. `request` has the options; its `pcm` is
        replaced by one of `chunks` (16-bit mono, 16 kHz) after the other. Waits for the user's turn and a seat; leaving the context stops it. Raises
        Problem."""
        self.require_recogniser()
        await self._meter.ready(user or LOCAL)
        with self._meter.request("transcription", self._model("recogniser"), user=user or LOCAL) as metered:
            async with (
                self._recogniser(user) as lease,
                aclosing(_transcribe_chunks(lease, chunks, request, request_id, metered)) as pieces,
            ):
                yield pieces

    async def transcribe(
        self, pcm: bytes, request_id: str = "", language: str = "", *, user: str = ""
    ) -> Transcript:
        """Transcribe a short recording (16-bit mono, 16 kHz), for another request. Waits for the user's turn and a seat. Raises Problem."""
        self.require_recogniser()
        model, user = self._model("recogniser"), user or LOCAL
        with self._meter.request("transcription", model, user=user, part=True) as metered:
            async with self._recogniser(user) as lease:
                metered.heard(samples(pcm) / HEARD_RATE)
                return await self._transcribe_in(lease, pcm, request_id, language)

    async def _transcribe_in(self, seat: Lease, pcm: bytes, request_id: str, language: str) -> Transcript:
        seat.begin(0, TranscriptionRequest(pcm, language or self.settings.language), request_id)
        transcript = Transcript("")
        async for event in _events(seat):
            if isinstance(event, call_events.TranscriptText) and event.transcript is not None:
                transcript = event.transcript
        return transcript

    @asynccontextmanager
    async def _recogniser(self, user: str) -> AsyncIterator[Lease]:
        """A seat for a transcription of this user."""
        async with self._transcriptions.turn(user), self._seat("transcription", user) as lease:
            yield lease

    @asynccontextmanager
    async def _seat(self, kind: str, user: str = "") -> AsyncIterator[Lease]:
        """A seat of the voice worker for work of this kind, waiting for it. Raises Problem."""
        assert self.seats is not None
        seat = self.seats.lease(SEAT, kind=kind, user=user)
        with spans.span(kind, kind="client"), seat as lease, self._observe.seat_taken(kind) as seated:
            await _wait_for_seat(lease)
            seated()
            yield lease

    def require_video(self, kind: AvatarKind, *, recorded: bool = False) -> None:
        """Raises Unsupported or Unavailable where there is no video of this kind of avatar, or nothing to speak with (`recorded`: to hear
        with)."""
        self._require("recogniser" if recorded else "speaker")
        card = self.card
        if card is None:
            return  # As in `_require`.
        if card.video.standing in UNUSABLE:
            raise Unavailable(card.video.detail or NO_VIDEO, code="video_unavailable")
        if card.video.standing == "ready" and kind not in card.draws:
            raise Unsupported(
                "The video engine of this server does not draw this kind of avatar. Choose another one.",
                code="avatar_not_drawn",
            )

    @asynccontextmanager
    async def film(
        self, request: ClipRequest, request_id: str = "", *, user: str = ""
    ) -> AsyncIterator[AsyncIterator[call_events.ClipProgress | call_events.ClipData]]:
        """Make a clip: its progress, and its file in pieces. Waits for a seat. Leaving the context stops it. Raises Problem."""
        self.require_video(request.avatar.kind, recorded=bool(request.pcm))
        speech = self._with_language(request.speech)
        await self._meter.ready(user or LOCAL)
        with self._meter.request("clip", self._model("video"), user=user or LOCAL):
            sample = await self.with_text(speech.sample, speech.language, request_id)
            speech = msgspec.structs.replace(speech, sample=sample)
            async with self._seat("clip", user) as lease:
                lease.begin(0, msgspec.structs.replace(request, speech=speech), request_id)
                async with aclosing(_clip_events(lease)) as events:
                    yield events


class OpenSpeech:
    """A text that is being synthesised."""

    def __init__(self, lease: Lease, metered: MeteredRequest) -> None:
        self._lease, self._metered = lease, metered

    def write(self, text: str, *, last: bool = False) -> None:
        """Add text to an open request; `last`: nothing follows."""
        self._lease.send(0, call_events.Text(0, text, last))

    async def sounds(self) -> AsyncGenerator[call_events.ReplyAudio]:
        """The sound, as it is synthesised. Raises Problem."""
        async for event in _events(self._lease):
            if isinstance(event, call_events.ReplyAudio):
                self._metered.spoke(samples(event.pcm) / SPOKEN_RATE)
                yield event


async def _wait_for_seat(lease: Lease) -> None:
    async with aclosing(lease.places()) as places:
        async for _ in places:
            pass


async def _clip_events(lease: Lease) -> AsyncGenerator[call_events.ClipProgress | call_events.ClipData]:
    async with aclosing(_events(lease)) as events:
        async for event in events:
            if isinstance(event, call_events.ClipProgress | call_events.ClipData):
                yield event


async def _events(lease: Lease) -> AsyncGenerator[call_events.CallEvent]:
    """The events of a session up to its end. Raises Problem where it fails."""
    while True:
        for _, event in await lease.take():
            if isinstance(event, Failed):
                raise problem(event)
            if isinstance(event, call_events.CallSessionEnded):
                if event.code:
                    raise Problem(event.message, code=event.code, status=event.status)
                return
            yield event  # type: ignore[misc] # a seat sends only these events


async def _transcribe_chunks(
    lease: Lease,
    chunks: AsyncIterator[bytes],
    request: TranscriptionRequest,
    request_id: str,
    metered: MeteredRequest,
) -> AsyncGenerator[str | RecordingTranscript]:
    """Transcribe one chunk after the other in the same seat."""
    parts: list[Transcript] = []
    previous, start = "", 0.0
    async for pcm in chunks:
        # The session's last event precedes the message that frees its seat: wait for that before the next chunk begins.
        while not lease.idle and parts:
            await lease.take()
        metered.heard(samples(pcm) / HEARD_RATE)
        lease.begin(0, msgspec.structs.replace(request, pcm=pcm), request_id)
        async with aclosing(_events(lease)) as events:
            async for event in events:
                if not isinstance(event, call_events.TranscriptText):
                    continue
                if event.transcript is not None:
                    parts.append(later(event.transcript, start))
                elif event.text:
                    yield following(previous, event.text)
                    previous = event.text
        start += samples(pcm) / HEARD_RATE
    yield RecordingTranscript(joined(parts), start)
