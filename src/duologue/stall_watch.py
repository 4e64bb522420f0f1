"""Tells when an event loop stands still, for how long, and what ran meanwhile.

The gateway and the workers run `watch_loop` beside everything else: it is a log line and a call of `on_stall`. A task of
the loop beats ten times a second, and a thread looks whether it does; while it does not, the thread notes which of our
lines the loop is in, and nothing else of what it finds there. `StallJudge` decides and is pure: times are arguments, in
seconds. A process that was suspended, or had no processor, has not stalled.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import anyio
from msgspec import Struct

from duologue.threads import repeatedly, this_thread

log = logging.getLogger("duologue.stall_watch")

BEAT = 0.1
"""Seconds between two beats of the loop, and between two looks of the thread."""
LIMIT = 0.2
"""Seconds beyond a beat from which a loop has stalled."""
LOG_EVERY = 10.0
"""Seconds between two log lines; what was not logged is counted in the next one."""
FRAMES = 3
PACKAGE = Path(__file__).parent
UNSEEN = "what ran was not seen"


class Stall(Struct, frozen=True):
    """A loop stood still for so many seconds. `cause`: the lines it was in, innermost first."""

    seconds: float
    cause: str


class StallJudge:
    """What the beats of a loop and the looks of a thread say. `now` is when it begins."""

    def __init__(self, now: float, processor: float = 0.0) -> None:
        self._beat = self._look = now
        self._processor = processor
        self._cause = ""
        self._frozen = 0.0
        """Seconds since the last beat in which the whole process stood still."""

    def beat(self, now: float, processor: float) -> Stall | None:
        """The loop has turned; the stall that this ended."""
        if now - self._look - BEAT > LIMIT:
            self._notice(now, processor)
        seconds, cause = now - self._beat - BEAT - self._frozen, self._cause
        self._beat, self._cause, self._frozen = now, "", 0.0
        return Stall(seconds, cause or UNSEEN) if seconds > LIMIT else None

    def look(self, now: float, processor: float) -> bool:
        """The thread looks; `processor` are the seconds of processor time that the process has used. Whether the loop has been
        standing still for too long."""
        self._notice(now, processor)
        return now - self._beat - BEAT - self._frozen > LIMIT

    def _notice(self, now: float, processor: float) -> None:
        """The thread is late too: the whole process stood still, unless it was busy, in a library that let nobody else run."""
        gap, used = now - self._look - BEAT, processor - self._processor
        self._look, self._processor = now, processor
        if gap > LIMIT and used < gap / 2:
            self._frozen += gap

    def saw(self, cause: str) -> None:
        """What the loop was in, in the stall that `look` told of. The first one counts."""
        self._cause = self._cause or cause


class _Reports:
    """Hands on every stall, and logs some of them."""

    def __init__(self, on_stall: Callable[[float], None]) -> None:
        self._on_stall = on_stall
        self._logged: float | None = None
        self._unlogged = 0

    def report(self, stall: Stall, now: float) -> None:
        self._on_stall(stall.seconds)
        if self._logged is not None and now - self._logged < LOG_EVERY:
            self._unlogged += 1
            return
        more = f" ({self._unlogged} more since the last line)" if self._unlogged else ""
        log.warning("the event loop stood still for %.2f s: %s%s", stall.seconds, stall.cause, more)
        self._logged, self._unlogged = now, 0


async def watch_loop(on_stall: Callable[[float], None], clock: Callable[[], float] = time.monotonic) -> None:
    """Watch the loop this runs on until it is cancelled. `on_stall` gets the seconds of each stall."""
    judge, reports = StallJudge(clock(), time.process_time()), _Reports(on_stall)
    loop = this_thread()

    def look() -> None:
        if judge.look(clock(), time.process_time()):
            judge.saw(cause_of(sys._current_frames(), loop))

    with repeatedly(look, BEAT):
        while True:
            await anyio.sleep(BEAT)
            now = clock()
            if (stall := judge.beat(now, time.process_time())) is not None:
                reports.report(stall, now)


def cause_of(frames: dict[int, FrameType], loop: int) -> str:
    """The lines of Duologue's code that the loop's thread is in, innermost first; where it is in none, those of the thread that may hold
    the interpreter. Names of files and functions only: no value of any kind."""
    own = _ours(frames.get(loop))
    if own:
        return own
    others = (_ours(frame) for thread, frame in frames.items() if thread not in (loop, this_thread()))
    other = next(filter(None, others), "")
    return f"another thread, {other}" if other else UNSEEN


def _ours(frame: FrameType | None) -> str:
    lines: list[str] = []
    while frame is not None and len(lines) < FRAMES:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(PACKAGE) and path != Path(__file__) and path.name != "threads.py":
            lines.append(f"{path.relative_to(PACKAGE)}:{frame.f_lineno} {frame.f_code.co_name}")
        frame = frame.f_back
    return " < ".join(lines)
