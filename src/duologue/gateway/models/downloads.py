"""Downloads of models by the server: one at a time, the others in a short queue; each can be stopped and resumed.

Owns the queue, the progress that is shown, and what follows a download that is to be used: the model is loaded and becomes the
default. A download runs in a thread (`download_work`). What has not ended is kept in a journal, and the next start resumes it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Literal

import anyio
import anyio.abc
from msgspec import Struct

from duologue.errors import Busy, NotFound, Problem, Unavailable
from duologue.gateway.models.download_journal import DownloadJournal, JournalEntry
from duologue.gateway.models.download_work import Fetch, Work
from duologue.gateway.models.transfer_rate import TransferRate
from duologue.models.catalogue import RECOMMENDED_NAMES
from duologue.models.hub import reference
from duologue.models.hub.resume import Stopped
from duologue.notifier import Notifier
from duologue.threads import ThreadLane
from duologue.values.events import STOPPING

log = logging.getLogger(__name__)

WAITING = 8
"""Downloads that may wait; further ones are refused."""
ENDED = 20
"""The latest downloads that have ended are still shown."""
UPDATE_EVERY = 0.25
"""Seconds between two updates of the progress."""
STOP_SECONDS = 10.0
"""Seconds `stop` waits for a download to end. A DNS lookup that cannot be interrupted may take longer."""
LOADS = 2
"""Starts of the server that try to load a downloaded model. A load that ends the server would otherwise end every later one."""

State = Literal["waiting", "running", "checking", "loading", "done", "failed", "stopped"]
OPEN = ("waiting", "running", "checking", "loading")

Use = Callable[[str, str, Callable[[float | None], None]], Awaitable[None]]
"""Loads the model of this name for this user and makes it the default; calls back with the progress, 0 to 1. Raises Problem."""


class DownloadError(Struct, frozen=True):
    """Why a download failed; `values` as in `Problem`."""

    code: str
    message: str
    values: dict[str, int | str] = {}

    @classmethod
    def of(cls, problem: Problem) -> DownloadError:
        return cls(problem.code, problem.message, dict(problem.values))


class Download(Struct, frozen=True):
    """A download as clients see it. Sizes in bytes (`total` 0: not known yet), `rate` in bytes per second, `left` in seconds,
    `started` in seconds since 1970 (0: not yet). `use`: it is loaded and made the default; `loading`: how far that is, 0 to 1."""

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
    use: bool = False
    loading: float | None = None


class Downloads:
    """The queue of downloads. `on_change` gets each download as it changes, at most four times a second; `on_complete` is called when a
    model is complete; `use` loads it. `clock` is monotonic; `wall` gives seconds since 1970."""

    def __init__(
        self,
        fetch: Fetch,
        *,
        use: Use | None = None,
        journal: DownloadJournal | None = None,
        on_change: Callable[[Download], None] = lambda download: None,
        on_complete: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._fetch = fetch
        self._use = use
        self._journal = journal
        self._on_change = on_change
        self._on_complete = on_complete
        self._clock = clock
        self._wall = wall
        self._number = 0
        self._jobs: dict[str, _Job] = {}
        self._notifier = Notifier()
        self._published = Notifier()
        self._closed = False

    def rows(self) -> list[Download]:
        """The downloads that wait or run, and the latest that have ended, the oldest first."""
        return [job.row(self._clock()) for job in self._jobs.values()]

    def enqueue(self, what: str, *, use: bool = False, user: str = "") -> Download:
        """Download a model: a known name, OWNER/REPOSITORY[:QUANT] or a URL. A download of the same that waits or runs is given
        instead; one that has ended is replaced. `use`: load it for this user and make it the default.

        Raises BadRequest or ModelNotFound for a bad reference, Busy when too many wait, Unavailable.
        """
        if self._closed:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
        model = reference.parse(what)
        for job in [job for job in self._jobs.values() if job.work.what == what.strip()]:
            if job.state not in OPEN:
                del self._jobs[job.id]
            elif not job.work.stopped:  # one that is being stopped will not complete
                job.use, job.user = job.use or use, job.user or user
                return job.row(self._clock())
        if sum(job.state == "waiting" for job in self._jobs.values()) >= WAITING:
            raise Busy(
                f"{WAITING} downloads are already waiting. Let some of them finish first.",
                code="too_many_downloads",
            )
        self._number += 1
        job = _Job(f"d_{self._number:x}", Work(what.strip(), _provisional_name(what.strip(), model)))
        job.use, job.user = use, user
        self._jobs[job.id] = job
        self._forget()
        self._notifier.notify()
        return self._publish(job)

    async def save(self) -> None:
        """Write what has not ended into the journal."""
        if self._journal is not None:
            open_jobs = [job for job in self._jobs.values() if job.state in OPEN]
            await self._journal.write(
                [
                    JournalEntry(
                        job.work.what, job.use, job.user, job.work.name if job.loads else "", job.loads
                    )
                    for job in open_jobs
                ]
            )

    async def _resume(self) -> None:
        """Go on with what had not ended when the server did."""
        for entry in await self._journal.read() if self._journal is not None else []:
            try:
                row = self.enqueue(entry.what, use=entry.use, user=entry.user)
            except Problem as problem:
                log.warning("the download of %s is not resumed: %s", entry.what, problem.message)
                continue
            job = self._jobs[row.id]
            job.loads = entry.loads
            if entry.name:
                job.work.name = entry.name

    async def stop(self, id: str) -> Download:
        """Stop a download that waits or runs; its data stays. One that has ended is removed from the list. Raises NotFound."""
        if (job := self._jobs.get(id)) is None:
            raise NotFound(f"There is no download {id[:40]!r}.", code="download_not_found")
        if job.state not in OPEN:
            del self._jobs[id]
            return job.row(self._clock())
        job.work.stop()
        if job.loading is not None:
            job.loading.cancel()
        if job.state == "waiting":
            self._end(job, "stopped")
            await self.save()
        with anyio.move_on_after(STOP_SECONDS):
            await job.ended.wait()
        return job.row(self._clock())

    async def follow(self, id: str) -> AsyncGenerator[Download]:
        """The download as it is, and whenever it has changed; the last row is one that has ended. A slow reader misses some."""
        job = self._jobs.get(id)
        while job is not None:
            changed, row = self._published.pending(), job.row(self._clock())
            yield row
            if row.state not in OPEN:
                return
            await changed.wait()

    def close(self) -> None:
        """Accept nothing new and stop everything: the server shuts down. The journal stays as it is."""
        self._closed, self._journal = True, None
        for job in self._jobs.values():
            job.work.stop()
            if job.state == "waiting":
                self._end(job, "stopped")

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run one download after another until cancelled; the current one is stopped then."""
        lane = ThreadLane(1)
        task_status.started()
        await self._resume()
        while True:
            job = next((job for job in self._jobs.values() if job.state == "waiting"), None)
            if job is None:
                await self._notifier.wait()
            else:
                await self._run(job, lane)

    async def _run(self, job: _Job, lane: ThreadLane) -> None:
        state, error = ("done", None) if job.loads else await self._download(job, lane)
        if state == "done":
            self._on_complete()
            if job.use and self._use is not None:
                state, error = await self._load(job, self._use)
        self._end(job, state, error)
        await self.save()

    async def _download(self, job: _Job, lane: ThreadLane) -> tuple[State, DownloadError | None]:
        job.state, job.started, job.rate = "running", self._wall(), TransferRate(0, self._clock())
        self._publish(job)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, job)
            outcome = await _outcome(job.work.name, lambda: lane.run(self._fetch, job.work))
            tasks.cancel_scope.cancel()
        return outcome

    async def _load(self, job: _Job, use: Use) -> tuple[State, DownloadError | None]:
        """Load the model and make it the default."""
        if job.loads >= LOADS:
            message = f"The server was stopped {job.loads} times while it loaded {job.work.name}. It may need more memory than there is."
            return "failed", DownloadError("load_failed", message)
        job.state, job.loads = "loading", job.loads + 1
        await self.save()
        self._publish(job)

        def progress(share: float | None) -> None:
            job.loaded = share
            self._publish(job)

        outcome: tuple[State, DownloadError | None] = ("stopped", None)
        with anyio.CancelScope() as job.loading:
            outcome = await _outcome(job.work.name, lambda: use(job.work.name, job.user, progress))
        job.loading = None
        return outcome

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
        self._published.notify()
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
        self.use = False
        self.user = ""
        self.loads = 0
        """How often loading the model has begun, over all starts of the server; then its files are complete."""
        self.loading: anyio.CancelScope | None = None
        self.loaded: float | None = None
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
            use=self.use,
            loading=self.loaded if self.state == "loading" else None,
        )


async def _outcome(name: str, work: Callable[[], Awaitable[None]]) -> tuple[State, DownloadError | None]:
    """How a download, or its load, ended. Raises nothing, so that the queue continues."""
    try:
        await work()
    except Stopped:
        return "stopped", None
    except Problem as problem:
        log.warning("the download of %s failed: %s", name, problem.message)
        return "failed", DownloadError.of(problem)
    except Exception:
        log.exception("the download of %s failed", name)
        return "failed", DownloadError(
            Problem.code, "An error inside the server ended this download. The server's log has the details."
        )
    return "done", None


def _provisional_name(what: str, model: reference.Reference) -> str:
    """The name of a download until the hub has given the model's name."""
    if isinstance(model, reference.UrlReference):
        stem = model.file.removesuffix(".gguf")
        return RECOMMENDED_NAMES.get(stem.lower(), stem)
    return model.repository.rpartition("/")[2] if "/" in what else what.lower()
