"""Downloads of models by the server: one at a time, the others in a short queue; each can be stopped and resumed.

Owns the queue and the progress that is shown. A download runs in a thread, which reports numbers and checks whether it was stopped;
`duologue.models.hub` finds and fetches the files. Only the files survive a restart: requesting the same model again resumes there.
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
from duologue.notifier import Notifier
from duologue.threads import ThreadLane
from duologue.values.failures import STOPPING

if TYPE_CHECKING:
    from duologue.models.hub.http import HubConnection

log = logging.getLogger(__name__)

WAITING = 8
"""Downloads that may wait; further ones are refused."""
ENDED = 20
"""The latest downloads that have ended are still shown."""
UPDATE_EVERY = 0.25
"""Seconds between two updates of the progress."""
STOP_SECONDS = 10.0
"""Seconds `stop` waits for a download to end. A DNS lookup that cannot be interrupted may take longer."""
SLICE = 0.2
"""Seconds after which a pause between two attempts checks whether the download was stopped."""

State = Literal["waiting", "running", "checking", "done", "failed", "stopped"]
OPEN = ("waiting", "running", "checking")


class DownloadError(Struct, frozen=True):
    """Why a download failed."""

    code: str
    message: str


class Download(Struct, frozen=True):
    """A download as clients see it. Sizes in bytes (`total` 0: not known yet), `rate` in bytes per second, `left` in seconds,
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
    """One download, shared by its thread, which reports, and the event loop, which reads and stops it. Each number is written by
    one side only, so no lock is needed. Fulfils `models.download.Watch`."""

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
        """From the event loop: stop as soon as possible."""
        self.stopped = True
        if self._open is not None:
            self._open.stop()

    # ---- from the thread

    def uses(self, opened: HubConnection) -> None:
        """The connection to close when this is stopped. Raises Stopped if it already was."""
        self._open = opened
        self._go_on()

    def ordered(self, name: str, total: int, there: int) -> None:
        """The model was found: its name, its size in bytes, and how many bytes of it are complete files here."""
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
        """Wait between two attempts, unless the download is stopped."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._go_on()
            time.sleep(min(SLICE, left))

    def _go_on(self) -> None:
        if self.stopped:
            raise Stopped


Fetch = Callable[[Work], None]
"""Does one download, in a thread. Raises Problem, or Stopped when the work was stopped."""


def hub_download(folder: Path, probe_hardware: Callable[[], Hardware]) -> Fetch:
    """Downloads into `folder` from the hub that HF_ENDPOINT names. `probe_hardware` measures this machine; it blocks."""

    def fetch(work: Work) -> None:
        # Imported by the first download, so that the server starts without loading an HTTP client.
        from duologue.models.hub import http, pull

        with http.connect(sleep=work.pause, notice=log.info) as opened:
            work.uses(opened)
            model = reference.parse(work.what, opened.hub)
            if (there := pull.find_pulled(model, folder)) is not None:
                work.ordered(there.name, there.header.size, there.header.size)
                return
            order = pull.plan_download(opened, model, probe_hardware())
            whole = [folder / name for name, _ in order.files]
            work.ordered(order.name, order.size, sum(path.stat().st_size for path in whole if path.is_file()))
            pull.download_model(opened, order, folder, work)

    return fetch


class Downloads:
    """The queue of downloads. `on_change` gets each download as it changes, at most four times a second; `on_complete` is called when a
    model is complete. `clock` is monotonic; `wall` gives seconds since 1970."""

    def __init__(
        self,
        fetch: Fetch,
        *,
        on_change: Callable[[Download], None] = lambda download: None,
        on_complete: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._fetch = fetch
        self._on_change = on_change
        self._on_complete = on_complete
        self._clock = clock
        self._wall = wall
        self._number = 0
        self._jobs: dict[str, _Job] = {}
        self._notifier = Notifier()
        self._closed = False

    def rows(self) -> list[Download]:
        """The downloads that wait or run, and the latest that have ended, the oldest first."""
        return [job.row(self._clock()) for job in self._jobs.values()]

    def enqueue(self, what: str) -> Download:
        """Download a model: a known name, OWNER/REPOSITORY[:QUANT] or a URL. A download of the same that waits or runs is given
        instead; one that has ended is replaced.

        Raises BadRequest or ModelNotFound for a bad reference, Busy when too many wait, Unavailable.
        """
        if self._closed:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
        model = reference.parse(what)
        for job in [job for job in self._jobs.values() if job.work.what == what.strip()]:
            if job.state not in OPEN:
                del self._jobs[job.id]
            elif not job.work.stopped:  # one that is being stopped will not complete
                return job.row(self._clock())
        if sum(job.state == "waiting" for job in self._jobs.values()) >= WAITING:
            raise Busy(
                f"{WAITING} downloads are already waiting. Let some of them finish first.",
                code="too_many_downloads",
            )
        self._number += 1
        job = _Job(f"d_{self._number:x}", Work(what.strip(), _provisional_name(what.strip(), model)))
        self._jobs[job.id] = job
        self._forget()
        self._notifier.notify()
        return self._publish(job)

    async def stop(self, id: str) -> Download:
        """Stop a download that waits or runs; its data stays. One that has ended is removed from the list. Raises NotFound."""
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
        """Accept nothing new and stop everything: the server shuts down."""
        self._closed = True
        for job in self._jobs.values():
            job.work.stop()
            if job.state == "waiting":
                self._end(job, "stopped")

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run one download after another until cancelled; the current one is stopped then."""
        lane = ThreadLane(1)
        task_status.started()
        while True:
            job = next((job for job in self._jobs.values() if job.state == "waiting"), None)
            if job is None:
                await self._notifier.wait()
            else:
                await self._run(job, lane)

    async def _run(self, job: _Job, lane: ThreadLane) -> None:
        job.state, job.started, job.rate = "running", self._wall(), TransferRate(0, self._clock())
        self._publish(job)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, job)
            state, error = await _outcome(self._fetch, job.work, lane)
            tasks.cancel_scope.cancel()
        self._end(job, state, error)
        if state == "done":
            self._on_complete()

    async def _watch(self, job: _Job) -> None:
        """Publish the progress. Ends with the work, or earlier when the server stops; the thread must then stop too."""
        try:
            while True:
                await anyio.sleep(UPDATE_EVERY)
                if job.update(self._clock()):
                    self._publish(job)
        finally:
            job.work.stop()

    def _end(self, job: _Job, state: State, error: DownloadError | None = None) -> None:
        job.state, job.error = state, error
        job.ended.set()
        self._publish(job)

    def _publish(self, job: _Job) -> Download:
        row = job.row(self._clock())
        self._on_change(row)
        return row

    def _forget(self) -> None:
        ended = [id for id, job in self._jobs.items() if job.state not in OPEN]
        for id in ended[: max(0, len(ended) - ENDED)]:
            del self._jobs[id]


class _Job:
    """A download in the queue: its work and its state."""

    def __init__(self, id: str, work: Work) -> None:
        self.id = id
        self.work = work
        self.state: State = "waiting"
        self.error: DownloadError | None = None
        self.started = 0.0
        self.rate: TransferRate | None = None
        self.ended = anyio.Event()
        self._numbers: tuple[str, int, int] = ("", 0, 0)

    def update(self, at: float) -> bool:
        """Read the numbers of the thread. Whether anything has changed."""
        work = self.work
        numbers = (work.name, work.total, work.done)
        was_checking = self.state == "checking"
        self.state = "checking" if work.checking else "running"
        if work.checking or was_checking or self.rate is None:
            # Checking reads from the disk, which says nothing about the rate of the network.
            self.rate = TransferRate(work.done, at)
        else:
            self.rate.update(work.done, at)
        changed = numbers != self._numbers or was_checking != work.checking
        self._numbers = numbers
        return changed

    def row(self, at: float) -> Download:
        work = self.work
        rate = self.rate if self.state == "running" else None
        left = rate.left(work.total, at) if rate else None
        return Download(
            id=self.id,
            name=work.name,
            what=work.what,
            state=self.state,
            total=work.total,
            done=work.done,
            rate=round(rate.rate(at)) if rate else 0.0,
            left=None if left is None else round(left, 1),
            error=self.error,
            started=self.started,
        )


async def _outcome(fetch: Fetch, work: Work, lane: ThreadLane) -> tuple[State, DownloadError | None]:
    """How a download ended. Raises nothing, so that the queue continues."""
    try:
        await lane.run(fetch, work)
    except Stopped:
        return "stopped", None
    except Problem as problem:
        log.warning("the download of %s failed: %s", work.name, problem.message)
        return "failed", DownloadError(problem.code, problem.message)
    except Exception:
        log.exception("the download of %s failed", work.name)
        return "failed", DownloadError(
            Problem.code, "An error inside the server ended this download. The server's log has the details."
        )
    return "done", None


def _provisional_name(what: str, model: reference.Reference) -> str:
    """The name of a download until the hub has given the model's name."""
    if isinstance(model, reference.UrlReference):
        return model.file.removesuffix(".gguf")
    return model.repository.rpartition("/")[2] if "/" in what else what
