import anyio
import pytest
from anyio.lowlevel import checkpoint

from duologue.sessions.call.clock import RealClock, StepClock

pytestmark = pytest.mark.anyio


async def test_time_passes_only_when_it_is_told_to():
    clock = StepClock()
    woken = []

    async def sleeper(seconds):
        await clock.sleep(seconds)
        woken.append((seconds, clock.now()))

    async with anyio.create_task_group() as tasks:
        for seconds in (0.3, 0.1):
            tasks.start_soon(sleeper, seconds)
        await checkpoint()
        clock.advance(0.09)
        await checkpoint()
        assert woken == []
        clock.advance(0.01)
        await checkpoint()
        assert [seconds for seconds, _ in woken] == [0.1]
        clock.advance(10)
    assert [seconds for seconds, _ in woken] == [0.1, 0.3]


async def test_a_sleep_of_nothing_is_over_at_once():
    with anyio.fail_after(60):
        await StepClock().sleep(0)


async def test_the_real_clock_never_goes_back():
    clock = RealClock()
    before = clock.now()
    await clock.sleep(0)
    assert clock.now() >= before
