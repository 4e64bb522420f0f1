"""The workers as they are, and the only way to one: `with pool.lease(...)`.

Owns the shell around `queue.py`: it feeds the machine facts and carries out its commands, keeps the worker processes
and their links, and gives every lent slot back on every exit. Knows no dialect.
"""

from __future__ import annotations

import itertools
import logging
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import anyio
import anyio.abc
import msgspec

from duologue import telemetry
from duologue.errors import Problem, Unavailable
from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.scheduling.scheduler import (
    NO_MODEL,
    Chain,
    Command,
    Granted,
    Refused,
    Scheduler,
    unloaded,
)
from duologue.gateway.workers import process
from duologue.gateway.workers.connection import WorkerConnection
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.values.events import Failed
from duologue.values.failures import RESTARTED, STOPPING
from duologue.values.requests import ChatRequest, ModelCard
from duologue.wire.worker_protocol import Counted, LoadSpec, Report

log = logging.getLogger(__name__)

REFRESH = 3.0
"""Seconds after which a waiting request is told its estimate again, moved or not."""
CANCELLED = "This request gave up its place in the queue, as was asked for its ticket."
COUNT_PATIENCE = 10.0
"""Seconds a prompt may take to be counted; a library that reads a long one holds its engine for some."""


class _Tended:
    """A worker that is kept running: what it loads, the scopes that end it once it was begun, for good (`scope`) or until
    the next start (`round`), and whether it has ended."""

    def __init__(self, loadout: LoadSpec, port: int) -> None:
        self.loadout = loadout
        self.port = port
        self.scope: anyio.CancelScope | None = None
        self.round: anyio.CancelScope | None = None
        self.gone = anyio.Event()


class Pool:
    """Every worker, the queue before them, and the leases on them."""

    def __init__(
        self,
        loadouts: Sequence[LoadSpec],
        queue: Scheduler,
        *,
        port: int = 22400,
        log: tuple[str, str] = ("info", "text"),
        clock: Callable[[], float] = time.monotonic,
        on_change: Callable[[], None] = lambda: None,
        ticket_prefix: str = "q_",
    ) -> None:
        """`ticket_prefix`: how the names of this pool's tickets begin."""
        self._queue = queue
        self._ticket_prefix = ticket_prefix
        self._port = port
        self._log = log
        self._clock = clock
        self._on_change = on_change
        self._secret = secrets.token_urlsafe(32)
        self._tickets = 0
        self._leases: dict[str, Lease] = {}
        self._links: dict[str, WorkerConnection] = {}
        self._stopping = False
        self._returned = anyio.Event()
        self.started = clock()
        self.workers: dict[str, WorkerStatus] = {}
        self._tended: dict[str, _Tended] = {}
        self._numbers = itertools.count(len(loadouts))
        self._tasks: anyio.abc.TaskGroup | None = None
        for number, loadout in enumerate(loadouts):
            self._enrol(loadout, port + number)

    # ---- lending

    @contextmanager
    def lease(
        self,
        model: str,
        *,
        kind: str = "chat",
        chain: Chain = (),
        opening: bytes = b"",
        need: int = 1,
        ahead: bool = False,
        user: str = "",
    ) -> Iterator[Lease]:
        """A lease on `need` slots of a worker that serves `model`, given back on every exit. `ahead`: before the line.

        Entering does not wait: iterate `lease.places()` until the slots are lent.
        """
        self._tickets += 1
        lease = Lease(self, f"{self._ticket_prefix}{self._tickets:x}", user)
        self._leases[lease.ticket] = lease
        try:
            if self._stopping:
                lease.told(Refused(lease.ticket, STOPPING.code, STOPPING.message), None)
            elif not self.workers:
                lease.told(Refused(lease.ticket, "model_empty", NO_MODEL), None)
            else:
                key = self._key(model)
                asked = self._queue.ask(
                    lease.ticket,
                    key,
                    self._clock(),
                    need=need,
                    kind=kind,
                    chain=chain,
                    opening=opening,
                    ahead=ahead,
                )
                self._apply(asked)
            yield lease
        finally:
            del self._leases[lease.ticket]
            lease.give_back()
            self._returned.set()

    def cancel(self, ticket: str, user: str | None = None) -> bool:
        """Refuse who waits with this ticket, as `user` or (None) an admin asked. False where nobody of theirs does."""
        lease = self._leases.get(ticket)
        if lease is None or (user is not None and user != lease.user):
            return False
        if all(entry.ticket != ticket for entry in self._queue.entries()):
            return False
        self.withdraw(ticket)
        lease.told(Refused(ticket, "cancelled", CANCELLED), None)
        return True

    def withdraw(self, ticket: str) -> None:
        """A waiting ticket gives up its place."""
        self._apply(self._queue.cancel(ticket, self._clock()))

    def release(self, ticket: str, worker: str, slot: int) -> None:
        """A slot is free again."""
        self._apply(self._queue.release(ticket, worker, slot, self._clock()))

    # ---- coming and going

    def add(self, loadout: LoadSpec) -> WorkerStatus:
        """One more worker, started now, under a name nobody has: `loadout.worker` is not looked at.

        Raises Unavailable while the pool does not run. How the loading goes is seen in the view.
        """
        if self._tasks is None or self._stopping:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
        number = next(number for number in self._numbers if f"worker_{number}" not in self.workers)
        loadout = msgspec.structs.replace(loadout, worker=f"worker_{number}")
        # The ports of workers that have gone are free again; whoever finds one taken goes on to the next.
        tended = self._enrol(loadout, self._port + number % process.PORTS_TRIED)
        view = self.workers[loadout.worker]
        view.added = True
        self._tasks.start_soon(self._tend, tended)
        self._on_change()
        return view

    async def remove(self, name: str) -> None:
        """Take a worker away: who waits for its model alone is refused, what it runs ends with a sentence, its process
        ends. Returns when it has. Raises KeyError where there is none."""
        view, tended = self.workers.pop(name), self._tended.pop(name)
        failure = Failed("model_unloaded", unloaded(view.model), 503)
        self._apply(self._queue.worker_gone(name, self._clock()))
        if (link := self._links.get(name)) is not None:
            link.interrupt(failure)
        if tended.scope is not None:
            tended.scope.cancel()
        self._on_change()
        if self._tasks is not None:
            await tended.gone.wait()

    def restart(self, name: str) -> None:
        """End a worker's process gently and start it again at once, also one that has failed. What it runs ends with
        `worker_restarted`; who waits for its model goes on waiting. Raises KeyError where there is none."""
        view, tended = self.workers[name], self._tended[name]
        view.attempts = 0
        if view.state == "failed":
            view.state, view.detail = "offline", ""
        if (link := self._links.get(name)) is not None:
            link.end(RESTARTED)
        else:
            self._lost(view)
        if tended.round is not None:
            tended.round.cancel()

    def loadout(self, name: str) -> LoadSpec:
        """What a worker was told to load. Raises KeyError."""
        return self._tended[name].loadout

    def loadouts(self) -> list[LoadSpec]:
        """What each worker was told to load, the default model's first."""
        return [tended.loadout for tended in self._tended.values()]

    def _enrol(self, loadout: LoadSpec, port: int) -> _Tended:
        view = WorkerStatus(loadout.worker, loadout.model or loadout.worker, loadout.engine, loadout.device)
        tended = _Tended(loadout, port)
        self.workers[view.worker], self._tended[view.worker] = view, tended
        self._apply(self._queue.worker_starting(view.worker, view.model, self._clock()))
        return tended

    # ---- counting

    async def count(self, request: ChatRequest) -> Counted:
        """How many tokens the prompt of a request has, as a worker of its model counts them, without a slot.

        Raises Unavailable when no worker of the model is ready or none answers in time, WorkerLost when the worker
        ends meanwhile, Busy when too many are being counted, and what the model's template has against the messages.
        """
        link = self._counting(self._key(request.model))
        with anyio.move_on_after(COUNT_PATIENCE):
            return await link.count(request)
        raise Unavailable(
            "The model is too busy to count this conversation. Try again in a moment.", code="count_timeout"
        )

    def _counting(self, model: str) -> WorkerConnection:
        """The link that counts for a model: the one with the least to count."""
        if self._stopping:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
        if not self.workers:
            raise Unavailable(NO_MODEL, code="model_empty")
        serving = [view for view in self.workers.values() if view.model == model]
        links = [self._links[view.worker] for view in serving if view.state == "ready"]
        if links:
            return min(links, key=lambda link: link.asks)
        detail = next((view.detail for view in serving if view.detail), "")
        raise Unavailable(detail or f"No worker of the model {model!r} is ready.")

    # ---- views

    def cards(self) -> list[ModelCard]:
        """The models, the default first; those still loading with what is known of them."""
        cards: dict[str, ModelCard] = {}
        for view in self.workers.values():
            if view.model not in cards or view.card is not None:
                cards[view.model] = view.card or ModelCard(view.model, view.engine, 0)
        return list(cards.values())

    @property
    def ready(self) -> bool:
        """Whether a chat with the default model would be answered."""
        first = next(iter(self.workers.values()), None)
        return first is not None and any(
            view.state == "ready" for view in self.workers.values() if view.model == first.model
        )

    @property
    def queue(self) -> Scheduler:
        """The queue, to look at."""
        return self._queue

    def now(self) -> float:
        """Seconds on the pool's clock."""
        return self._clock()

    # ---- running

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Keep every worker running until cancelled; workers then end with it."""
        async with anyio.create_task_group() as tasks:
            for tended in self._tended.values():
                tasks.start_soon(self._tend, tended)
            tasks.start_soon(self._refresh)
            self._tasks = tasks
            task_status.started()

    async def _refresh(self) -> None:
        """Tell everyone who waits a fresh estimate now and then: all in one walk over the line, however long."""
        while True:
            await anyio.sleep(REFRESH)
            self._apply(self._queue.places(self._clock()))

    async def stop(self, seconds: float) -> None:
        """Take nothing new, end every running and waiting request with a sentence, and give them `seconds` to say it."""
        self._stopping = True
        for lease in list(self._leases.values()):
            lease.told(Refused(lease.ticket, STOPPING.code, STOPPING.message), None)
        for link in self._links.values():
            link.interrupt(STOPPING)
        with anyio.move_on_after(seconds):
            while self._leases:
                self._returned = anyio.Event()
                await self._returned.wait()

    async def _tend(self, tended: _Tended) -> None:
        # A worker outlives the request that asked for it.
        telemetry.request_id.set("")
        try:
            if self._tended.get(tended.loadout.worker) is tended:  # else it was taken away before it began
                with anyio.CancelScope() as tended.scope:
                    await self._keep(tended)
        finally:
            tended.gone.set()

    async def _keep(self, tended: _Tended) -> None:
        """Start the worker again whenever it ends. Whatever goes wrong with one is logged and leaves the others be."""
        view = self.workers[tended.loadout.worker]
        quick_ends = 0
        while True:
            with anyio.CancelScope() as tended.round:
                began = self._clock()
                how = await self._run_until_end(tended, view)
                quick_ends = 1 if self._clock() - began > process.STEADY else quick_ends + 1
                pause = process.backoff(quick_ends) if how else process.retry(view.attempts)
                self._ended(view, how)
                log.warning(
                    "worker %s ended (%s); it is started again in %.1f s",
                    view.worker,
                    how or "its model could not be loaded",
                    pause,
                )
                await anyio.sleep(pause)
            if tended.round.cancelled_caught:
                quick_ends = 0
                self._ended(view, "it was told to start anew")
                log.info("worker %s is started anew, as an admin asked", view.worker)

    def _ended(self, view: WorkerStatus, how: str) -> None:
        view.ended = how
        view.restarts += 1
        telemetry.metrics().worker_restarted(view.worker)
        self._on_change()

    async def _run_until_end(self, tended: _Tended, view: WorkerStatus) -> str:
        """As `_run_once`, with whatever goes wrong as how it ended."""
        try:
            return await self._run_once(tended.loadout, tended.port, view)
        except Exception as error:
            if not isinstance(error, Problem):
                log.exception("worker %s could not be run", view.worker)
            self._lost(view)
            return str(error) if isinstance(error, Problem) else f"{type(error).__name__}: {error}"

    async def _run_once(self, loadout: LoadSpec, port: int, view: WorkerStatus) -> str:
        """From the worker's start to its end. How the process ended; "" where it could not load its model."""
        view.attempts += 1
        async with process.started(loadout, self._secret, port, self._log) as running:
            view.port, view.process = running.port, running.process.pid
            if view.state != "failed":
                view.state, view.detail = "loading", ""
            with anyio.CancelScope() as serving:
                link = WorkerConnection(
                    running.address,
                    self._secret,
                    on_report=lambda report: self._reported(view, report, serving),
                    on_lost=lambda: self._lost(view),
                )
                self._links[view.worker] = link
                self._on_change()
                await link.run()
        return "" if serving.cancelled_caught else process.ending(running.process.returncode)

    def _reported(self, view: WorkerStatus, report: Report, serving: anyio.CancelScope) -> None:
        if self.workers.get(view.worker) is not view:
            return  # it was taken away, and its process is ending
        view.heard = time.time()
        if report.state == "loading" and view.state == "failed":
            return
        was, view.state, view.detail = view.state, report.state, report.detail
        view.progress = report.progress
        if report.card is not None:
            view.card = report.card
        if report.speech is not None:
            view.speech = report.speech
        if report.state == "ready" and report.card is not None and was != "ready":
            view.attempts = 0
            self._apply(self._queue.worker_up(view.worker, view.model, report.card.slots, self._clock()))
        elif report.state == "failed":
            log.error("worker %s cannot serve: %s", view.worker, report.detail)
            self._apply(self._queue.worker_failed(view.worker, view.model, report.detail, self._clock()))
            # The process may hold half a model; a later start finds a clean one.
            serving.cancel()
        self._on_change()

    def _lost(self, view: WorkerStatus) -> None:
        """The worker is gone, perhaps before its process is. From here on nothing is lent that it had."""
        self._links.pop(view.worker, None)
        view.process, view.progress = 0, None
        if self.workers.get(view.worker) is not view:
            return  # it was taken away: the queue has forgotten it
        if view.state != "failed" and view.attempts >= process.GIVE_UP:
            view.state = "failed"
            view.detail = (
                f"The worker of {view.model} ended {view.attempts} times before it was ready. The server's log says "
                "how. It goes on being tried, up to half a minute apart."
            )
            log.error("%s", view.detail)
        at = self._clock()
        if view.state == "failed":
            self._apply(self._queue.worker_failed(view.worker, view.model, view.detail, at))
        else:
            view.state = "offline"
            self._apply(self._queue.worker_starting(view.worker, view.model, at))
        self._on_change()

    def _apply(self, commands: Iterable[Command]) -> None:
        for command in commands:
            if (lease := self._leases.get(command.ticket)) is None:
                continue
            # A worker has slots to lend only from its first report to the loss of its link.
            lease.told(command, self._links[command.worker] if isinstance(command, Granted) else None)

    def _key(self, model: str) -> str:
        """The queue's name of a model: the worker entry's, whatever the engine calls it."""
        for view in self.workers.values():
            if not model or model == view.model or (view.card is not None and model == view.card.name):
                return view.model
        return model
