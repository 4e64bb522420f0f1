"""Replacing the voice worker: the new one serves before the old one goes, and one that fails changes nothing."""

from dataclasses import dataclass, field

import anyio
import pytest

from duologue.errors import EngineFailed, Unavailable
from duologue.gateway.speech.voice_switch import VoiceSwitch
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.values.speech import SpeechCard, SpeechEngineStatus
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio
SPEC = LoadSpec("voice", "voice", "voice")
READY = SpeechEngineStatus("ready", "sherpa", "tiny")


@dataclass
class Seats:
    """A pool that only remembers what is done with it."""

    workers: dict[str, WorkerStatus] = field(default_factory=dict)
    retired: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    def add(self, load_spec: LoadSpec) -> WorkerStatus:
        name = f"worker_{len(self.workers)}"
        status = self.workers[name] = WorkerStatus(name, load_spec.model, load_spec.engine, "cpu")
        return status

    async def retire(self, name: str) -> None:
        self.retired.append(name)

    async def remove(self, name: str) -> None:
        self.removed.append(name)
        del self.workers[name]


@pytest.fixture
def seats() -> Seats:
    seats = Seats()
    seats.add(SPEC).state = "ready"
    return seats


@pytest.fixture
async def switch(seats):
    switch = VoiceSwitch(seats)
    async with anyio.create_task_group() as tasks:
        await tasks.start(switch.run)
        yield switch
        tasks.cancel_scope.cancel()


async def during(switch: VoiceSwitch, seats: Seats, **changes: object) -> str:
    """Switch, and have the new worker change so once it is there: the error's sentence, "" for none."""
    reason = ""

    async def run() -> None:
        nonlocal reason
        try:
            await switch.switch(SPEC)
        except EngineFailed as error:
            reason = error.message

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await anyio.wait_all_tasks_blocked()
            assert seats.retired == []
            for name, value in changes.items():
                setattr(seats.workers["worker_1"], name, value)
            switch.pool_changed()
    await anyio.wait_all_tasks_blocked()
    return reason


async def test_the_old_worker_goes_once_the_new_one_is_ready(switch, seats):
    card = SpeechCard(recogniser=READY, speaker=READY)
    assert await during(switch, seats, state="ready", speech=card) == ""
    assert (seats.retired, seats.removed) == (["worker_0"], [])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"state": "failed", "detail": "No memory."}, "No memory."),
        ({"restarts": 1, "ended": "signal 9"}, "signal 9"),
        (
            {
                "state": "ready",
                "speech": SpeechCard(
                    recogniser=SpeechEngineStatus("failed", "sherpa", detail="No such model."), speaker=READY
                ),
            },
            "No such model.",
        ),
        ({"state": "ready"}, "could not be loaded"),
    ],
)
async def test_one_that_fails_is_removed_and_the_old_one_stays(switch, seats, changes, sentence):
    assert sentence in await during(switch, seats, **changes)
    assert (seats.retired, seats.removed) == ([], ["worker_1"])
    assert list(seats.workers) == ["worker_0"]


async def test_leaving_early_removes_the_new_one(switch, seats):
    with anyio.move_on_after(0.05):
        await switch.switch(SPEC)
    assert seats.removed == ["worker_1"]


async def test_before_it_runs_nothing_is_switched(seats):
    with pytest.raises(Unavailable):
        await VoiceSwitch(seats).switch(SPEC)


async def test_a_voice_that_still_loads_is_waited_for(switch, seats):
    seats.workers["worker_0"].state = "loading"
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(switch.switch, SPEC)
            await anyio.wait_all_tasks_blocked()
            assert list(seats.workers) == ["worker_0"]
            seats.workers["worker_0"].state = "failed"
            switch.pool_changed()
            await anyio.wait_all_tasks_blocked()
            seats.workers["worker_1"].state = "ready"
            seats.workers["worker_1"].speech = SpeechCard(recogniser=READY, speaker=READY)
            switch.pool_changed()
