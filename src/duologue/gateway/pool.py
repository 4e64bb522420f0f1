"""The workers as they are, and the only way to one: `with pool.lease(...)`.

Owns the shell around `queue.py`: it feeds the machine facts and carries out its commands, keeps the worker processes
and their links, and gives every lent slot back on every exit. Knows no dialect.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import anyio
import anyio.abc
from msgspec import Struct

from duologue import telemetry
from duologue.errors import Problem, QueueFull, Unavailable
from duologue.gateway import supervisor
from duologue.gateway.link import STOPPING, Inbox, Link, Stream
from duologue.gateway.queue import Chain, Command, Granted, Moved, Queue, Refused
from duologue.values.events import Event
from duologue.values.requests import ChatRequest, ModelCard
from duologue.wire.internal import Counted, Loadout, Report

log = logging.getLogger(__name__)

REFRESH = 3.0
"""Seconds after which a waiting request is told its estimate again, moved or not."""
COUNT_PATIENCE = 10.0
"""Seconds a prompt may take to be counted; a library that reads a long one holds its engine for some."""


class WorkerView(Struct):
    """One worker for the status pages. `state` is the worker's own word, or "offline" while it has no process. A
    worker that has failed stays so, with or without a process, until it is ready."""

    worker: str
    model: str
    engine: str
    device: str
    state: str = "offline"
    port: int = 0
    process: int = 0
    restarts: int = 0
    attempts: int = 0
    """Starts since it was ready last."""
    detail: str = ""
    heard: float = 0.0
    """Unix seconds of the worker's last word."""
    card: ModelCard | None = None


class Lease:
    """Slots of one worker, or a place in the line for them. Made by `Pool.lease` alone."""

    def __init__(self, pool: Pool, ticket: str) -> None:
        self.ticket = ticket
        self._pool = pool
        self._inbox = Inbox()
        self._place: Moved | None = None
        self._changed = anyio.Event()
        self._refusal: Problem | None = None
        self._granted: Granted | None = None
        self._link: Link | None = None
        self._idle: list[int] = []
        self._streams: dict[int, Stream] = {}
        self._begun = False

    async def places(self) -> AsyncGenerator[Moved]:
        """The places in the line, when they change and every few seconds; ends when the slots are lent.

        Raises QueueFull or Unavailable when they never will be.
        """
        while self._granted is None:
            if self._refusal is not None:
                raise self._refusal
            if self._place is not None:
                place, self._place = self._place, None
                yield place
                continue
            await self._changed.wait()
            self._changed = anyio.Event()

    @property
    def idle(self) -> int:
        """How many of the lent slots run nothing."""
        return len(self._idle)

    def begin(self, choice: int, request: ChatRequest, request_id: str) -> None:
        """Start a generation in an idle slot of the lease."""
        assert self._link is not None
        slot = self._idle.pop(0)
        self._streams[choice] = self._link.begin(
            slot, choice, request, self._inbox, request_id, self._slot_closed
        )

    def spare(self) -> None:
        """Nothing more will begin: give back the slots that are idle, and every other once it falls idle."""
        self._begun = True
        for slot in self._idle:
            self._release(slot)
        self._idle.clear()

    async def take(self) -> list[tuple[int, Event]]:
        """All events that arrived, waiting for something; may be empty when a slot fell idle."""
        batch = await self._inbox.take()
        link = self._link
        assert link is not None
        if len(self._streams) == 1:
            for stream in self._streams.values():
                link.taken(stream, len(batch))
            return batch
        for choice, _ in batch:
            link.taken(self._streams[choice], 1)
        return batch

    # ---- between the lease and its pool

    def told(self, command: Command, link: Link | None) -> None:
        """A command of the queue about this lease's ticket."""
        match command:
            case Granted(_, _, slots):
                self._granted, self._link, self._idle = command, link, list(slots)
            case Moved():
                self._place = command
            case Refused(_, code, message):
                kind = QueueFull if code == "queue_full" else Unavailable
                self._refusal = kind(message, code=code)
        self._changed.set()

    def give_back(self) -> None:
        """Cancel what runs and return every slot: idle ones now, the others once their work has truly ended."""
        if self._granted is None:
            self._pool.withdraw(self.ticket)
            return
        self.spare()
        for stream in self._streams.values():
            if not stream.ended and self._link is not None:
                self._link.cancel(stream)

    def _slot_closed(self, stream: Stream) -> None:
        if self._begun:
            self._release(stream.slot)
        else:
            self._idle.append(stream.slot)

    def _release(self, slot: int) -> None:
        assert self._granted is not None
        self._pool.release(self.ticket, self._granted.worker, slot)


class Pool:
    """Every worker, the queue before them, and the leases on them."""

    def __init__(
        self,
        loadouts: Sequence[Loadout],
        queue: Queue,
        *,
        port: int = 22400,
        log: tuple[str, str] = ("info", "text"),
        clock: Callable[[], float] = time.monotonic,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._loadouts = loadouts
        self._queue = queue
        self._port = port
        self._log = log
        self._clock = clock
        self._on_change = on_change
        self._secret = secrets.token_urlsafe(32)
        self._tickets = 0
        self._leases: dict[str, Lease] = {}
        self._links: dict[str, Link] = {}
        self._stopping = False
        self._returned = anyio.Event()
        self.started = clock()
        self.workers = {
            loadout.worker: WorkerView(
                loadout.worker, loadout.model or loadout.worker, loadout.engine, loadout.device
            )
            for loadout in loadouts
        }
        for worker in self.workers.values():
            queue.worker_starting(worker.worker, worker.model, clock())

    # ---- lending

    @contextmanager
    def lease(self, model: str, *, kind: str = "chat", chain: Chain = (), need: int = 1) -> Iterator[Lease]:
        """A lease on `need` slots of a worker that serves `model`, given back on every exit.

        Entering does not wait: iterate `lease.places()` until the slots are lent.
        """
        self._tickets += 1
        lease = Lease(self, f"q_{self._tickets:x}")
        self._leases[lease.ticket] = lease
        try:
            if self._stopping:
                lease.told(Refused(lease.ticket, STOPPING.code, STOPPING.message), None)
            else:
                key = self._key(model)
                self._apply(
                    self._queue.ask(lease.ticket, key, self._clock(), need=need, kind=kind, chain=chain)
                )
            yield lease
        finally:
            del self._leases[lease.ticket]
            lease.give_back()
            self._returned.set()

    def withdraw(self, ticket: str) -> None:
        """A waiting ticket gives up its place."""
        self._apply(self._queue.cancel(ticket, self._clock()))

    def release(self, ticket: str, worker: str, slot: int) -> None:
        """A slot is free again."""
        self._apply(self._queue.release(ticket, worker, slot, self._clock()))

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

    def _counting(self, model: str) -> Link:
        """The link that counts for a model: the one with the least to count."""
        if self._stopping:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
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
    def queue(self) -> Queue:
        """The queue, to look at."""
        return self._queue

    def now(self) -> float:
        """Seconds on the pool's clock."""
        return self._clock()

    # ---- running

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Keep every worker running until cancelled; workers then end with it."""
        async with anyio.create_task_group() as tasks:
            for number, loadout in enumerate(self._loadouts):
                tasks.start_soon(self._keep, loadout, self._port + number)
            tasks.start_soon(self._refresh)
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

    async def _keep(self, loadout: Loadout, port: int) -> None:
        """Start the worker again whenever it ends. Whatever goes wrong with one is logged and leaves the others be."""
        view = self.workers[loadout.worker]
        quick_ends = 0
        while True:
            began = self._clock()
            try:
                how = await self._run_once(loadout, port, view)
            except Exception as error:
                how = str(error) if isinstance(error, Problem) else f"{type(error).__name__}: {error}"
                if not isinstance(error, Problem):
                    log.exception("worker %s could not be run", view.worker)
                self._lost(view)
            quick_ends = 1 if self._clock() - began > supervisor.STEADY else quick_ends + 1
            pause = supervisor.backoff(quick_ends) if how else supervisor.retry(view.attempts)
            view.restarts += 1
            telemetry.metrics().worker_restarted(view.worker)
            log.warning(
                "worker %s ended (%s); it is started again in %.1f s",
                view.worker,
                how or "its model could not be loaded",
                pause,
            )
            await anyio.sleep(pause)

    async def _run_once(self, loadout: Loadout, port: int, view: WorkerView) -> str:
        """From the worker's start to its end. How the process ended; "" where it could not load its model."""
        view.attempts += 1
        async with supervisor.started(loadout, self._secret, port, self._log) as running:
            view.port, view.process = running.port, running.process.pid
            if view.state != "failed":
                view.state, view.detail = "loading", ""
            with anyio.CancelScope() as serving:
                link = Link(
                    running.address,
                    self._secret,
                    on_report=lambda report: self._reported(view, report, serving),
                    on_lost=lambda: self._lost(view),
                )
                self._links[view.worker] = link
                self._on_change()
                await link.run()
        return "" if serving.cancelled_caught else supervisor.ending(running.process.returncode)

    def _reported(self, view: WorkerView, report: Report, serving: anyio.CancelScope) -> None:
        view.heard = time.time()
        if report.state == "loading" and view.state == "failed":
            return
        was, view.state, view.detail = view.state, report.state, report.detail
        if report.card is not None:
            view.card = report.card
        if report.state == "ready" and report.card is not None and was != "ready":
            view.attempts = 0
            self._apply(self._queue.worker_up(view.worker, view.model, report.card.slots, self._clock()))
        elif report.state == "failed":
            log.error("worker %s cannot serve: %s", view.worker, report.detail)
            self._apply(self._queue.worker_failed(view.worker, view.model, report.detail, self._clock()))
            # The process may hold half a model; a later start finds a clean one.
            serving.cancel()
        self._on_change()

    def _lost(self, view: WorkerView) -> None:
        """The worker is gone, perhaps before its process is. From here on nothing is lent that it had."""
        self._links.pop(view.worker, None)
        view.process = 0
        if view.state != "failed" and view.attempts >= supervisor.GIVE_UP:
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
