"""A call as a test has it: its seats, its model, its client and what it remembers, each looked at from outside."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
from tests.gateway.fake_seats import FakeGenerate, FakeLease, FakeSeats

from duologue.gateway.calls.call import Call, CallEnded
from duologue.gateway.calls.call_seat import CallSeat
from duologue.gateway.calls.history import EphemeralHistory
from duologue.gateway.calls.native_turns import Transcribe
from duologue.gateway.calls.prefill_ahead import ReadAhead
from duologue.gateway.scheduling.request_meter import NO_METER, RequestMeter
from duologue.gateway.scheduling.work_observer import WorkObserver
from duologue.values import call_events
from duologue.values.call_events import CallSetup
from duologue.values.messages import Tool
from duologue.values.requests import ModelCard
from duologue.wire.calls import voice

SETUP = CallSetup(pauses=True, marks=True)


class Client:
    """What the client of a call was sent."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self._came = anyio.Event()

    async def write(self, messages: Sequence[str | bytes]) -> None:
        self.messages += [
            message if isinstance(message, bytes) else json.loads(message) for message in messages
        ]
        self._came.set()

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Every message of this type so far."""
        return [
            message for message in self.messages if not isinstance(message, bytes) and message["type"] == kind
        ]

    async def until(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The first message of this type with these fields, once it came."""
        with anyio.fail_after(60):
            while True:
                for message in self.of(kind):
                    if message.items() >= fields.items():
                        return message
                self._came = anyio.Event()
                await self._came.wait()


class SeenTurns(WorkObserver):
    """Keeps the figures of turns."""

    def __init__(self) -> None:
        self.figures: list[call_events.TurnFigures] = []
        self.models: list[str] = []

    def turn_ended(self, model: str, turn: call_events.TurnFigures) -> None:
        self.models.append(model)
        self.figures.append(turn)


class RunningCall:
    """A call, with its seats, its model and its client."""

    def __init__(
        self,
        *leases: FakeLease,
        generate: FakeGenerate | None = None,
        tools: Sequence[Tool] = (),
        history: EphemeralHistory | None = None,
        read_ahead: ReadAhead | None = None,
        context: int = 0,
        native: ModelCard | None = None,
        transcribe: Transcribe | None = None,
        meter: RequestMeter = NO_METER,
    ) -> None:
        self.client = Client()
        self.generate = generate or FakeGenerate()
        self.history = history or EphemeralHistory("Be kind.", "m", tools)
        self.observer = SeenTurns()
        self.figures = self.observer.figures
        self.ended: CallEnded | None = None
        self.call = Call(
            CallSeat(FakeSeats(*leases), "call", native, meter),  # type: ignore[arg-type]
            self.generate,
            self.history,
            voice.VoiceEncoder(),
            self.client.write,
            observe=self.observer,
            read_ahead=read_ahead,
            context_of=lambda model: context,
            transcribe=transcribe,
        )

    @asynccontextmanager
    async def running(self, setup: CallSetup = SETUP) -> AsyncIterator[None]:
        async def run() -> None:
            try:
                await self.call.run(setup)
            except CallEnded as ended:
                self.ended = ended

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await anyio.wait_all_tasks_blocked()
            yield
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
