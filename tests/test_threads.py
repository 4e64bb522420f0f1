"""The lane: blocking work in threads, its items on the loop, and an end that is really an end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import anyio
import pytest
from anyio import lowlevel, to_thread
from tests.support.thread_gate import Gate, until

from duologue.errors import Busy
from duologue.threads import (
    DISK_THREADS,
    ENCODING_THREADS,
    WAITING,
    Refusal,
    ThreadLane,
    disk_io,
    encoding,
    hardware_io,
)

pytestmark = pytest.mark.anyio
PATIENCE = 60.0
"""Seconds; only a broken lane ever waits that long."""


Emit = Callable[[int], bool]


class Endless:
    """A step that emits 0, 1, 2, ... until it is told to end; remembers how far it came."""

    def __init__(self) -> None:
        self.emitted = 0
        self.told = False
        self.ended = threading.Event()

    def __call__(self, emit: Emit) -> None:
        try:
            while emit(self.emitted):
                self.emitted += 1
            self.told = True
        finally:
            self.ended.set()


class Held:
    """A step that blocks in its thread, deaf to everything, until the test lets it go."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go = threading.Event()
        self.ended = False

    def __call__(self, emit: Emit | None = None) -> str:
        self.begun.set()
        assert self.go.wait(PATIENCE)
        self.ended = True
        return "done"

    async def begin(self) -> None:
        assert await to_thread.run_sync(self.begun.wait, PATIENCE)


async def test_run_gives_the_result_of_a_blocking_call() -> None:
    assert await ThreadLane(1).run(threading.get_ident) != threading.get_ident()


async def test_run_passes_the_error_on() -> None:
    def fails() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await ThreadLane(1).run(fails)


async def test_the_loop_turns_while_a_call_blocks() -> None:
    held = Held()
    async with anyio.create_task_group() as group:
        group.start_soon(ThreadLane(1).run, held)
        await held.begin()
        held.go.set()


async def test_a_cancelled_run_that_has_begun_is_waited_for() -> None:
    held, lane = Held(), ThreadLane(1)
    async with anyio.create_task_group() as group:
        group.start_soon(lane.run, held)
        await held.begin()
        group.cancel_scope.cancel()
        held.go.set()
    assert held.ended


async def test_a_cancelled_run_that_has_not_begun_never_begins() -> None:
    first, second, lane = Held(), Held(), ThreadLane(1)
    async with anyio.create_task_group() as group:
        group.start_soon(lane.run, first)
        await first.begin()
        async with anyio.create_task_group() as waiting:
            waiting.start_soon(lane.run, second)
            await anyio.wait_all_tasks_blocked()
            waiting.cancel_scope.cancel()
        first.go.set()
    assert not second.begun.is_set()


async def test_items_arrive_in_order_and_then_the_stream_ends() -> None:
    def count(emit: Emit) -> None:
        assert all(emit(number) for number in range(100))

    async with ThreadLane(1).stream(count, 7) as items:
        assert [item async for item in items] == list(range(100))


async def test_a_step_without_items_is_an_empty_stream() -> None:
    def emit_nothing(emit: Emit) -> None: ...

    async with ThreadLane(1).stream(emit_nothing, 1) as items:
        assert [item async for item in items] == []
        assert [item async for item in items] == []


async def test_the_error_comes_after_the_items_before_it() -> None:
    def fails(emit: Emit) -> None:
        emit(1)
        emit(2)
        raise ValueError("broken")

    async with ThreadLane(1).stream(fails, 8) as items:
        assert await anext(items) == 1
        assert await anext(items) == 2
        with pytest.raises(ValueError, match="broken"):
            await anext(items)


async def test_the_consumers_own_error_leaves_unwrapped_and_ends_the_thread() -> None:
    step = Endless()

    async def consume() -> None:
        async with ThreadLane(1).stream(step, 2) as items:
            await anext(items)
            raise KeyError("mine")

    with pytest.raises(KeyError):
        await consume()
    assert step.ended.is_set()


async def test_leaving_early_tells_the_thread_and_waits_for_it() -> None:
    step = Endless()
    async with ThreadLane(1).stream(step, 4) as items:
        assert await anext(items) == 0
        assert await anext(items) == 1
    assert step.told
    assert step.ended.is_set()


async def test_the_thread_is_never_more_than_the_buffer_ahead() -> None:
    step = Endless()
    async with ThreadLane(1).stream(step, 3) as items:
        for taken in range(20):
            assert await anext(items) == taken
            # Taken ones, three waiting, and one in the thread's hand.
            assert step.emitted <= taken + 1 + 3


async def test_leaving_before_the_first_item_ends_a_thread_that_waits_for_room() -> None:
    step = Endless()
    async with ThreadLane(1).stream(step, 1):
        pass
    assert step.ended.is_set() or step.emitted == 0


async def test_cancelled_before_the_first_item_it_still_waits_for_the_thread() -> None:
    held = Held()

    def step(emit: Emit) -> None:
        held(emit)

    with anyio.CancelScope() as scope:
        async with ThreadLane(1).stream(step, 1) as items:
            await held.begin()
            scope.cancel()
            threading.Timer(0.01, held.go.set).start()
            await anext(items)
    assert scope.cancelled_caught
    assert held.ended


async def test_cancelled_in_the_middle_it_ends_the_thread() -> None:
    step = Endless()
    seen = 0
    with anyio.CancelScope() as scope:
        async with ThreadLane(1).stream(step, 2) as items:
            async for _ in items:
                seen += 1
                if seen == 5:
                    scope.cancel()
    assert scope.cancelled_caught
    assert seen == 5
    assert step.told


async def test_cancelled_while_waiting_for_a_thread_the_step_never_begins() -> None:
    first, step, lane = Held(), Endless(), ThreadLane(1)
    async with anyio.create_task_group() as group:
        group.start_soon(lane.run, first)
        await first.begin()
        with anyio.CancelScope() as scope:
            async with lane.stream(step, 1) as items:
                scope.cancel()
                await anext(items)
        assert scope.cancelled_caught
        first.go.set()
    assert not step.ended.is_set()


async def test_left_while_waiting_for_a_thread_the_step_never_begins() -> None:
    first, step, lane = Held(), Endless(), ThreadLane(1)
    async with anyio.create_task_group() as group:
        group.start_soon(lane.run, first)
        await first.begin()
        async with lane.stream(step, 1):
            await anyio.wait_all_tasks_blocked()
        first.go.set()
    assert not step.ended.is_set()


async def test_a_cancelled_wait_loses_no_item() -> None:
    gate = threading.Event()

    def gated(emit: Emit) -> None:
        assert gate.wait(PATIENCE)
        emit(1)
        emit(2)

    async with ThreadLane(1).stream(gated, 1) as items:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await anext(items)
        gate.set()
        assert [item async for item in items] == [1, 2]


async def test_an_error_nobody_waits_for_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fails(emit: Emit) -> None:
        while emit(0):
            pass
        raise ValueError("late")

    with caplog.at_level(logging.WARNING, "duologue.threads"):
        async with ThreadLane(1).stream(fails, 1) as items:
            await anext(items)
    assert "late" in caplog.text


async def test_a_freed_thread_is_lent_again_after_a_cancelled_stream() -> None:
    lane = ThreadLane(1)
    for _ in range(20):
        step = Endless()
        with anyio.CancelScope() as scope:
            async with lane.stream(step, 1) as items:
                await anext(items)
                scope.cancel()
                await anext(items)
        assert step.told
    assert await lane.run(lambda: 7) == 7


async def test_many_streams_share_few_threads_and_none_mixes_items() -> None:
    lane = ThreadLane(3)
    running = threading.Semaphore(3)
    seen: dict[int, list[int]] = {}

    async def consume(name: int) -> None:
        def count(emit: Emit) -> None:
            assert running.acquire(blocking=False)
            for number in range(50):
                emit(name * 1000 + number)
            running.release()

        async with lane.stream(count, 4) as items:
            seen[name] = [item async for item in items]

    async with anyio.create_task_group() as group:
        for name in range(12):
            group.start_soon(consume, name)
    assert seen == {name: [name * 1000 + number for number in range(50)] for name in range(12)}


async def test_many_streams_cancelled_at_every_point_all_end() -> None:
    lane = ThreadLane(2)
    steps = [Endless() for _ in range(16)]

    async def consume(step: Endless, scope: anyio.CancelScope, after: int) -> None:
        with scope:
            async with lane.stream(step, 2) as items:
                async for item in items:
                    if item >= after:
                        scope.cancel()

    async with anyio.create_task_group() as group:
        for after, step in enumerate(steps):
            group.start_soon(consume, step, anyio.CancelScope(), after)
    assert all(step.told for step in steps)
    assert threading.active_count() < 20


async def test_a_fast_thread_does_not_starve_the_loop() -> None:
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await lowlevel.checkpoint()

    def count(emit: Emit) -> None:
        for number in range(500):
            emit(number)

    async with anyio.create_task_group() as group:
        group.start_soon(turn)
        async with ThreadLane(1).stream(count, 500) as items:
            assert len([item async for item in items]) == 500
        group.cancel_scope.cancel()
    assert turns > 400


async def test_a_buffer_must_have_room() -> None:
    with pytest.raises(ValueError, match="room"):
        async with ThreadLane(1).stream(lambda emit: None, 0):
            pass


async def test_only_so_many_run_at_once() -> None:
    gate, lane = Gate(), ThreadLane(2)
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(lane.run, gate)
        await until(lambda: gate.entered == 2)
        gate.open.set()
    assert gate.most == 2


async def test_a_queue_that_is_too_long_is_refused_with_the_lanes_own_sentence() -> None:
    gate, lane = Gate(), ThreadLane(1, waiting=1, refusal=Refusal("Full.", "Late.", "files_busy"))
    async with anyio.create_task_group() as group:
        group.start_soon(lane.run, gate)
        await until(lambda: gate.entered == 1)
        group.start_soon(lane.run, gate)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(Busy, match=r"Full\.") as refused:
            await lane.run(gate)
        assert refused.value.code == "files_busy"
        gate.open.set()


async def test_a_bounded_wait_ends() -> None:
    gate, lane = Gate(), ThreadLane(1, patience=0.01, refusal=Refusal("Full.", "Late."))
    async with anyio.create_task_group() as group:
        group.start_soon(lane.run, gate)
        await until(lambda: gate.entered == 1)
        with pytest.raises(Busy, match=r"Late\.") as refused:
            await lane.run(gate)
        assert refused.value.code == "busy"
        gate.open.set()


async def test_a_caller_who_leaves_while_waiting_leaves_no_trace() -> None:
    gate, lane = Gate(), ThreadLane(1)
    async with anyio.create_task_group() as group:
        group.start_soon(lane.run, gate)
        await until(lambda: gate.entered == 1)
        with anyio.move_on_after(0):
            await lane.run(gate)
        gate.open.set()
    assert await lane.run(divmod, 7, 2) == (3, 1)


async def test_files_are_read_while_the_hardware_is_probed_slowly() -> None:
    gate = Gate()
    async with anyio.create_task_group() as group:
        for _ in range(DISK_THREADS + 1):
            group.start_soon(hardware_io, gate)
        await until(lambda: gate.entered == 1)
        with anyio.fail_after(60):
            assert await disk_io(divmod, 7, 2) == (3, 1)
        gate.open.set()
    assert gate.most == 1


@pytest.mark.parametrize(
    ("run", "threads", "code", "sentence"),
    [
        (disk_io, DISK_THREADS, "files_busy", "Too many files are being read or written"),
        (hardware_io, 1, "busy", "what this machine has"),
        (encoding, ENCODING_THREADS, "files_busy", "Too many files are being written"),
    ],
)
async def test_overload_of_a_shared_lane_says_what_is_overloaded(run, threads, code, sentence) -> None:
    gate = Gate()
    async with anyio.create_task_group() as group:
        for _ in range(threads + WAITING):
            group.start_soon(run, gate)
        await until(lambda: gate.entered == threads)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(Busy, match=sentence) as refused:
            await run(gate)
        assert refused.value.code == code
        gate.open.set()
