"""A loop that stands still is told of, with what it was in; a process that was suspended is not."""

from __future__ import annotations

import logging
import sys
import threading
import time
from pathlib import Path

import anyio
import pytest
from anyio import lowlevel

from duologue import stall_watch
from duologue.stall_watch import BEAT, LIMIT, UNSEEN, Stall, StallJudge, cause_of, watch_loop

pytestmark = pytest.mark.anyio


def judged(*, beats: list[float], looks: list[tuple[float, float]]) -> list[Stall]:
    """What a judge says to beats and looks (time, processor time) in the order of their times."""
    judge = StallJudge(0.0)
    stalls: list[Stall] = []
    times = sorted([(at, None) for at in beats] + [(at, used) for at, used in looks], key=lambda one: one[0])
    for at, used in times:
        if used is None:
            processor = next((used for when, used in looks if when >= at), looks[-1][1])
            stalls += [stall] if (stall := judge.beat(at, processor)) else []
        elif judge.look(at, used):
            judge.saw("here")
    return stalls


def every(start: float, end: float, used: float = 0.0) -> list[tuple[float, float]]:
    """Looks at the usual pace."""
    return [(start + at * BEAT, used) for at in range(1 + round((end - start) / BEAT))]


def test_a_loop_that_turns_has_not_stalled() -> None:
    assert judged(beats=[0.1, 0.2, 0.35, 0.5, 0.75], looks=every(0.05, 0.8)) == []


def test_a_stall_is_told_with_its_length_and_its_cause() -> None:
    (stall,) = judged(beats=[0.1, 1.5, 1.6], looks=every(0.05, 1.65))
    assert stall.seconds == pytest.approx(1.4 - BEAT)
    assert stall.cause == "here"


def test_the_cause_is_what_was_seen_first_and_is_not_kept_for_the_next_stall() -> None:
    judge = StallJudge(0.0)
    for at, cause in ((0.1, ""), (0.2, ""), (0.3, ""), (0.4, "first"), (0.5, "second")):
        if judge.look(at, at):
            judge.saw(cause)
    assert judge.beat(0.6, 0.6) == Stall(pytest.approx(0.5), "first")  # type: ignore[arg-type]
    judge.look(0.65, 0.65)
    assert judge.beat(0.7, 0.7) is None


def test_a_suspended_process_has_not_stalled() -> None:
    # Neither the loop nor the thread ran for a minute, and no processor time passed.
    assert judged(beats=[0.1, 60.2, 60.3], looks=[(0.15, 1.0), (60.15, 1.0), (60.25, 1.0)]) == []
    assert judged(beats=[0.1, 60.15, 60.3], looks=[(0.15, 1.0), (60.2, 1.0), (60.35, 1.0)]) == []


def test_a_stall_after_a_suspension_is_told_without_the_suspension() -> None:
    looks = [(0.05, 0.0), (60.05, 0.0), *every(60.15, 61.2)]
    (stall,) = judged(beats=[0.1, 61.1], looks=looks)
    assert stall.seconds == pytest.approx(1.0, abs=0.2)


def test_a_library_that_holds_the_interpreter_is_a_stall() -> None:
    # The thread was late too, but the process was busy all the time.
    (stall,) = judged(beats=[0.1, 3.2], looks=[(0.05, 0.0), (3.1, 3.0)])
    assert stall.seconds == pytest.approx(3.0)
    (stall,) = judged(beats=[0.1, 3.2], looks=[(0.05, 0.0), (3.3, 3.1)])
    assert stall.seconds == pytest.approx(3.0)
    assert stall.cause == UNSEEN


def test_a_stall_of_just_the_limit_is_none() -> None:
    assert judged(beats=[0.1, 0.19 + LIMIT], looks=every(0.05, 0.5)) == []


def busy(ready: threading.Event, end: threading.Event) -> None:
    ready.set()
    end.wait(60)


def test_the_cause_names_lines_of_ours_and_no_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stall_watch, "PACKAGE", Path(__file__).parent)
    assert cause_of({}, 1) == UNSEEN
    ready, end = threading.Event(), threading.Event()
    thread = threading.Thread(target=busy, args=(ready, end))
    thread.start()
    ready.wait(60)
    assert thread.ident is not None
    try:
        here = cause_of(sys._current_frames(), thread.ident)
        assert here.startswith("test_stall_watch.py:")
        assert here.endswith(" busy")
        # A loop that waits in a library is in none of our lines; the other thread is.
        idle = {
            1: sys._current_frames()[thread.ident].f_back or sys._getframe(),
            2: sys._current_frames()[thread.ident],
        }
        monkeypatch.setattr(stall_watch, "_ours", lambda frame: "" if frame is idle[1] else "x.py:1 y")
        assert cause_of(idle, 1) == "another thread, x.py:1 y"
    finally:
        end.set()
        thread.join()


async def test_a_loop_that_stands_still_is_logged_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    stalls: list[float] = []
    stalled = anyio.Event()

    def on_stall(seconds: float) -> None:
        stalls.append(seconds)
        stalled.set()

    async with anyio.create_task_group() as group:
        group.start_soon(watch_loop, on_stall)
        await anyio.sleep(2 * BEAT)
        with caplog.at_level(logging.WARNING):
            time.sleep(1.0)  # noqa: ASYNC251 (what is tested)
            with anyio.fail_after(60):
                await stalled.wait()
        group.cancel_scope.cancel()
    assert max(stalls) > LIMIT
    assert "the event loop stood still for" in caplog.text


async def test_many_stalls_are_one_line_that_counts_the_rest(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[float] = []
    reports = stall_watch._Reports(seen.append)
    for at in (1.0, 2.0, 3.0, 20.0):
        reports.report(Stall(0.5, "here"), at)
    assert len(seen) == 4
    assert [record.getMessage() for record in caplog.records] == [
        "the event loop stood still for 0.50 s: here",
        "the event loop stood still for 0.50 s: here (2 more since the last line)",
    ]


async def test_the_watch_ends_with_its_task() -> None:
    before = threading.active_count()
    with anyio.move_on_after(BEAT):
        await watch_loop(lambda seconds: None)
    await lowlevel.checkpoint()
    assert threading.active_count() <= before + 1
