"""A call without a microphone, a model or a socket, on a clock that moves when it is told to.

Somebody speaks by tones (`speech`), a detector hears loudness, a recogniser says what it was given to say, and the
voice is the package's scripted speaker.
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
    Text,
)
from duologue.values.speech import TimedWord, Transcript
from duologue.worker.inbox import ControlInbox

T = TypeVar("T")
STEP = 0.032
"""Seconds a call is moved on by at a time: a frame."""


class Inline:
    """A lane without threads: what it is given is done at once."""

    async def run(self, step: Callable[[], T]) -> T:
        return step()


class LoudnessDetector:
    """What is loud is speech."""

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


class SayingListener:
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


class Saying:
    """A recogniser that hears these texts, one for each time it listens, and then nothing; four words a second."""

    name = "saying"
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
    async def stream(self, *, language: str = "", prompt: str = "") -> AsyncIterator[SayingListener]:
        self.listening += 1
        try:
            yield SayingListener(self.texts.popleft() if self.texts else "", self.finished)
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
    """A tone that counts as somebody speaking."""
    step = 2 * math.pi * 300 / HEARD_RATE
    count = round(seconds * HEARD_RATE)
    return array("h", [round(loudness * math.sin(step * at)) for at in range(count)]).tobytes()


def silence(seconds: float) -> bytes:
    return bytes(round(seconds * HEARD_RATE) * SAMPLE_BYTES)


def engines(texts: Iterable[str] = (), **options: Any) -> SpeechEngines:
    """Everything a call needs, scripted."""
    return SpeechEngines(VadBatcher(Inline()), Loudness(), Saying(texts), ScriptedSpeaker(**options))


class Told(ControlInbox):
    """What a session is told by a test."""

    def put(self, *controls: CallControl) -> None:
        super().put(controls)


class Talk:
    """A call that runs, and whoever is at its other end."""

    def __init__(self, clock: StepClock) -> None:
        self.clock = clock
        self.told = Told()
        self.events: list[CallEvent] = []
        self.stale: list[CallEvent] = []
        """Sound that came after its reply was cut, and whatever carries an epoch that was over."""
        self._cut: set[int] = set()
        self._epoch = 0

    async def hear(self, event: CallEvent) -> None:
        self.events.append(event)
        epoch = getattr(event, "epoch", 0)
        late = (
            isinstance(event, ReplyAudio | ReplyAudioStarted | ReplyAudioEnded | ReplyText)
            and event.reply in self._cut
        )
        if late or epoch < self._epoch:
            self.stale.append(event)
        self._epoch = epoch
        if isinstance(event, Cut):
            self._cut.add(event.reply)

    async def settle(self) -> None:
        """Let everything happen that needs no time."""
        for _ in range(40):
            await checkpoint()

    async def say(self, *controls: CallControl) -> None:
        self.told.put(*controls)
        await self.settle()

    async def sound(self, pcm: bytes) -> None:
        """Speak, at the pace of time."""
        piece = round(STEP * HEARD_RATE) * SAMPLE_BYTES
        for at in range(0, len(pcm), piece):
            self.told.put(MicrophoneAudio(pcm[at : at + piece]))
            self.clock.advance(STEP)
            await self.settle()

    async def speak(self, seconds: float) -> None:
        await self.sound(speech(seconds))

    async def be_quiet(self, seconds: float) -> None:
        await self.sound(silence(seconds))

    async def until(self, found: Callable[[], object], seconds: float = 30.0) -> None:
        """Be quiet until something is the case."""
        waited = 0.0
        while not found():
            assert waited < seconds, f"it never was: {self.names()}"
            await self.be_quiet(STEP)
            waited += STEP

    async def answer(self, reply: int, text: str) -> None:
        await self.say(Text(reply, text, last=True))

    # ---- what was said

    def of(self, kind: type[T]) -> list[T]:
        return [event for event in self.events if isinstance(event, kind)]

    def names(self) -> list[str]:
        """The kinds of events in order, several of a kind in a row once."""
        names: list[str] = []
        for event in self.events:
            name = type(event).__name__
            if not names or names[-1] != name:
                names.append(name)
        return names

    def sent(self, reply: int) -> int:
        """Samples of the reply's sound that came."""
        return sum(len(sound.pcm) // SAMPLE_BYTES for sound in self.of(ReplyAudio) if sound.reply == reply)


class Player:
    """A client's loudspeaker: plays what comes in real time, and tells how far it is."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self.played: dict[int, float] = {}

    async def play(self, seconds: float) -> None:
        """Be quiet for so long, while what was sent sounds; marks every 32 ms."""
        for _ in range(round(seconds / STEP)):
            for reply in {sound.reply for sound in self._talk.of(ReplyAudio)}:
                at = self.played.get(reply, 0.0)
                self.played[reply] = min(float(self._talk.sent(reply)), at + STEP * 24_000)
                self._talk.told.put(Played(reply, int(self.played[reply])))
            await self._talk.be_quiet(STEP)


@asynccontextmanager
async def talking(machine: Any = None, setup: CallSetup | None = None, **given: Any) -> AsyncIterator[Talk]:
    """A call, ended by hanging up. `machine` None: the real one."""
    clock = StepClock()
    talk = Talk(clock)
    parts = given.pop("engines", None) or engines(**given)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call, parts, setup or CallSetup(), talk.told, talk.hear, clock, machine)
        await talk.settle()
        yield talk
        tasks.cancel_scope.cancel()


# ---- for a worker, which loads its engines by name


async def load_detector(options: dict[str, Any]) -> Loudness:
    return Loudness()


async def load_recogniser(options: dict[str, Any]) -> Saying:
    return Saying(options.get("texts", ()))
