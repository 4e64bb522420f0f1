"""A call that an omni model holds by itself, on a clock that tests advance."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
from tests.support.call_parts import Inline, Loudness, RunningCall

from duologue.engines.contracts import OmniEngine
from duologue.engines.scripted.duplex_view import DuplexScript
from duologue.engines.scripted.omni import ScriptedOmniEngine
from duologue.errors import DeviceLost
from duologue.sessions.call.clock import StepClock
from duologue.sessions.omni.native_call import native_call
from duologue.sessions.speech.vad_batcher import BlockingRunner, VadBatcher
from duologue.values.call_events import (
    AssistantSaid,
    CallSetup,
    OmniSetup,
    ReplyAudio,
    ReplyText,
    UnitAnswered,
)

NATIVE = CallSetup(pauses=True, marks=True, omni=OmniSetup())
"""How the page calls."""


class NativeTalk(RunningCall):
    """A running call, and what tests ask of it."""

    engine: Any
    problem: BaseException | None = None
    lost: DeviceLost | None = None
    """Why the worker is to end."""

    @property
    def answers(self) -> list[UnitAnswered]:
        return self.of(UnitAnswered)

    @property
    def said(self) -> list[str]:
        """What was heard of each reply."""
        return [event.heard for event in self.of(AssistantSaid)]

    def text(self, reply: int) -> str:
        return "".join(event.text for event in self.of(ReplyText) if event.reply == reply)

    def pcm(self, reply: int) -> bytes:
        return b"".join(event.pcm for event in self.of(ReplyAudio) if event.reply == reply)


@asynccontextmanager
async def native_talk(
    script: DuplexScript | None = None,
    setup: CallSetup = NATIVE,
    engine: Callable[[Callable[[float], Awaitable[None]]], OmniEngine] | None = None,
    lane: BlockingRunner | None = None,
) -> AsyncIterator[NativeTalk]:
    """A call with the scripted engine, ended by hanging up. What ended it before is its `problem`."""
    clock = StepClock()
    talk = NativeTalk(clock)
    made = engine(clock.sleep) if engine else ScriptedOmniEngine(script=script, sleep=clock.sleep)
    talk.engine = made

    async def run() -> None:
        try:
            await native_call(
                made,
                Loudness(),
                VadBatcher(lane or Inline()),
                setup,
                talk.controls,
                talk.receive,
                clock,
                partial(setattr, talk, "lost"),
            )
        except Exception as problem:
            talk.problem = problem

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await talk.settle()
        yield talk
        tasks.cancel_scope.cancel()
