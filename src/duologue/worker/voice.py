"""The service of a voice worker: a detector, a recogniser and a speaker, and the calls and requests they serve.

Loads the three engines, then the optional ones (the estimator of the ends of turns, video), reports each to the gateway, and starts
the session that a lease asks for.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar

import msgspec

from duologue.engines.contracts import CloningSpeaker
from duologue.engines.registry import (
    DETECTOR_ENGINES,
    RECOGNISER_ENGINES,
    SPEAKER_ENGINES,
    TURN_END_ENGINES,
    VIDEO_ENGINES,
    load_detector,
    load_recogniser,
    load_speaker,
    load_turn_end,
    load_video,
)
from duologue.errors import Problem, StartFailed, Unavailable, Unsupported
from duologue.sessions.call.clock import RealClock
from duologue.sessions.call.session import call
from duologue.sessions.chat.reply_controls import ReplyControls
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.speech.speech_task import SendEvent, speak
from duologue.sessions.speech.transcription_task import transcribe
from duologue.sessions.speech.vad_batcher import VadBatcher
from duologue.sessions.video.clip import make_clip
from duologue.threads import ThreadLane
from duologue.values.avatars import ClipRequest
from duologue.values.call_events import CallSetup
from duologue.values.events import Failed
from duologue.values.questions.worker_answers import Answer
from duologue.values.questions.worker_questions import Question
from duologue.values.requests import ModelCard
from duologue.values.speech import SpeechCard, SpeechEngineStatus, SpeechRequest, TranscriptionRequest
from duologue.wire import worker_protocol
from duologue.worker.connection import Emit
from duologue.worker.inbox import ControlInbox
from duologue.worker.state import WorkerLifecycle

log = logging.getLogger(__name__)

Engine = TypeVar("Engine")
Kind = Literal["detector", "recogniser", "speaker", "turn_end", "video"]

VOICE = "voice"
"""The `engine` of a load spec that makes a voice worker."""
SEATS = 32
"""Calls at a time, unless the load spec says otherwise."""
EXTRAS = {
    "silero": "voice",
    "pocketsphinx": "voice",
    "espeak": "voice",
    "whisper": "whisper",
    "sherpa": "voice",
    "qwen": "qwen",
    "kokoro": "kokoro",
    "kokoro_onnx": "kokoro-onnx",
    "pocket": "pocket",
    "portrait": "voice",
    "musetalk": "video",
}
"""The extra of the package that installs an engine's library."""
IN_SENTENCES = {"turn_end": "end-of-turn model", "video": "video engine"}
"""Kinds whose name is not a word."""


class VoiceService:
    """The speech engines. `report` sends the worker's status to the gateway."""

    def __init__(
        self, load_spec: worker_protocol.LoadSpec, status: WorkerLifecycle, report: Callable[[], None]
    ) -> None:
        self._load_spec = load_spec
        self._status = status
        self._report = report
        self.engines = SpeechEngines(VadBatcher(ThreadLane(1)))
        self._clock = RealClock()
        seats = load_spec.options.get("seats", SEATS)
        self._seats = seats if isinstance(seats, int) else SEATS
        status.detail = "The voice is loading."
        status.speech = SpeechCard(
            detector=self._initial_status("detector"),
            recogniser=self._initial_status("recogniser"),
            speaker=self._initial_status("speaker"),
            turn_end=self._initial_status("turn_end"),
            video=self._initial_status("video"),
            seats=self._seats,
        )

    async def watch(self) -> None:
        """Nothing of the engines changes."""

    async def load(self) -> None:
        """Load the engines one after the other. Each is reported; one that fails leaves the others usable."""
        engines = self.engines
        engines.detector = await self._load_engine("detector", DETECTOR_ENGINES, load_detector)
        engines.recogniser = await self._load_engine("recogniser", RECOGNISER_ENGINES, load_recogniser)
        engines.speaker = await self._load_engine("speaker", SPEAKER_ENGINES, load_speaker)
        if self._options("turn_end"):
            engines.turn_end = await self._load_engine("turn_end", TURN_END_ENGINES, load_turn_end)
        if self._options("video"):
            engines.video = await self._load_engine("video", VIDEO_ENGINES, load_video)
        if engines.detector or engines.recogniser or engines.speaker:
            name = self._load_spec.model or VOICE
            self._status.ready(
                ModelCard(
                    name,
                    VOICE,
                    context=0,
                    slots=self._seats,
                    modalities=("audio",),
                    verbs=(),
                    device=self._device(),
                )
            )
        else:
            self._status.failed("voice_unavailable", " ".join(dict.fromkeys(engines.reasons.values())))
        self._report()

    def _device(self) -> str:
        """Where the engines run; "" where they choose it themselves."""
        device = self._load_spec.device
        if device == "auto":
            return ""
        hears = self.engines.recogniser and "device" in self._options("recogniser")
        speaks = self.engines.speaker and "device" in self._options("speaker")
        return device if hears or speaks else "cpu"

    async def generate(self, begin: worker_protocol.Begin, emit: Emit, controls: ReplyControls) -> None:
        """Refuse: there is no language model."""
        problem = Unsupported("This worker has a voice and no language model.")
        await emit(Failed(problem.code, problem.message, problem.status))

    async def run_session(self, opening: worker_protocol.Open, inbox: ControlInbox, send: SendEvent) -> None:
        """Run one call, speech request, transcription or clip. Raises Problems."""
        match opening.request:
            case CallSetup() as setup:
                await call(self.engines, setup, inbox, send, self._clock)
            case SpeechRequest() as request:
                await speak(self.engines, request, inbox, send)
            case TranscriptionRequest() as request:
                await transcribe(self.engines, request, send)
            case ClipRequest() as clip:
                await make_clip(self.engines, clip, send)

    async def answer(self, question: Question) -> Answer:
        """Raises Unavailable: there is no language model."""
        raise Unavailable("This worker has a voice and no language model.")

    async def close(self) -> None:
        """Release the engines."""
        engines = self.engines
        for engine in (
            engines.video,
            engines.turn_end,
            engines.speaker,
            engines.recogniser,
            engines.detector,
        ):
            if engine is not None:
                await engine.close()

    # ---- loading

    def _options(self, kind: Kind) -> dict[str, Any]:
        options = self._load_spec.options.get(kind)
        return dict(options) if isinstance(options, dict) else {}

    def _initial_status(self, kind: Kind) -> SpeechEngineStatus:
        name = str(self._options(kind).get("engine", ""))
        return SpeechEngineStatus("loading" if name else "absent", name)

    async def _load_engine(
        self,
        kind: Kind,
        table: dict[str, tuple[str, str]],
        loader: Callable[[str, dict[str, Any]], Awaitable[Engine]],
    ) -> Engine | None:
        """The engine of this kind. None if it cannot be loaded; its status then says why."""
        options = self._options(kind)
        name = str(options.pop("engine", ""))
        if not name:
            self.engines.reasons[kind] = f"This server has no {kind}; the setting voice.{kind} names one."
            self._report_engine(kind, SpeechEngineStatus("absent", detail=self.engines.reasons[kind]))
            return None
        label = IN_SENTENCES.get(kind, kind)
        try:
            if name not in table:
                known = ", ".join(sorted(table))
                raise StartFailed(f"There is no {label} {name!r}. Known: {known}.")
            engine = await loader(name, options)
        except Problem as problem:
            reason = problem.message
        except ImportError as error:
            log.warning("the %s %s cannot be imported: %s", label, name, error)
            extra = EXTRAS.get(name, "voice")
            reason = (
                f"The {label} {name} needs {error.name or 'a library'}, which is not installed. "
                f"Add it with: pip install 'duologue[{extra}]'"
            )
        except Exception:
            # An unexpected failure of a library: its text may reveal paths or data, so it goes to the log only.
            log.exception("the %s %s failed to load", label, name)
            reason = f"The {label} {name} failed to load. The server's log has the reason."
        else:
            self._report_engine(
                kind, SpeechEngineStatus("ready", name, getattr(engine, "name", name)), engine
            )
            return engine
        self.engines.reasons[kind] = reason
        self._report_engine(kind, SpeechEngineStatus("failed", name, detail=reason))
        return None

    def _report_engine(self, kind: Kind, status: SpeechEngineStatus, engine: Any = None) -> None:
        """Record the status of one engine and what it can do, and tell the gateway."""
        card = self._status.speech
        assert card is not None
        match kind:
            case "detector":
                card = msgspec.structs.replace(card, detector=status)
            case "recogniser":
                card = msgspec.structs.replace(card, recogniser=status)
                if engine is not None:
                    card = msgspec.structs.replace(
                        card,
                        hears=tuple(engine.languages),
                        partials=engine.partial_results,
                        word_times=engine.word_timestamps,
                        limited=engine.limitation,
                    )
            case "speaker":
                card = msgspec.structs.replace(card, speaker=status)
                if engine is not None:
                    voices = tuple(engine.voices)
                    card = msgspec.structs.replace(
                        card,
                        voices=voices,
                        default_voice=voices[0].name,
                        clones=isinstance(engine, CloningSpeaker),
                        clones_by_text=bool(getattr(engine, "needs_sample_text", False)),
                    )
            case "turn_end":
                card = msgspec.structs.replace(card, turn_end=status)
            case "video":
                draws = () if engine is None else tuple(engine.kinds)
                card = msgspec.structs.replace(card, video=status, draws=draws)
        self._status.speech = card
        self._report()
