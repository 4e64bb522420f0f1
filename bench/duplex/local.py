"""A call without socket, process and model, on a manually advanced clock: for checks that run by the hundred.

Everything between the client's messages and the engines is the real thing: the gateway's `Call` with its history and its
encoder, and the session with its machines. The voice is the scripted one, whose every word takes the same time, so that what
must have been heard follows from the samples played by arithmetic alone.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, cast

import anyio
import anyio.abc
from anyio.lowlevel import checkpoint

from duologue.client.player import Player
from duologue.config.settings import LimitSettings
from duologue.engines.scripted.speaker import GAP_MS, WORD_MS, ScriptedSpeaker
from duologue.gateway.calls.call import Call
from duologue.gateway.calls.call_seat import CallSeat
from duologue.gateway.calls.history import EphemeralHistory
from duologue.gateway.scheduling.pool import Pool
from duologue.sessions.call.clock import StepClock
from duologue.sessions.call.session import call
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.speech.vad_batcher import VadBatcher
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE
from duologue.values.call_events import CallControl, CallEvent, CallSetup, MicrophoneAudio
from duologue.values.events import Done, Event, TextDelta
from duologue.values.requests import ChatRequest
from duologue.values.speech import Transcript
from duologue.wire.calls import caller_messages, voice
from duologue.worker.inbox import ControlInbox

STEP = 0.032
WORD = round((WORD_MS + GAP_MS) * SPOKEN_RATE / 1000)
"""Samples from one word of the scripted voice to the next,"""
SOUNDING = round(WORD_MS * SPOKEN_RATE / 1000)
"""and those of them in which it sounds."""
ROUNDS = 60
"""Turns of the event loop that everything without a time of its own is done in."""


def words_heard(samples: int) -> int:
    """How many words of the scripted voice had ended by a sample of the reply."""
    return 0 if samples < SOUNDING else (samples - SOUNDING) // WORD + 1


class _Inline:
    async def run(self, step: Any) -> Any:
        return step()


class _Loudness:
    """A detector: what is loud is speech."""

    name = "loudness"

    def open(self) -> _Loudness:
        return self

    def release(self, detector: object) -> None:
        """Stores nothing."""

    def probability(self, frame: bytes) -> float:
        return 0.95 if max(array("h", frame)) > 1000 else 0.02

    def reset(self) -> None:
        """Nothing is remembered."""

    async def close(self) -> None:
        """Nothing is held."""


class Recogniser:
    """Recognises the text it was given in advance, at four words per second."""

    name, languages, partial_results, word_timestamps, limitation = "told", ("en",), True, True, ""

    def __init__(self) -> None:
        self.next = ""

    @asynccontextmanager
    async def stream(self, *, language: str = "", prompt: str = "") -> AsyncIterator[_Listener]:
        yield _Listener(self.next)

    async def transcribe(self, pcm: bytes, **how: Any) -> Transcript:
        return Transcript(self.next)

    async def close(self) -> None:
        """Nothing is held."""


class _Listener:
    def __init__(self, text: str) -> None:
        self._words, self._fed = text.split(), 0

    async def feed(self, pcm: bytes) -> str:
        self._fed += len(pcm) // SAMPLE_BYTES
        return " ".join(self._words[: self._fed * 4 // HEARD_RATE])

    async def finish(self) -> Transcript:
        return Transcript(" ".join(self._words), understood=bool(self._words))


class _Seat:
    """A seat whose session runs here."""

    ticket = "local"

    def __init__(self, engines: SpeechEngines, clock: StepClock, tasks: anyio.abc.TaskGroup) -> None:
        self._engines, self._clock, self._tasks = engines, clock, tasks
        self._inbox = ControlInbox()
        self._events: list[tuple[int, CallEvent]] = []
        self._arrived = anyio.Event()

    async def places(self) -> AsyncGenerator[None]:
        """The queue is always empty."""
        return
        yield

    def begin(self, choice: int, request: CallSetup, request_id: str) -> None:
        self._tasks.start_soon(call, self._engines, request, self._inbox, self._emit, self._clock)

    def send(self, choice: int, *controls: CallControl) -> bool:
        self._inbox.put(controls)
        return True

    async def take(self) -> list[tuple[int, CallEvent]]:
        while not self._events:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        events, self._events = self._events, []
        return events

    async def _emit(self, event: CallEvent) -> None:
        self._events.append((0, event))
        self._arrived.set()


class LocalCall:
    """One call and its caller."""

    def __init__(self, tasks: anyio.abc.TaskGroup, *, holds: bool = True) -> None:
        self.clock = StepClock()
        self.player = Player(holds=holds)
        self.recogniser = Recogniser()
        self.requests: list[ChatRequest] = []
        self.text = ""
        """What the model answers to every prompt."""
        self.pace = 0.0
        """Seconds the model takes per word."""
        self.messages: list[dict[str, Any]] = []
        self.sounded = bytearray()
        self._tasks = tasks
        self._encoder = voice.VoiceEncoder()
        self._holds = holds
        engines = SpeechEngines(
            VadBatcher(_Inline()), _Loudness(), cast(Any, self.recogniser), ScriptedSpeaker()
        )
        self._seat = _Seat(engines, self.clock, tasks)
        self._call = Call(
            CallSeat(cast(Pool, self)),
            cast(Any, self._generate),
            EphemeralHistory("", "local", ()),
            self._encoder,
            self._write,
        )

    async def begin(self) -> None:
        setup = CallSetup(pauses=self._holds, marks=self._holds)
        self._tasks.start_soon(self._call.run, setup)
        await self.settle()

    # ---- what the call needs

    @contextmanager
    def lease(self, name: str, **how: Any) -> Iterator[_Seat]:
        yield self._seat

    @asynccontextmanager
    async def _generate(
        self, request: ChatRequest, **how: Any
    ) -> AsyncIterator[AsyncIterator[list[tuple[int, Event]]]]:
        self.requests.append(request)
        yield self._reply(self.text)

    async def _reply(self, text: str) -> AsyncGenerator[list[tuple[int, Event]]]:
        for word in text.split(" "):
            await self.clock.sleep(self.pace)
            yield [(0, TextDelta(word + " "))]
        yield [(0, Done("stop"))]

    async def _write(self, frames: Any) -> None:
        for frame in frames:
            if isinstance(frame, bytes):
                self.player.receive_audio(frame)
                continue
            message = json.loads(frame)
            self.messages.append(message)
            self.player.take(message)

    # ---- the caller

    async def settle(self) -> None:
        for _ in range(ROUNDS):
            await checkpoint()

    async def tell(self, body: dict[str, Any]) -> None:
        told = caller_messages.control(
            caller_messages.decode(json.dumps(body), LimitSettings()), self._encoder
        )
        if told is not None:
            self._call.send(told)
        await self.settle()

    async def step(self, pcm: bytes) -> None:
        """One frame of time, both ways."""
        self._call.send(MicrophoneAudio(pcm))
        self.clock.advance(STEP)
        await self.settle()
        self.sounded += self.player.play(round(STEP * SPOKEN_RATE))
        while self.player.reports:
            await self.tell(self.player.reports.popleft())

    async def be_quiet(self, seconds: float) -> None:
        for _ in range(max(1, round(seconds / STEP))):
            await self.step(SILENCE)

    async def speak(self, text: str, seconds: float) -> None:
        self.recogniser.next = text
        for _ in range(round(seconds / STEP)):
            await self.step(SPEECH)

    async def until_heard(self, samples: int, seconds: float = 20.0) -> bool:
        """Be quiet until so much of a reply was heard. False: it never was."""
        for _ in range(round(seconds / STEP)):
            if self.player.position >= samples:
                return True
            await self.step(SILENCE)
        return False

    def last(self, kind: str) -> dict[str, Any]:
        return next((each for each in reversed(self.messages) if each["type"] == kind), {})


_COUNT = round(STEP * HEARD_RATE)
SILENCE = bytes(_COUNT * SAMPLE_BYTES)
SPEECH = array(
    "h", [round(9000 * math.sin(2 * math.pi * 312.5 * at / HEARD_RATE)) for at in range(_COUNT)]
).tobytes()


@asynccontextmanager
async def talking(*, holds: bool = True) -> AsyncIterator[LocalCall]:
    """A call, hung up at the end of the context."""
    async with anyio.create_task_group() as tasks:
        talk = LocalCall(tasks, holds=holds)
        await talk.begin()
        yield talk
        tasks.cancel_scope.cancel()
