"""A worker's station with speech: a detector, a recogniser and a speaker, and the calls they serve.

Owns the order of loading, what is told of it, and which session a lease opens. Knows no socket and no language model.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar

import msgspec

from duologue.engines.registry import (
    DETECTOR_ENGINES,
    RECOGNISER_ENGINES,
    SPEAKER_ENGINES,
    load_detector,
    load_recogniser,
    load_speaker,
)
from duologue.errors import Problem, StartFailed, Unavailable, Unsupported
from duologue.sessions.call.clock import RealClock
from duologue.sessions.call.session import call
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.speech.speech_task import speak
from duologue.sessions.speech.transcription_task import transcribe
from duologue.sessions.speech.vad_batcher import VadBatcher
from duologue.threads import ThreadLane
from duologue.values.call_events import CallSetup
from duologue.values.events import Failed
from duologue.values.requests import ModelCard
from duologue.values.speech import SpeechCard, SpeechEngineStatus, SpeechRequest, TranscriptionRequest
from duologue.wire import worker_protocol
from duologue.worker.connection import Emit, Tell
from duologue.worker.inbox import ControlInbox
from duologue.worker.state import Standing

log = logging.getLogger(__name__)

Engine = TypeVar("Engine")
Kind = Literal["detector", "recogniser", "speaker"]

VOICE = "voice"
"""The `engine` of a loadout that makes a voice worker."""
SEATS = 32
EXTRAS = {
    "silero": "voice",
    "pocketsphinx": "voice",
    "espeak": "voice",
    "whisper": "whisper",
    "sherpa": "sherpa",
    "qwen": "qwen",
    "kokoro": "kokoro",
    "kokoro_onnx": "kokoro-onnx",
}
"""Which extra of the package brings an engine's library."""


class VoiceStation:
    """The engines of speech and their standing."""

    def __init__(
        self, loadout: worker_protocol.LoadSpec, standing: Standing, changed: Callable[[], None]
    ) -> None:
        self._loadout = loadout
        self._standing = standing
        self._changed = changed
        self._engines = SpeechEngines(VadBatcher(ThreadLane(1)))
        self._clock = RealClock()
        seats = loadout.options.get("seats", SEATS)
        self._seats = seats if isinstance(seats, int) else SEATS
        standing.detail = "The voice is loading."
        standing.speech = SpeechCard(
            detector=self._named("detector"),
            recogniser=self._named("recogniser"),
            speaker=self._named("speaker"),
            seats=self._seats,
        )

    async def load(self) -> None:
        """Load the three, one after the other; each is reported, and none fails the others."""
        engines = self._engines
        engines.detector = await self._loaded("detector", DETECTOR_ENGINES, load_detector)
        engines.recogniser = await self._loaded("recogniser", RECOGNISER_ENGINES, load_recogniser)
        engines.speaker = await self._loaded("speaker", SPEAKER_ENGINES, load_speaker)
        if engines.detector or engines.recogniser or engines.speaker:
            name = self._loadout.model or VOICE
            self._standing.ready(
                ModelCard(name, VOICE, context=0, slots=self._seats, modalities=("audio",), verbs=())
            )
        else:
            self._standing.failed("voice_unavailable", " ".join(dict.fromkeys(engines.reasons.values())))
        self._changed()

    async def serve(self, begin: worker_protocol.Begin, emit: Emit) -> None:
        """Say that no reply is written here."""
        problem = Unsupported("This worker has a voice and no language model.")
        await emit(Failed(problem.code, problem.message, problem.status))

    async def attend(self, opened: worker_protocol.Open, inbox: ControlInbox, tell: Tell) -> None:
        """One call, speech or transcription. Raises Problems."""
        match opened.request:
            case CallSetup() as setup:
                await call(self._engines, setup, inbox, tell, self._clock)
            case SpeechRequest() as request:
                await speak(self._engines, request, inbox, tell)
            case TranscriptionRequest() as request:
                await transcribe(self._engines, request, tell)

    async def count(self, asked: worker_protocol.Count) -> worker_protocol.Counted:
        """Raises Unavailable: there is no language model to count for."""
        raise Unavailable("This worker has a voice and no language model.")

    async def close(self) -> None:
        """Let go of the engines."""
        engines = self._engines
        for engine in (engines.speaker, engines.recogniser, engines.detector):
            if engine is not None:
                await engine.close()

    # ---- loading

    def _options(self, kind: Kind) -> dict[str, Any]:
        options = self._loadout.options.get(kind)
        return dict(options) if isinstance(options, dict) else {}

    def _named(self, kind: Kind) -> SpeechEngineStatus:
        name = str(self._options(kind).get("engine", ""))
        return SpeechEngineStatus("loading" if name else "absent", name)

    async def _loaded(
        self,
        kind: Kind,
        table: dict[str, tuple[str, str]],
        loading: Callable[[str, dict[str, Any]], Awaitable[Engine]],
    ) -> Engine | None:
        """The engine of this kind, or None with its station saying why not."""
        options = self._options(kind)
        name = str(options.pop("engine", ""))
        if not name:
            self._engines.reasons[kind] = f"This server has no {kind}; the setting voice.{kind} names one."
            self._report(kind, SpeechEngineStatus("absent", detail=self._engines.reasons[kind]))
            return None
        try:
            if name not in table:
                known = ", ".join(sorted(table))
                raise StartFailed(f"There is no {kind} {name!r}. Known: {known}.")
            engine = await loading(name, options)
        except Problem as problem:
            why = problem.message
        except ImportError as error:
            log.warning("the %s %s cannot be imported: %s", kind, name, error)
            extra = EXTRAS.get(name, "voice")
            why = (
                f"The {kind} {name} needs {error.name or 'a library'}, which is not installed. "
                f"Add it with: pip install 'duologue[{extra}]'"
            )
        except Exception:
            # A library's own failure has no sentence of ours; the trace belongs in the log and nowhere else.
            log.exception("the %s %s failed to load", kind, name)
            why = f"The {kind} {name} failed to load. The server's log has the reason."
        else:
            self._report(kind, SpeechEngineStatus("ready", name, getattr(engine, "name", name)), engine)
            return engine
        self._engines.reasons[kind] = why
        self._report(kind, SpeechEngineStatus("failed", name, detail=why))
        return None

    def _report(self, kind: Kind, station: SpeechEngineStatus, engine: Any = None) -> None:
        """Note how one of them is, with what it can do, and tell the gateway."""
        card = self._standing.speech
        assert card is not None
        match kind:
            case "detector":
                card = msgspec.structs.replace(card, detector=station)
            case "recogniser":
                card = msgspec.structs.replace(card, recogniser=station)
                if engine is not None:
                    card = msgspec.structs.replace(
                        card,
                        hears=tuple(engine.languages),
                        partials=engine.partial_results,
                        word_times=engine.word_timestamps,
                        limited=engine.limitation,
                    )
            case "speaker":
                card = msgspec.structs.replace(card, speaker=station)
                if engine is not None:
                    voices = tuple(engine.voices)
                    card = msgspec.structs.replace(card, voices=voices, default_voice=voices[0].name)
        self._standing.speech = card
        self._changed()
