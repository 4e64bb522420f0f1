"""A worker that ends is started again; what its listener hears, and when. The pool's tests run whole workers."""

from contextlib import asynccontextmanager

import anyio
import pytest

from duologue.errors import StartFailed
from duologue.gateway.workers import process
from duologue.gateway.workers.keeper import WorkerKeeper
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.notifier import Notifier
from duologue.supervisor import crash_loop
from duologue.values.events import Failed
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio

UNLOADED = Failed("model_unloaded", "Unloaded.", 503)


class RecordingListener:
    def __init__(self) -> None:
        self.states: list[str] = []
        self.notifier = Notifier()

    def worker_ready(self, status: WorkerStatus, slots: int) -> None:
        self.states.append("ready")

    def worker_down(self, status: WorkerStatus) -> None:
        self.states.append(status.state)
        self.notifier.notify()

    def worker_changed(self) -> None:
        pass

    def worker_unreachable(self, status: WorkerStatus) -> None:
        pass

    def worker_reachable(self, status: WorkerStatus) -> None:
        pass

    def slots_elsewhere(self, status: WorkerStatus, slots: tuple[int, ...]) -> None:
        pass


@pytest.fixture
def listener() -> RecordingListener:
    return RecordingListener()


def keeper_of(listener: RecordingListener) -> WorkerKeeper:
    return WorkerKeeper(
        LoadSpec("w", "scripted", "m"),
        listener,
        port=22400,
        secret="s",
        log_settings=("info", "text"),
        clock=lambda: 0.0,
    )


@asynccontextmanager
async def unstartable(load_spec, secret, port, log_settings):
    raise StartFailed("No free port.")
    yield


async def test_a_worker_that_cannot_start_is_tried_again_and_fails_after_the_third_time(
    monkeypatch, listener, caplog
):
    monkeypatch.setattr(process, "started", unstartable)
    monkeypatch.setattr(crash_loop, "backoff", lambda failures: 0.0)
    keeper = keeper_of(listener)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        with anyio.fail_after(60):
            while "failed" not in listener.states:
                await listener.notifier.wait()
        tasks.cancel_scope.cancel()
    assert listener.states[:4] == ["offline", "offline", "offline", "failed"]
    assert "ended 3 times before it was ready" in keeper.status.detail
    assert "worker w ended (No free port.); it is restarted in 0.0 s" in caplog.text


async def test_a_removed_worker_ends_and_its_listener_hears_nothing_more(monkeypatch, listener):
    @asynccontextmanager
    async def never_connects(load_spec, secret, port, log_settings):
        await anyio.sleep_forever()
        yield

    monkeypatch.setattr(process, "started", never_connects)
    keeper = keeper_of(listener)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        await anyio.wait_all_tasks_blocked()
        keeper.remove(UNLOADED)
        with anyio.fail_after(60):
            await keeper.wait_ended()
    assert listener.states == []


async def test_a_worker_that_is_removed_before_it_starts_is_never_started(monkeypatch, listener):
    monkeypatch.setattr(process, "started", unstartable)
    keeper = keeper_of(listener)
    keeper.remove(UNLOADED)
    with anyio.fail_after(60):
        await keeper.run()
        await keeper.wait_ended()
    assert (keeper.status.attempts, listener.states) == (0, [])
