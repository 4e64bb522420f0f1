"""What a drain refuses, and when it is over."""

import anyio
import pytest

from duologue.errors import Unavailable
from duologue.gateway.life.drain import RETRY_S, Drain


def drain(running: int = 0) -> Drain:
    return Drain(lambda: 1000.0, lambda: running)


def test_a_server_takes_work_until_it_drains_and_again_when_that_is_undone():
    one = drain()
    one.require()
    one.begin("admin")
    with pytest.raises(Unavailable) as refusal:
        one.require()
    assert (refusal.value.code, refusal.value.status) == ("server_draining", 503)
    assert refusal.value.retry_after == RETRY_S
    assert one.undo()
    one.require()


def test_a_stop_cannot_be_undone_and_an_admin_cannot_weaken_it():
    one = drain()
    one.begin("admin")
    one.begin("stopping")
    one.begin("admin")
    assert one.state is not None
    assert one.state.reason == "stopping"
    assert not one.undo()
    refusal = one.refusal()
    assert refusal is not None
    assert "stopping" in refusal.message


def test_a_request_and_the_slot_it_holds_are_one_piece_of_work():
    one = drain(running=1)
    with one.request():
        assert one.running == 1
        with one.request():
            assert one.running == 2
    assert one.running == 1


@pytest.mark.anyio
async def test_what_waits_for_the_end_of_a_drain_goes_on_then():
    one, went_on = drain(), anyio.Event()
    one.begin("admin")

    async def line_of_a_batch() -> None:
        await one.accepting()
        went_on.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(line_of_a_batch)
        await anyio.wait_all_tasks_blocked()
        assert not went_on.is_set()
        one.undo()
        with anyio.fail_after(60):
            await went_on.wait()
