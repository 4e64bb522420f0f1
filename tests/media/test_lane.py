"""The threads files are read in: how many, how long one waits for them, and what becomes of a caller who leaves."""

import threading

import anyio
import pytest

from duologue.errors import Busy
from duologue.media import lane
from duologue.media.lane import Lane


class Gate:
    """A blocking call that waits until the test lets it go on, and counts how many are in it."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.entered = 0
        self.most = 0
        self._lock = threading.Lock()

    def __call__(self) -> int:
        with self._lock:
            self.entered += 1
            self.most = max(self.most, self.entered)
        assert self.open.wait(10)
        with self._lock:
            self.entered -= 1
        return threading.get_ident()


async def until(condition) -> None:
    with anyio.fail_after(10):
        while not condition():
            await anyio.lowlevel.checkpoint()


@pytest.mark.anyio
async def test_a_call_runs_in_another_thread_and_gives_its_result():
    assert await lane.run(threading.get_ident) != threading.get_ident()
    assert await lane.run(divmod, 7, 2) == (3, 1)


@pytest.mark.anyio
async def test_what_a_call_raises_is_raised():
    with pytest.raises(ZeroDivisionError):
        await lane.run(divmod, 1, 0)


@pytest.mark.anyio
async def test_only_so_many_run_at_once():
    gate, narrow = Gate(), Lane(2)
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(narrow.run, gate)
        await until(lambda: gate.entered == 2)
        gate.open.set()
    assert gate.most == 2


@pytest.mark.anyio
async def test_the_library_that_must_not_run_twice_runs_once():
    gate = Gate()
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(lane.run_alone, gate)
        await until(lambda: gate.entered == 1)
        gate.open.set()
    assert gate.most == 1


@pytest.mark.anyio
async def test_a_disk_is_read_while_every_decoder_is_busy():
    gate = Gate()
    async with anyio.create_task_group() as group:
        for _ in range(lane.DECODERS):
            group.start_soon(lane.run, gate)
        await until(lambda: gate.entered == lane.DECODERS)
        assert await lane.disk(divmod, 7, 2) == (3, 1)
        gate.open.set()


@pytest.mark.anyio
async def test_files_are_read_while_the_machine_takes_long_to_be_looked_at():
    gate = Gate()
    async with anyio.create_task_group() as group:
        for _ in range(lane.DISKS + 1):
            group.start_soon(lane.machine, gate)
        await until(lambda: gate.entered == 1)
        with anyio.fail_after(10):
            assert await lane.disk(divmod, 7, 2) == (3, 1)
        gate.open.set()
    assert gate.most == 1


@pytest.mark.anyio
async def test_a_line_that_is_too_long_is_refused():
    gate, narrow = Gate(), Lane(1, waiting=1)
    async with anyio.create_task_group() as group:
        group.start_soon(narrow.run, gate)
        await until(lambda: gate.entered == 1)
        group.start_soon(narrow.run, gate)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(Busy, match="Too many files") as refused:
            await narrow.run(gate)
        assert refused.value.code == "files_busy"
        gate.open.set()


@pytest.mark.anyio
async def test_nobody_waits_for_ever():
    gate, narrow = Gate(), Lane(1, patience=0.01)
    async with anyio.create_task_group() as group:
        group.start_soon(narrow.run, gate)
        await until(lambda: gate.entered == 1)
        with pytest.raises(Busy, match="busy for too long"):
            await narrow.run(gate)
        gate.open.set()


@pytest.mark.anyio
async def test_a_caller_who_leaves_while_waiting_leaves_no_trace():
    gate, narrow = Gate(), Lane(1)
    async with anyio.create_task_group() as group:
        group.start_soon(narrow.run, gate)
        await until(lambda: gate.entered == 1)
        with anyio.move_on_after(0):
            await narrow.run(gate)
        gate.open.set()
    assert await narrow.run(divmod, 7, 2) == (3, 1)
