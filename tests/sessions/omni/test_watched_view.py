"""A model that no longer answers: how that is noticed, and what its call and its worker do then."""

from __future__ import annotations

import anyio
import pytest
from tests.support.call_parts import speech
from tests.support.native_calls import native_talk

from duologue.engines.contracts import DuplexOptions
from duologue.engines.scripted.duplex_view import DuplexScript, ScriptedDuplexView
from duologue.errors import DeviceLost
from duologue.sessions.call.clock import StepClock
from duologue.sessions.omni.watched_view import PREPARE_PATIENCE, UNIT_PATIENCE, WatchedView

pytestmark = pytest.mark.anyio
SOUND = speech(1.0)


class Watch:
    """A watched view, and what the watch has told."""

    def __init__(self, script: DuplexScript) -> None:
        self.clock = StepClock()
        self.view = WatchedView(ScriptedDuplexView(script, self.clock.sleep), self.clock)
        self.told: list[DeviceLost] = []

    async def wait(self) -> None:
        self.told.append(await self.view.until_stuck())

    async def pass_time(self, seconds: int) -> None:
        for _ in range(seconds):
            self.clock.advance(1)
            await anyio.wait_all_tasks_blocked()


async def test_a_unit_that_is_never_answered_is_told_with_the_seconds():
    watch = Watch(DuplexScript(hangs_at=1))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch.wait)
        tasks.start_soon(watch.view.unit, SOUND)
        await watch.pass_time(int(UNIT_PATIENCE) - 1)
        assert not watch.told
        await watch.pass_time(2)
        tasks.cancel_scope.cancel()
    [lost] = watch.told
    assert lost.code == "device_lost"
    assert "60 seconds" in lost.message


async def test_answers_begin_the_wait_anew_and_a_model_without_work_is_not_stuck():
    watch = Watch(DuplexScript(unit_cost_ms=50_000))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch.wait)
        for _ in range(3):
            tasks.start_soon(watch.view.unit, SOUND)
            await watch.pass_time(51)
            await watch.view.finalize()
        await watch.pass_time(int(PREPARE_PATIENCE) * 2)
        tasks.cancel_scope.cancel()
    assert not watch.told


async def test_what_was_said_before_may_take_longer_to_read():
    watch = Watch(DuplexScript())
    assert await watch.view.prepare((), DuplexOptions()) == 0
    assert PREPARE_PATIENCE > UNIT_PATIENCE
    assert watch.view.decides
    assert watch.view.unit_samples == (3200, 16_000)


async def test_a_call_whose_model_hangs_ends_its_worker():
    async with native_talk(DuplexScript(hangs_at=2)) as talk:
        await talk.speak(1.5)
        assert talk.lost is None
        await talk.be_quiet(UNIT_PATIENCE + 2)
        assert talk.lost is not None
        assert "call again" in talk.lost.message
