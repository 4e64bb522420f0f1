"""Decoder jobs run in processes of their own: what they return, and what happens when they go wrong."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest
from tests.support import decoder_jobs as jobs

from duologue.decoder.frames import Ending
from duologue.decoder.job import JobLimits
from duologue.decoder.service import STREAMS_PER_USER, decode, decode_stream, reason_of
from duologue.errors import BadRequest, NotFound, TooLarge

pytestmark = pytest.mark.anyio


async def test_a_job_gets_the_bytes_and_its_arguments() -> None:
    assert await decode(jobs.measure, b"abc", "word") == jobs.Measured(3, "word")


async def test_a_large_file_arrives_whole() -> None:
    assert (await decode(jobs.measure, bytes(20_000_000), "")).size == 20_000_000


async def test_a_file_on_disk_is_read_by_the_child(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert (await decode(jobs.measure, path, "")).size == 5


async def test_a_problem_of_the_job_arrives_as_it_was_raised() -> None:
    with pytest.raises(TooLarge) as raised:
        await decode(jobs.refuse, b"")
    problem = raised.value
    assert (problem.message, problem.code, problem.status, problem.param) == (
        "Too much of it.",
        "image_too_large",
        413,
        "file",
    )


@pytest.mark.parametrize(
    ("job", "code"),
    [
        (jobs.break_down, "file_breaks_reader"),
        (jobs.crash, "file_breaks_reader"),
        (jobs.abort, "file_breaks_reader"),
        (jobs.lie, "file_breaks_reader"),
        (jobs.be_killed, "file_too_complex"),
        (jobs.swell_and_abort, "file_too_complex"),
        (jobs.spin, "file_too_complex"),
        (jobs.stall, "file_too_complex"),
        (jobs.swell, "file_too_complex"),
        (jobs.shout, "file_too_complex"),
    ],
)
async def test_a_job_that_goes_wrong_is_refused_and_the_next_one_is_done(
    job: Callable[[bytes], object], code: str, caplog: pytest.LogCaptureFixture
) -> None:
    if job in (jobs.swell, jobs.swell_and_abort) and sys.platform != "linux":
        pytest.skip("only Linux bounds the address space")
    with pytest.raises(BadRequest) as raised:
        await decode(job, b"data")
    assert raised.value.code == code
    assert [record.name for record in caplog.records] == ["duologue.decoder.service"]
    assert (await decode(jobs.measure, b"abc", "")).size == 3


@pytest.mark.parametrize(
    ("ending", "outcome"),
    [
        (Ending(-signal.SIGXCPU, 50, 15.0), "time"),
        (Ending(-signal.SIGKILL, 50, 1.0), "memory"),
        (Ending(-signal.SIGABRT, 900, 1.0), "memory"),
        (Ending(-signal.SIGSEGV, 50, 0.1), "crash"),
        (Ending(1, 50, 0.1), "crash"),
    ],
)
def test_the_reason_of_an_end_is_told(ending: Ending, outcome: str) -> None:
    assert reason_of(ending, JobLimits(memory_mb=1024))[0] == outcome


async def test_a_file_that_is_gone_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        await decode(jobs.measure, tmp_path / "gone", "")


async def test_no_descriptor_stays_open() -> None:
    async def some_of_each() -> None:
        await decode(jobs.measure, b"abc", "")
        with pytest.raises(BadRequest):
            await decode(jobs.crash, b"")
        async with decode_stream(jobs.own_process, b"") as items:
            await anext(items)
        with anyio.move_on_after(0.01):
            await decode(jobs.stall, b"")

    await some_of_each()
    before = len(os.listdir("/dev/fd"))
    for _ in range(5):
        await some_of_each()
    assert len(os.listdir("/dev/fd")) == before


async def test_a_stream_gives_its_items_one_by_one() -> None:
    async with decode_stream(jobs.count, b"", 3) as items:
        assert [item async for item in items] == [0, 1, 2]


async def test_a_stream_that_crashes_gives_the_items_before() -> None:
    async with decode_stream(jobs.count_and_crash, b"", 3) as items:
        assert [await anext(items) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(BadRequest):
            await anext(items)


async def test_only_marked_functions_run() -> None:
    with pytest.raises(TypeError):
        await decode(jobs.not_a_job, b"")


async def test_streams_of_one_user_leave_places_for_the_others() -> None:
    async with AsyncExitStack() as opened, anyio.create_task_group() as tasks:
        for _ in range(STREAMS_PER_USER):
            await opened.enter_async_context(decode_stream(jobs.count, b"", 3, user="ann"))
        tasks.start_soon(one_more, "ann")
        await anyio.wait_all_tasks_blocked()
        await one_more("ben")
        tasks.cancel_scope.cancel()


async def one_more(user: str) -> None:
    async with decode_stream(jobs.count, b"", 3, user=user) as items:
        assert await anext(items) == 0


async def test_a_job_that_ends_without_a_result_is_refused() -> None:
    with pytest.raises(BadRequest) as raised:
        await decode(jobs.leave_early, b"")
    assert raised.value.code == "file_breaks_reader"
