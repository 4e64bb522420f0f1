"""Speech synthesis and transcription for the dialects, on the seats of the voice worker.

Owns the seat each request leases, and refuses what the engines cannot do before it waits in a queue. Called by `dialects` and
`admin.status`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, Literal

import msgspec

from duologue.config.voice import VoiceSettings
from duologue.errors import Problem, Unavailable, Unsupported
from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.voice_seats import NO_VOICE, SEAT
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.media.chunks import AudioChunks
from duologue.media.decoding import decode
from duologue.values import call_events
from duologue.values.events import Failed
from duologue.values.speech import (
    SpeechCard,
    SpeechEngineStatus,
    SpeechRequest,
    Transcript,
    TranscriptionRequest,
)
from duologue.values.transcripts import following, joined, later
from duologue.wire import speech
from duologue.wire.collected_reply import problem

State = Literal["absent", "loading", "ready", "failed"]
UNUSABLE = ("absent", "failed")
"""The states of an engine that cannot be used."""


class SpeechService:
    """Synthesis and transcription. `seats` None: the server has no voice."""

    def __init__(self, seats: Pool | None, settings: VoiceSettings | None = None) -> None:
        self.seats = seats
        self.settings = settings or VoiceSettings()

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
            "voices": msgspec.to_builtins(card.voices),
            "default_voice": self.settings.voice or card.default_voice,
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

    def require_speaker(self) -> None:
        """Raises Unsupported or Unavailable where speech synthesis is not available."""
        self._require("speaker")

    def require_recogniser(self) -> None:
        """Raises Unsupported or Unavailable where speech recognition is not available."""
        self._require("recogniser")

    def resolve_voice(self, name: str) -> str:
        """The name of the loaded voice that `name` stands for. Raises NotFound."""
        return speech.resolve_voice(name, self.card, self.settings.voice)

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
    async def speak(self, request: SpeechRequest, request_id: str = "") -> AsyncIterator[OpenSpeech]:
        """Synthesise a text; of an `open` request, the text that is written to it. Waits for a seat. Leaving the context stops
        it after the current clause. Raises Problem."""
        self.require_speaker()
        assert self.seats is not None
        with self.seats.lease(SEAT, kind="speech") as lease:
            await _wait_for_seat(lease)
            lease.begin(0, self._with_language(request), request_id)
            yield OpenSpeech(lease)

    @asynccontextmanager
    async def transcribe_recording(
        self, chunks: AudioChunks, request: TranscriptionRequest, request_id: str = ""
    ) -> AsyncIterator[AsyncIterator[str | Transcript]]:
        """Transcribe a recording: its text in pieces, then the transcript of all of it. `request` has the options; its `pcm` is
        replaced by one chunk after the other. Waits for a seat; leaving the context stops it. Raises Problem."""
        self.require_recogniser()
        assert self.seats is not None
        with self.seats.lease(SEAT, kind="transcription") as lease:
            await _wait_for_seat(lease)
            async with aclosing(_transcribe_chunks(lease, chunks, request, request_id)) as pieces:
                yield pieces

    async def transcribe(self, pcm: bytes, request_id: str = "", language: str = "") -> Transcript:
        """Transcribe a short recording (16-bit mono, 16 kHz). Waits for a seat. Raises Problem."""
        self.require_recogniser()
        assert self.seats is not None
        request = TranscriptionRequest(pcm, language or self.settings.language)
        with self.seats.lease(SEAT, kind="transcription") as lease:
            await _wait_for_seat(lease)
            lease.begin(0, request, request_id)
            transcript = Transcript("")
            async for event in _events(lease):
                if isinstance(event, call_events.TranscriptText) and event.transcript is not None:
                    transcript = event.transcript
            return transcript


class OpenSpeech:
    """A text that is being synthesised."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease

    def write(self, text: str, *, last: bool = False) -> None:
        """Add text to an open request; `last`: nothing follows."""
        self._lease.send(0, call_events.Text(0, text, last))

    async def sounds(self) -> AsyncGenerator[call_events.ReplyAudio]:
        """The sound, as it is synthesised. Raises Problem."""
        async for event in _events(self._lease):
            if isinstance(event, call_events.ReplyAudio):
                yield event


async def _wait_for_seat(lease: Lease) -> None:
    async with aclosing(lease.places()) as places:
        async for _ in places:
            pass


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
    lease: Lease, chunks: AudioChunks, request: TranscriptionRequest, request_id: str
) -> AsyncGenerator[str | Transcript]:
    """Transcribe one chunk after the other in the same seat."""
    parts: list[Transcript] = []
    previous, start = "", 0.0
    while pcm := await decode(chunks.next_chunk):
        # The session's last event precedes the message that frees its seat: wait for that before the next chunk begins.
        while not lease.idle and parts:
            await lease.take()
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
        start = chunks.seconds
    yield joined(parts)
