"""Runs decoder jobs for the rest of the server: `decode` for one result, `decode_stream` for many.

Called with functions marked by `@decoder_job`, by everything that reads files people send. Owns how many run at once, the
deadline, and the sentence for a file that its decoder did not survive.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import anyio
import msgspec

from duologue import telemetry
from duologue.decoder.frames import END, ITEM, Ending, JobFailure, problem_of
from duologue.decoder.job import MEGABYTE, JobLimits, JobTypes, limits_of, name_of, types_of
from duologue.decoder.process import (
    ChildEnded,
    ForkServerEnded,
    ForkServerProcess,
    ResultTooLarge,
    request_for,
)
from duologue.errors import BadRequest, Busy, Problem
from duologue.fair_lane import FairLane
from duologue.threads import Refusal

T = TypeVar("T")

JOBS, JOBS_PER_USER = 3, 2
"""Jobs at once, and those of one user among them."""
STREAMS, STREAMS_PER_USER = 8, 6
"""Streams at once: they mostly wait for who reads them."""
NEARLY = 0.7
"""Of its memory limit: a child that had so much when it crashed crashed for want of more."""
BUSY = Refusal(
    "Too many files are being read at the moment; try again soon.",
    "Other files kept the server busy for too long; try again soon.",
    "files_busy",
)

log = logging.getLogger(__name__)

_jobs = FairLane(JOBS, JOBS_PER_USER, refusal=BUSY)
_streams = FairLane(STREAMS, STREAMS_PER_USER, refusal=BUSY)
_server = ForkServerProcess()


async def decode(job: Callable[..., T], source: bytes | Path, *arguments: object, user: str = "") -> T:
    """The result of `job(bytes of source, *arguments)`, run in a process of its own. Users take turns.

    Raises the Problem that the job raises; BadRequest (`file_too_complex`, `file_breaks_reader`) when the job exceeds its
    limits or crashes; Busy (`files_busy`).
    """
    async with _jobs.turn(user), aclosing(_run(job, source, arguments)) as items:
        async for item in items:
            return cast(T, item)
    raise _refused(name_of(job), "crash", "it sent no result")


@asynccontextmanager
async def decode_stream(
    job: Callable[..., object], source: bytes | Path, *arguments: object, user: str = ""
) -> AsyncIterator[AsyncIterator[Any]]:
    """The items that the iterator `job(bytes of source, *arguments)` gives, while they are made: the job waits for who
    reads them. Leaving ends it. The iterator raises as `decode` does."""
    async with _streams.turn(user), aclosing(_run(job, source, arguments)) as items:
        yield items


def close() -> None:
    """End the decoder processes. The next job starts new ones."""
    _server.close()


async def _run(
    job: Callable[..., object], source: bytes | Path, arguments: tuple[object, ...]
) -> AsyncGenerator[Any]:
    """The results of one job. It is begun once more when the fork server ended, which is nobody's fault."""
    name, given = name_of(job), False
    for is_last in (False, True):
        try:
            async with aclosing(_results(name, limits_of(job), types_of(job), source, arguments)) as items:
                async for item in items:
                    given = True
                    yield item
            return
        except ForkServerEnded:
            if given or is_last:
                _count("crash")
                log.warning("a decoder (%s) was ended: its fork server ended", name)
                raise Busy("The process that reads files was ended; try again.", code=BUSY.code) from None


async def _results(
    name: str, limits: JobLimits, types: JobTypes, source: bytes | Path, arguments: tuple[object, ...]
) -> AsyncGenerator[Any]:
    """The results of one child. The deadline of each counts only while it is waited for. Raises ForkServerEnded."""
    decoder = msgspec.msgpack.Decoder(types.result)
    request, data = request_for(name, arguments, source)
    async with _server.child(name, limits.result_mb * MEGABYTE) as child:
        with _within(limits, name):
            await child.send(request, data)
        while True:
            with _within(limits, name):
                kind, body = await child.receive()
                if kind == END:
                    _count("done")
                    return
                if kind != ITEM:
                    raise _problem(name, msgspec.msgpack.decode(body, type=JobFailure))
                item = decoder.decode(body)
            del body
            yield item


@contextmanager
def _within(limits: JobLimits, name: str) -> Iterator[None]:
    """Bounds a wait for a child, and turns the end of one that did not survive its file into a Problem."""
    try:
        with anyio.fail_after(limits.seconds):
            yield
    except TimeoutError:
        raise _refused(name, "time", f"it took more than {limits.seconds:g} s") from None
    except ResultTooLarge:
        raise _refused(name, "result", f"its result has more than {limits.result_mb} MB") from None
    except msgspec.MsgspecError as error:
        # A child that a file has taken over may send anything.
        raise _refused(name, "crash", f"its result cannot be read: {error}") from None
    except ChildEnded as ended:
        outcome, reason = reason_of(ended.ending, limits)
        raise _refused(name, outcome, reason) from None


def reason_of(ending: Ending, limits: JobLimits) -> tuple[str, str]:
    """The outcome of a job whose child ended before it, and the reason for the log."""
    status = ending.status
    how = f"signal {-status}, {signal.strsignal(-status)}" if status < 0 else f"exit code {status}"
    reason = f"{how}; {ending.peak_mb} MB, {ending.cpu_seconds:.1f} processor seconds"
    if status == -signal.SIGXCPU:
        return "time", reason
    # Libraries abort, or use what they did not get, when memory is refused; the kernel kills when it has none.
    if status == -signal.SIGKILL or ending.peak_mb > NEARLY * limits.memory_mb:
        return "memory", reason
    return "crash", reason


def _problem(name: str, failure: JobFailure) -> Problem:
    if (problem := problem_of(failure)) is not None:
        _count("refused")
        return problem
    if failure.kind == "memory":
        return _refused(name, "memory", "its memory limit")
    return _refused(name, "error", failure.message)


def _refused(name: str, outcome: str, reason: str) -> Problem:
    """The problem of a file that its decoder did not survive. The log says why; who sent it reads what to do."""
    _count(outcome)
    log.warning("a decoder (%s) was ended: %s", name, reason)
    if outcome in ("crash", "error"):
        return BadRequest(
            "The file cannot be read: it is damaged, or far too complex. Save it anew or send a simpler one.",
            code="file_breaks_reader",
        )
    return BadRequest(
        "The file takes too much time or memory to read. Send a simpler or smaller one.",
        code="file_too_complex",
    )


def _count(outcome: str) -> None:
    telemetry.metrics().decoder_ended(outcome)
