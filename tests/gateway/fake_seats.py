"""Seats of a voice worker as a test has them: what a session would say is put in, what it is told is looked at."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio

from duologue.gateway.scheduling.scheduler import Moved
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.values.call_events import CallControl, CallSessionEnded, CallSetup, TranscriptText
from duologue.values.events import Done, Event, Failed, TextDelta
from duologue.values.requests import ChatRequest
from duologue.values.speech import Transcript, TranscriptionRequest


class FakeLease:
    """`writes_down`: what it makes of a recording that is transcribed in it before its call; None: it fails."""

    def __init__(self, places: Sequence[Moved] = (), *, writes_down: str | None = None) -> None:
        self.ticket = "q_1"
        self.idle = 1
        self.request: CallSetup | None = None
        self.transcribed: list[TranscriptionRequest] = []
        self.controls: list[CallControl] = []
        self.gone = False
        self.paused = False
        self.running = False
        self.setups: list[CallSetup] = []
        self._cancelled = False
        self._places, self._writes_down = places, writes_down
        self._events: list[Any] = []
        self._arrived = anyio.Event()
        self._sent = anyio.Event()

    async def places(self) -> AsyncGenerator[Moved]:
        for place in self._places:
            yield place

    def begin(self, choice: int, request: CallSetup | TranscriptionRequest, request_id: str) -> None:
        assert self.idle == 1
        self.idle, self.running = 0, True
        if isinstance(request, TranscriptionRequest):
            self.transcribed.append(request)
            if self._writes_down is None:
                self.say(Failed("engine_failed", "It broke.", 500))
            else:
                said = TranscriptText(transcript=Transcript(self._writes_down))
                self.say(said, CallSessionEnded())
            return
        self.request = request
        self.setups.append(request)
        self._sent.set()

    def send(self, choice: int, *controls: CallControl) -> bool:
        self.controls.extend(controls)
        self._sent.set()
        return True

    async def take(self) -> list[tuple[int, Any]]:
        if self.transcribed and self.request is None and not self._events:
            self.idle = 1  # a seat is free a moment after the last event, which wakes who waits for that
            return []
        while not self._events and not self._cancelled:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        if self._cancelled:
            self._cancelled, self.running, self.idle, self._events = False, False, 1, []
        events, self._events = self._events, []
        return [(0, event) for event in events]

    def cancel(self) -> None:
        self._cancelled = True
        self._arrived.set()

    # ---- for the test

    def say(self, *events: Any) -> None:
        """What the session says, in one batch."""
        self._events.extend(events)
        self._arrived.set()

    async def began(self, count: int) -> list[CallSetup]:
        """The setups of its sessions, once there were so many."""
        with anyio.fail_after(30):
            while len(self.setups) < count:
                self._sent = anyio.Event()
                await self._sent.wait()
        return self.setups

    async def until(self, count: int) -> list[CallControl]:
        """What the session was told, once there is so much of it."""
        with anyio.fail_after(60):
            while len(self.controls) < count:
                self._sent = anyio.Event()
                await self._sent.wait()
        return self.controls


class FakeSeats:
    """Lends the leases it was given, one after another."""

    def __init__(self, *leases: FakeLease) -> None:
        self.leases = list(leases)
        self.kinds: list[str] = []
        self.asked: list[tuple[str, int]] = []
        self.failures: dict[str, str] = {}
        """Of models whose workers have failed, the reason."""

    def workers_of(self, model: str) -> list[WorkerStatus]:
        detail = self.failures.get(model)
        return [
            WorkerStatus("w0", model, "scripted", "cpu", "failed" if detail else "ready", detail=detail or "")
        ]

    @contextmanager
    def lease(self, model: str, *, kind: str = "chat", need: int = 1, **rest: Any) -> Iterator[FakeLease]:
        self.kinds.append(kind)
        self.asked.append((model, need))
        lease = self.leases.pop(0)
        try:
            yield lease
        finally:
            lease.gone = True


class FakeGenerate:
    """Replies as they were written down: each is the events of one model turn. Without any left it never ends."""

    def __init__(self, *turns: Sequence[Event]) -> None:
        self.turns = [list(turn) for turn in turns]
        self.requests: list[ChatRequest] = []
        self.kinds: list[str] = []
        self.running = 0

    @asynccontextmanager
    async def __call__(
        self, request: ChatRequest, *, kind: str = "chat", **rest: Any
    ) -> AsyncIterator[AsyncIterator[list[tuple[int, Event]]]]:
        self.requests.append(request)
        self.kinds.append(kind)
        self.running += 1
        try:
            yield self._batches(self.turns.pop(0) if self.turns else None)
        finally:
            self.running -= 1

    async def _batches(self, turn: list[Event] | None) -> AsyncGenerator[list[tuple[int, Event]]]:
        if turn is None:
            await anyio.sleep_forever()
        for event in turn or ():
            yield [(0, event)]


def words(*texts: str) -> list[Event]:
    """A turn that says these and ends."""
    return [*(TextDelta(text) for text in texts), Done("stop")]


def failed(code: str, message: str = "It failed.") -> list[Event]:
    return [Failed(code, message, 503)]
