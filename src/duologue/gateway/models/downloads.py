"""Downloads of models that the server makes: one at a time, others in a short line, each to be stopped and gone on with.

Owns the line, what is told of each, and its end. A download runs in a thread, which tells numbers and looks whether it
is still wanted; how a model is found and fetched is the models room's. Nothing is remembered over a restart but the
files: what came of a download lies in the folder, and asking for it again goes on from there.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.abc
from msgspec import Struct

from duologue.errors import Busy, NotFound, Problem, Unavailable
from duologue.gateway.models.transfer_rate import TransferRate
from duologue.models.fit import Hardware
from duologue.models.hub import reference
from duologue.models.hub.resume import Stopped
from duologue.threads import ThreadLane
from duologue.values.failures import STOPPING

if TYPE_CHECKING:
    from duologue.models.hub.http import HubConnection

log = logging.getLogger(__name__)

WAITING = 8
"""Downloads that may wait for their turn; the next is refused."""
ENDED = 20
"""Downloads that have ended and are still shown, the newest."""
TOLD_EVERY = 0.25
"""Seconds between two words about how far one is."""
STOP_SECONDS = 10.0
"""Seconds whoever stops one waits to see it ended; a server's name may be looked up for longer."""
SLICE = 0.2
"""Seconds after which a pause between two tries looks whether it is still wanted."""

State = Literal["waiting", "running", "checking", "done", "failed", "stopped"]
OPEN = ("waiting", "running", "checking")


class DownloadError(Struct, frozen=True):
    """Why a download failed."""

    code: str
    message: str


class Download(Struct, frozen=True):
    """A download as it is told. Sizes in bytes (`total` 0: not known yet), `rate` in bytes a second, `left` in seconds,
    `started` in seconds since 1970 (0: not yet)."""

    id: str
    name: str
    what: str
    state: State
    total: int = 0
    done: int = 0
    rate: float = 0.0
    left: float | None = None
    error: DownloadError | None = None
    started: float = 0.0


class Work:
    """One download between its thread, which tells, and the event loop, which reads and stops it. Each number is
    written by one side alone. Fulfils `models.download.Watch`."""

    def __init__(self, what: str, name: str) -> None:
        self.what = what
        self.name = name
        self.total = 0
        self.checking = False
        self.stopped = False
        self._before = 0
        self._file = 0
        self._open: HubConnection | None = None

    @property
    def done(self) -> int:
        return self._before + self._file

    def stop(self) -> None:
        """From the event loop: it is no longer wanted."""
        self.stopped = True
        if self._open is not None:
            self._open.stop()

    # ---- from the thread

    def uses(self, opened: HubConnection) -> None:
        """What to end when this is stopped. Raises Stopped when it was already."""
        self._open = opened
        self._go_on()

    def ordered(self, name: str, total: int, there: int) -> None:
        """It is this model, of `total` bytes, of which whole files with `there` bytes are here."""
        self.name, self.total, self._before = name, total, there
        self._go_on()

    def begin(self, label: str, total: int, done: int) -> None:
        self.total = max(self.total, total)
        self._file = done
        self._go_on()

    def kept(self, count: int) -> None:
        self.checking = True
        self._file += count
        self._go_on()

    def advance(self, count: int) -> None:
        self._file += count
        self.checking = 0 < self.total <= self.done
        self._go_on()

    def end(self) -> None:
        self._before, self._file = self._before + self._file, 0

    def pause(self, seconds: float) -> None:
        """Wait between two tries, but not for nothing."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._go_on()
            time.sleep(min(SLICE, left))

    def _go_on(self) -> None:
        if self.stopped:
            raise Stopped


Bring = Callable[[Work], None]
"""Does the work of one download, in a thread. Raises Problem, or Stopped when its work was stopped."""


def fetcher(folder: Path, look: Callable[[], Hardware]) -> Bring:
    """What brings models into `folder`, asking the hub that HF_ENDPOINT names. `look` sees this machine; it blocks."""

    def bring(work: Work) -> None:
        # Imported by the first download: a server starts without an HTTP client.
        from duologue.models.hub import http, pull

        with http.connect(sleep=work.pause, notice=log.info) as opened:
            work.uses(opened)
            meant = reference.parse(work.what, opened.hub)
            if (there := pull.there_already(meant, folder)) is not None:
                work.ordered(there.name, there.header.size, there.header.size)
                return
            order = pull.order(opened, meant, look())
            whole = [folder / name for name, _ in order.files]
            work.ordered(order.name, order.size, sum(path.stat().st_size for path in whole if path.is_file()))
            pull.bring(opened, order, folder, work)

    return bring


class Downloads:
    """The line of downloads. `tell` is told of each as it changes, at most four times a second, `arrived` when a model
    is whole. `clock` is monotonic; `wall` gives seconds since 1970."""

    def __init__(
        self,
        bring: Bring,
        *,
        tell: Callable[[Download], None] = lambda download: None,
        arrived: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._bring = bring
        self._tell = tell
        self._arrived = arrived
        self._clock = clock
        self._wall = wall
        self._number = 0
        self._jobs: dict[str, _Job] = {}
        self._posted = anyio.Event()
        self._closed = False

    def rows(self) -> list[Download]:
        """Every download that waits, runs or has ended not long ago, the oldest first."""
        return [job.row(self._clock()) for job in self._jobs.values()]

    def ask(self, what: str) -> Download:
        """Have a model brought: a known name, OWNER/REPOSITORY[:QUANT] or an address. One that is under way already is
        not begun twice; of one that has ended the new one takes the place.

        Raises BadRequest and ModelNotFound for what cannot be meant, Busy when too many wait, Unavailable.
        """
        if self._closed:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
        meant = reference.parse(what)
        for job in [job for job in self._jobs.values() if job.work.what == what.strip()]:
            if job.state not in OPEN:
                del self._jobs[job.id]
            elif not job.work.stopped:  # one that is being stopped brings it no more
                return job.row(self._clock())
        if sum(job.state == "waiting" for job in self._jobs.values()) >= WAITING:
            raise Busy(
                f"{WAITING} downloads wait already. Let some of them finish first.", code="too_many_downloads"
            )
        self._number += 1
        job = _Job(f"d_{self._number:x}", Work(what.strip(), _called(what.strip(), meant)))
        self._jobs[job.id] = job
        self._forget()
        self._posted.set()
        return self._say(job)

    async def stop(self, id: str) -> Download:
        """Stop one that waits or runs; what came is kept. One that has ended is no longer shown. Raises NotFound."""
        if (job := self._jobs.get(id)) is None:
            raise NotFound(f"There is no download {id[:40]!r}.", code="download_not_found")
        if job.state not in OPEN:
            del self._jobs[id]
            return job.row(self._clock())
        job.work.stop()
        if job.state == "waiting":
            self._end(job, "stopped")
        with anyio.move_on_after(STOP_SECONDS):
            await job.ended.wait()
        return job.row(self._clock())

    def close(self) -> None:
        """Take nothing new and stop what there is: the server goes down."""
        self._closed = True
        for job in self._jobs.values():
            job.work.stop()
            if job.state == "waiting":
                self._end(job, "stopped")

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Bring one after another until cancelled; the one at work is stopped then."""
        lane = ThreadLane(1)
        task_status.started()
        while True:
            job = next((job for job in self._jobs.values() if job.state == "waiting"), None)
            if job is None:
                self._posted = anyio.Event()
                await self._posted.wait()
            else:
                await self._run(job, lane)

    async def _run(self, job: _Job, lane: ThreadLane) -> None:
        job.state, job.started, job.pace = "running", self._wall(), TransferRate(0, self._clock())
        self._say(job)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, job)
            state, error = await _outcome(self._bring, job.work, lane)
            tasks.cancel_scope.cancel()
        self._end(job, state, error)
        if state == "done":
            self._arrived()

    async def _watch(self, job: _Job) -> None:
        """Tell how far it is. Ends with the work, or before it when the server stops: then the thread must hear so."""
        try:
            while True:
                await anyio.sleep(TOLD_EVERY)
                if job.noticed(self._clock()):
                    self._say(job)
        finally:
            job.work.stop()

    def _end(self, job: _Job, state: State, error: DownloadError | None = None) -> None:
        job.state, job.error = state, error
        job.ended.set()
        self._say(job)

    def _say(self, job: _Job) -> Download:
        row = job.row(self._clock())
        self._tell(row)
        return row

    def _forget(self) -> None:
        ended = [id for id, job in self._jobs.items() if job.state not in OPEN]
        for id in ended[: max(0, len(ended) - ENDED)]:
            del self._jobs[id]


class _Job:
    """A download in the line: its work, and what is known of it besides."""

    def __init__(self, id: str, work: Work) -> None:
        self.id = id
        self.work = work
        self.state: State = "waiting"
        self.error: DownloadError | None = None
        self.started = 0.0
        self.pace: TransferRate | None = None
        self.ended = anyio.Event()
        self._seen: tuple[str, int, int] = ("", 0, 0)

    def noticed(self, at: float) -> bool:
        """Look what the thread has told; whether that is news."""
        work = self.work
        seen = (work.name, work.total, work.done)
        checked = self.state == "checking"
        self.state = "checking" if work.checking else "running"
        if work.checking or checked or self.pace is None:
            # What is read again from the disk says nothing about the network.
            self.pace = TransferRate(work.done, at)
        else:
            self.pace.moved(work.done, at)
        news = seen != self._seen or checked != work.checking
        self._seen = seen
        return news

    def row(self, at: float) -> Download:
        work = self.work
        moving = self.pace if self.state == "running" else None
        left = moving.left(work.total, at) if moving else None
        return Download(
            id=self.id,
            name=work.name,
            what=work.what,
            state=self.state,
            total=work.total,
            done=work.done,
            rate=round(moving.rate(at)) if moving else 0.0,
            left=None if left is None else round(left, 1),
            error=self.error,
            started=self.started,
        )


async def _outcome(bring: Bring, work: Work, lane: ThreadLane) -> tuple[State, DownloadError | None]:
    """How it ended. Raises nothing: the line goes on."""
    try:
        await lane.run(bring, work)
    except Stopped:
        return "stopped", None
    except Problem as problem:
        log.warning("the download of %s failed: %s", work.name, problem.message)
        return "failed", DownloadError(problem.code, problem.message)
    except Exception:
        log.exception("the download of %s failed", work.name)
        return "failed", DownloadError(
            Problem.code, "Something broke inside the server while this was downloaded; its log says what."
        )
    return "done", None


def _called(what: str, meant: reference.Reference) -> str:
    """What a download is called until the hub has told the model's name."""
    if isinstance(meant, reference.UrlReference):
        return meant.file.removesuffix(".gguf")
    return meant.repository.rpartition("/")[2] if "/" in what else what
