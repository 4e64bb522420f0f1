"""A voice worker as a test has it: it speaks each word as a fifth of a second, and writes down what it was told to."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
from tests.support.stand_in import StandIn

from duologue.errors import Problem
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.values import call_events
from duologue.values.events import Failed, ReplyWord
from duologue.values.mouth import MouthKey
from duologue.values.speech import (
    SpeechCard,
    SpeechEngineStatus,
    SpeechRequest,
    TimedWord,
    Transcript,
    TranscriptionRequest,
    Voice,
)

CARD = SpeechCard(
    detector=SpeechEngineStatus("ready", "energy", "energy"),
    recogniser=SpeechEngineStatus("ready", "scripted", "scripted"),
    speaker=SpeechEngineStatus("ready", "scripted", "scripted"),
    voices=(Voice("low", "en", "Low."), Voice("high", "en", "High.")),
    default_voice="low",
    hears=("en-US",),
    word_times=True,
)
WORD = 4800
"""Samples of a word."""


class Seats(StandIn):
    """Lends any number of seats; `full`: none, who asks for one waits for ever. `hold`: after the first sound, or text, nothing more comes until it is set. `fails`: how
    the work ends, after its first sound."""

    def __init__(
        self,
        *texts: str,
        card: SpeechCard | None = CARD,
        state: str = "ready",
        fails: Problem | Failed | None = None,
        refuses: Problem | None = None,
        full: bool = False,
    ) -> None:
        self.workers = {"voice": WorkerStatus("voice", "voice", "voice", "cpu", state=state, speech=card)}
        self.texts = list(texts)
        self.fails, self.refuses, self.full = fails, refuses, full
        self.hold: anyio.Event | None = None
        self.requests: list[SpeechRequest | TranscriptionRequest] = []
        self.kinds: list[str] = []
        self.lent = 0
        self.given_back = anyio.Event()

    @contextmanager
    def lease(self, model: str, *, kind: str = "chat", **rest: Any) -> Iterator[Seat]:
        assert model == "voice"
        self.kinds.append(kind)
        self.lent += 1
        try:
            yield Seat(self)
        finally:
            self.lent -= 1
            self.given_back.set()


class Seat:
    def __init__(self, seats: Seats) -> None:
        self._seats = seats
        self._events: list[Any] = []
        self._arrived = anyio.Event()
        self._taken = 0
        self._words = 0
        self._mouth = False
        self.idle = 1

    async def places(self) -> AsyncGenerator[None]:
        if self._seats.refuses is not None:
            raise self._seats.refuses
        if self._seats.full:
            await anyio.sleep_forever()
        for _ in ():
            yield

    def begin(self, choice: int, request: SpeechRequest | TranscriptionRequest, request_id: str) -> None:
        self._seats.requests.append(request)
        if isinstance(request, TranscriptionRequest):
            text = self._seats.texts.pop(0)
            words = tuple(
                TimedWord(word, float(at), at + 0.5) for at, word in enumerate(text.split()) if request.words
            )
            said = Transcript(text, words, "en", 0.5, bool(text))
            self._say(
                call_events.TranscriptText(text),
                call_events.TranscriptText(transcript=said),
                call_events.CallSessionEnded(),
            )
        else:
            self._mouth = request.mouth
            self._speak(request.text, last=not request.open)

    def send(self, choice: int, *controls: Any) -> bool:
        for control in controls:
            assert isinstance(control, call_events.Text)
            assert control.reply == 0
            self._speak(control.text, last=control.last)
        return True

    async def take(self) -> list[tuple[int, Any]]:
        """One event at a time, so that a test can stop between any two."""
        if self._taken and self._seats.hold is not None:
            await self._seats.hold.wait()
        while not self._events:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        self._taken += 1
        return [(0, self._events.pop(0))]

    def _speak(self, text: str, *, last: bool) -> None:
        for word in text.split():
            start = self._words * WORD
            self._words += 1
            self._say(
                call_events.ReplyAudio(
                    0,
                    0,
                    b"\1\2" * WORD,
                    (ReplyWord(word, start, start + WORD, 0, len(word)),),
                    (MouthKey(start, 80),) if self._mouth else (),
                )
            )
            if isinstance(self._seats.fails, Failed):
                self._say(self._seats.fails)
            elif self._seats.fails is not None:
                problem = self._seats.fails
                self._say(call_events.CallSessionEnded(problem.code, problem.message, problem.status))
        if last:
            self._say(call_events.ReplyAudioEnded(0, 0, self._words * WORD), call_events.CallSessionEnded())

    def _say(self, *events: Any) -> None:
        self._events.extend(events)
        self._arrived.set()
