"""The voice as the dialects use it: a text spoken, a recording written down, and what can be asked for.

Owns the seat that either takes, for as long as it takes, and the refusal of what cannot be had before it waits in any
queue. Knows no dialect and no file.
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
from duologue.media.chunks import Passages
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
MISSING = ("absent", "failed")
"""How an engine stands that cannot be used."""


class SpeechService:
    """Speaking and writing down, over the seats of the voice worker; `seats` None: there is no voice."""

    def __init__(self, seats: Pool | None, settings: VoiceSettings | None = None) -> None:
        self.seats = seats
        self.settings = settings or VoiceSettings()

    # ---- what there is

    @property
    def card(self) -> SpeechCard | None:
        """What the voice can do; None while that is not known, and where there is none."""
        view = self._view
        return view.speech if view is not None and view.state == "ready" else None

    @property
    def standing(self) -> tuple[State, str]:
        """How the voice is, and a sentence about it where it is not ready."""
        view = self._view
        if view is None:
            return "absent", NO_VOICE
        if view.state == "ready":
            return "ready", ""
        if view.state == "failed":
            return "failed", view.detail
        return "loading", "The voice is loading."

    def view(self) -> dict[str, Any]:
        """The voice as `/api/capabilities` shows it."""
        state, detail = self.standing
        worker = self._view
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
        """What of it there is: `speech` (it speaks), `transcription` (it writes down speech), `voice` (it can be called)."""
        card = self.card or SpeechCard()
        detects, hears, speaks = (
            station.standing not in MISSING for station in (card.detector, card.recogniser, card.speaker)
        )
        return {"voice": detects and hears and speaks, "speech": speaks, "transcription": hears}

    def check_speaks(self) -> None:
        """Raises Unsupported, or Unavailable, where nothing here speaks."""
        self._check("speaker")

    def check_hears(self) -> None:
        """Raises Unsupported, or Unavailable, where nothing here writes down speech."""
        self._check("recogniser")

    def voice(self, name: str) -> str:
        """The loaded voice a name stands for. Raises NotFound."""
        return speech.voice_named(name, self.card, self.settings.voice)

    def speaks_with(self, request: SpeechRequest) -> str:
        """The name of the voice that speaks a request: its own, else one of its language, else the default one. "" while that
        is not known."""
        card = self.card
        if request.voice or card is None:
            return request.voice
        known = sorted(card.voices, key=lambda voice: voice.name != card.default_voice)
        wanted = request.language.lower().replace("_", "-").split("-")
        for length in (None, 1):
            for voice in known:
                if voice.language.lower().split("-")[:length] == wanted[:length]:
                    return voice.name
        return card.default_voice

    def _in_its_language(self, request: SpeechRequest) -> SpeechRequest:
        """The request, in the language of its voice where it names none: numbers are read in it."""
        card = self.card
        if request.language or card is None:
            return request
        name = request.voice or card.default_voice
        language = next((voice.language for voice in card.voices if voice.name == name), "")
        return msgspec.structs.replace(request, language=language)

    @property
    def _view(self) -> WorkerStatus | None:
        return None if self.seats is None else next(iter(self.seats.workers.values()), None)

    def _check(self, kind: Literal["speaker", "recogniser"]) -> None:
        if self.seats is None:
            raise Unsupported(NO_VOICE, code="voice_unavailable")
        card = self.card
        if card is None:
            return  # it loads, and whoever asks waits; or it failed, which the queue says
        station: SpeechEngineStatus = getattr(card, kind)
        if station.standing in MISSING:
            what = "speaks" if kind == "speaker" else "writes down speech"
            raise Unavailable(station.detail or f"Nothing here {what}.", code="voice_unavailable")

    # ---- doing it

    @asynccontextmanager
    async def speak(self, request: SpeechRequest, request_id: str = "") -> AsyncIterator[OpenSpeech]:
        """Have a text spoken; of an `open` request, what it is told. Waits for a seat. Leaving ends it within a piece.

        Raises Problems.
        """
        self.check_speaks()
        assert self.seats is not None
        with self.seats.lease(SEAT, kind="speech") as lease:
            await _seated(lease)
            lease.begin(0, self._in_its_language(request), request_id)
            yield OpenSpeech(lease)

    @asynccontextmanager
    async def write_down(
        self, passages: Passages, request: TranscriptionRequest, request_id: str = ""
    ) -> AsyncIterator[AsyncIterator[str | Transcript]]:
        """Have a recording written down: its text in pieces, and then the transcript of all of it. `request` says how; its
        sound are the passages. Waits for a seat; leaving ends it. Raises Problems."""
        self.check_hears()
        assert self.seats is not None
        with self.seats.lease(SEAT, kind="transcription") as lease:
            await _seated(lease)
            async with aclosing(_written(lease, passages, request, request_id)) as pieces:
                yield pieces

    async def transcript(self, pcm: bytes, request_id: str = "", language: str = "") -> Transcript:
        """What a short recording (16-bit mono, 16 kHz) says. Waits for a seat. Raises Problems."""
        self.check_hears()
        assert self.seats is not None
        asked = TranscriptionRequest(pcm, language or self.settings.language)
        with self.seats.lease(SEAT, kind="transcription") as lease:
            await _seated(lease)
            lease.begin(0, asked, request_id)
            found = Transcript("")
            async for event in _events(lease):
                if isinstance(event, call_events.TranscriptText) and event.transcript is not None:
                    found = event.transcript
            return found


class OpenSpeech:
    """A text that is being spoken."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease

    def write(self, text: str, *, last: bool = False) -> None:
        """More text of an open request."""
        self._lease.tell(0, call_events.Text(0, text, last))

    async def sounds(self) -> AsyncGenerator[call_events.ReplyAudio]:
        """Its sound, as it is made. Raises Problems."""
        async for event in _events(self._lease):
            if isinstance(event, call_events.ReplyAudio):
                yield event


async def _seated(lease: Lease) -> None:
    async with aclosing(lease.places()) as places:
        async for _ in places:
            pass


async def _events(lease: Lease) -> AsyncGenerator[call_events.CallEvent]:
    """What the session says up to its end. Raises Problem where that is a failure."""
    while True:
        for _, event in await lease.take():
            if isinstance(event, Failed):
                raise problem(event)
            if isinstance(event, call_events.CallSessionEnded):
                if event.code:
                    raise Problem(event.message, code=event.code, status=event.status)
                return
            yield event  # type: ignore[misc] # a seat says nothing else


async def _written(
    lease: Lease, passages: Passages, request: TranscriptionRequest, request_id: str
) -> AsyncGenerator[str | Transcript]:
    """One passage after the other, in the same seat."""
    parts: list[Transcript] = []
    told, start = "", 0.0
    while pcm := await decode(passages.next):
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
                    yield following(told, event.text)
                    told = event.text
        start = passages.seconds
    yield joined(parts)
