"""The wake-up signal between tasks."""

import anyio
import pytest
from anyio.lowlevel import checkpoint

from duologue.notifier import Notifier

pytestmark = pytest.mark.anyio


async def test_every_waiting_task_is_woken() -> None:
    notifier, woken = Notifier(), []

    async def wait(name: str) -> None:
        await notifier.wait()
        woken.append(name)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait, "first")
            tasks.start_soon(wait, "second")
            await anyio.wait_all_tasks_blocked()
            notifier.notify()
    assert sorted(woken) == ["first", "second"]


async def test_a_task_that_comes_later_waits_for_the_next_notification() -> None:
    notifier = Notifier()
    notifier.notify()
    with anyio.move_on_after(0) as scope:
        await notifier.wait()
    assert scope.cancelled_caught


async def test_a_change_between_the_check_and_the_wait_is_not_missed() -> None:
    notifier = Notifier()
    pending = notifier.pending()
    notifier.notify()
    await checkpoint()
    with anyio.fail_after(60):
        await pending.wait()
