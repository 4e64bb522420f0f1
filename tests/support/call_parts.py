"""A call without a microphone, a model or a socket, on a clock that tests advance.

The caller speaks in tones (`speech`), the detector detects loudness, the recogniser returns scripted texts, and the voice
is the package's scripted speaker.
"""

from __future__ import annotations

import math
from array import array
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio
from anyio.lowlevel import checkpoint

from duologue.engines.scripted.speaker import ScriptedSpeaker
from duologue.sessions.call.clock import StepClock
from duologue.sessions.call.session import call
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.speech.vad_batcher import VadBatcher
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES
from duologue.values.call_events import (
    CallControl,
    CallEvent,
    CallSetup,
    Cut,
    MicrophoneAudio,
    Played,
    ReplyAudio,
    ReplyAudioEnded,
    ReplyAudioStarted,
    ReplyText,
    SpeakingClip,
    Text,
    VideoSegment,
)
from duologue.values.speech import TimedWord, Transcript
from duologue.worker.inbox import ControlInbox

T = TypeVar("T")
STEP = 0.032
"""Seconds that a call is advanced at a time: a frame."""


class Inline:
    """A lane without threads: runs each step at once."""

    async def run(self, step: Callable[[], T]) -> T:
        return step()


class LoudnessDetector:
    """Takes everything loud for speech."""

    def probability(self, frame: bytes) -> float:
        return 0.95 if max(array("h", frame)) > 1000 else 0.02

    def reset(self) -> None:
        """Nothing is remembered."""


class Loudness:
    name = "loudness"

    def open(self) -> LoudnessDetector:
        return LoudnessDetector()

    def release(self, detector: object) -> None:
        """Nothing is kept."""

    async def close(self) -> None:
        """Nothing is held."""


class ScriptedStream:
    def __init__(self, text: str, record: list[int]) -> None:
        self._words = text.split()
        self._record = record
        self._fed = 0

    async def feed(self, pcm: bytes) -> str:
        self._fed += len(pcm) // SAMPLE_BYTES
        return " ".join(self._words[: self._fed * 4 // HEARD_RATE])

    async def finish(self) -> Transcript:
        self._record.append(self._fed)
        text = " ".join(self._words)
        return Transcript(text, understood=bool(text))


class ScriptedTexts:
    """A recogniser that returns these texts, one for each stream, four words a second, and then nothing."""

    name = "scripted_texts"
    languages = ("en",)
    partial_results = True
    word_timestamps = True
    limitation = ""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts = deque(texts)
        self.finished: list[int] = []
        """Samples fed to each listener that was asked to finish."""
        self.listening = 0

    @asynccontextmanager
    async def stream(self, *, language: str = "", prompt: str = "") -> AsyncIterator[ScriptedStream]:
        self.listening += 1
        try:
            yield ScriptedStream(self.texts.popleft() if self.texts else "", self.finished)
        finally:
            self.listening -= 1

    async def transcribe(
        self, pcm: bytes, *, language: str = "", prompt: str = "", word_timestamps: bool = False
    ) -> Transcript:
        text = self.texts.popleft() if self.texts else ""
        end = len(pcm) / SAMPLE_BYTES / HEARD_RATE
        return Transcript(
            text, (TimedWord(text, 0.0, end),) if word_timestamps else (), understood=bool(text)
        )

    async def close(self) -> None:
        """Nothing is held."""


def speech(seconds: float, loudness: int = 9000) -> bytes:
    """A tone that counts as speech."""
    step = 2 * math.pi * 300 / HEARD_RATE
    count = round(seconds * HEARD_RATE)
    return array("h", [round(loudness * math.sin(step * at)) for at in range(count)]).tobytes()


def silence(seconds: float) -> bytes:
    return bytes(round(seconds * HEARD_RATE) * SAMPLE_BYTES)


def engines(texts: Iterable[str] = (), **options: Any) -> SpeechEngines:
    """The engines of a call, scripted."""
    return SpeechEngines(VadBatcher(Inline()), Loudness(), ScriptedTexts(texts), ScriptedSpeaker(**options))


class CallControls(ControlInbox):
    """The controls that a test sends to a session."""

    # A test sends its controls one after the other.
    def put(self, *controls: CallControl) -> None:  # type: ignore[override]
        super().put(controls)


class RunningCall:
    """A running call, seen from the gateway."""

    def __init__(self, clock: StepClock) -> None:
        self.clock = clock
        self.controls = CallControls()
        self.events: list[CallEvent] = []
        self.stale: list[CallEvent] = []
        """Sound that came after its reply was cut, and events of an older epoch."""
        self._cut: set[int] = set()
        self._epoch = 0

    async def receive(self, event: CallEvent) -> None:
        self.events.append(event)
        epoch = getattr(event, "epoch", 0)
        late = (
            isinstance(
                event,
                ReplyAudio | ReplyAudioStarted | ReplyAudioEnded | ReplyText | SpeakingClip | VideoSegment,
            )
            and event.reply in self._cut
        )
        if late or epoch < self._epoch:
            self.stale.append(event)
        self._epoch = epoch
        if isinstance(event, Cut):
            self._cut.add(event.reply)

    async def settle(self) -> None:
        """Let everything happen that needs no time. Rounds of the loop, not of the clock: no chain of tasks here is as long."""
        for _ in range(40):
            await checkpoint()

    async def say(self, *controls: CallControl) -> None:
        self.controls.put(*controls)
        await self.settle()

    async def sound(self, pcm: bytes) -> None:
        """Send sound at the pace of the clock."""
        piece = round(STEP * HEARD_RATE) * SAMPLE_BYTES
        for at in range(0, len(pcm), piece):
            self.controls.put(MicrophoneAudio(pcm[at : at + piece]))
            self.clock.advance(STEP)
            await self.settle()

    async def speak(self, seconds: float) -> None:
        await self.sound(speech(seconds))

    async def be_quiet(self, seconds: float) -> None:
        await self.sound(silence(seconds))

    async def until(self, condition: Callable[[], object], seconds: float = 30.0) -> None:
        """Send silence until a condition holds."""
        waited = 0.0
        while not condition():
            assert waited < seconds, f"the condition never held: {self.names()}"
            await self.be_quiet(STEP)
            waited += STEP

    async def answer(self, reply: int, text: str) -> None:
        await self.say(Text(reply, text, last=True))

    # ---- events

    def of(self, kind: type[T]) -> list[T]:
        return [event for event in self.events if isinstance(event, kind)]

    def names(self) -> list[str]:
        """The types of the events in order, repeated ones once."""
        names: list[str] = []
        for event in self.events:
            name = type(event).__name__
            if not names or names[-1] != name:
                names.append(name)
        return names

    def sent(self, reply: int) -> int:
        """Samples of the reply that arrived, as sound or in a clip."""
        sound = sum(len(sound.pcm) // SAMPLE_BYTES for sound in self.of(ReplyAudio) if sound.reply == reply)
        return sound + sum(clip.samples for clip in self.of(SpeakingClip) if clip.reply == reply)


class Player:
    """A client's player: plays what arrives at the pace of the clock, and reports its position."""

    def __init__(self, running: RunningCall) -> None:
        self._call = running
        self.played: dict[int, float] = {}

    async def play(self, seconds: float) -> None:
        """Play for this long in silence; marks every 32 ms."""
        for _ in range(round(seconds / STEP)):
            sounds = {sound.reply for sound in self._call.of(ReplyAudio)}
            for reply in sounds | {clip.reply for clip in self._call.of(SpeakingClip)}:
                at = self.played.get(reply, 0.0)
                self.played[reply] = min(float(self._call.sent(reply)), at + STEP * 24_000)
                self._call.controls.put(Played(reply, int(self.played[reply])))
            await self._call.be_quiet(STEP)


@asynccontextmanager
async def running_call(
    machine: Any = None, setup: CallSetup | None = None, **options: Any
) -> AsyncIterator[RunningCall]:
    """A call, ended by hanging up. Without `machine`, the real one decides."""
    clock = StepClock()
    running = RunningCall(clock)
    encoders = options.pop("encoders", None)
    parts = options.pop("engines", None) or engines(**options)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(
            call, parts, setup or CallSetup(), running.controls, running.receive, clock, machine, encoders
        )
        await running.settle()
        yield running
        tasks.cancel_scope.cancel()


# ---- for a worker, which loads its engines by name


async def load_detector(options: dict[str, Any]) -> Loudness:
    return Loudness()


async def load_recogniser(options: dict[str, Any]) -> ScriptedTexts:
    return ScriptedTexts(options.get("texts", ()))
