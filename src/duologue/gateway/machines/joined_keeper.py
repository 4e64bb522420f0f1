"""Keeps a worker of another machine in a pool: its sessions, one after another, and its status.

It starts no process. A worker that is told to restart ends, and whoever started it on its machine starts it again; the next session of its
name takes the place. `JoinService` makes one keeper for each name and passes it the sessions.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import anyio

from duologue import telemetry
from duologue.gateway.machines.join_rules import Allowance, checked_report
from duologue.gateway.machines.joined_transport import LARGEST, JoinedTransport
from duologue.gateway.workers.connection import WorkerConnection
from duologue.gateway.workers.keeper_contracts import RESTART_REASONS, Listener, RestartCause
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.notifier import Notifier
from duologue.tracing import spans
from duologue.values.events import RESTARTED, Failed
from duologue.wire.worker_protocol import Dismiss, LoadSpec, Report

log = logging.getLogger(__name__)

RESTART_SECONDS = 120.0
"""Seconds that a worker which was told to restart has to join again."""
DISMISS_SECONDS = 10.0
"""Seconds that it has to leave."""


class JoinedKeeper:
    """One name. `over` hears that the worker has gone for good, with the reason."""

    def __init__(
        self,
        load_spec: LoadSpec,
        machine: str,
        listener: Listener,
        *,
        lease_s: float,
        clock: Callable[[], float],
        stall_limit: float | None,
        over: Callable[[str], None],
    ) -> None:
        self.load_spec = load_spec
        self.status = WorkerStatus(
            load_spec.worker,
            load_spec.model or load_spec.worker,
            load_spec.engine,
            load_spec.device,
            task=load_spec.task,
            machine=machine,
            joined=bool(machine),
            added=True,
        )
        self.connection: WorkerConnection | None = None
        self._listener = listener
        self._lease_s = lease_s
        self._clock = clock
        self._stall_limit = stall_limit
        self._over = over
        self._next: JoinedTransport | None = None
        self._current: JoinedTransport | None = None
        self._arrived = Notifier()
        self._told = "loading"
        """The state as the worker last reported it."""
        self._is_unreachable = False
        self._restarting: RestartCause | None = None
        self._restarts = False
        """Whether the worker was told to restart when the last session ended."""
        self._removed = False
        self._lifetime: anyio.CancelScope | None = None
        self._attempt: anyio.CancelScope | None = None
        self._ended = anyio.Event()

    def offer(self, transport: JoinedTransport) -> None:
        """A new process of the worker has joined, and takes the place of the one before."""
        if self._current is not None:
            self._current.end("another process of it has joined")
        if self._next is not None:
            self._next.end("another process of it has joined")
        self._next = transport
        self._arrived.notify()

    async def run(self) -> None:
        telemetry.request_id.set("")
        why = ""
        try:
            if not self._removed:
                with anyio.CancelScope() as self._lifetime:
                    why = await self._keep()
            if self._removed and self._current is not None:
                await self._current.dismiss(Dismiss(), DISMISS_SECONDS)
        finally:
            self._ended.set()
            for transport in (self._current, self._next):
                if transport is not None:
                    transport.end(why or "the server ends")
        self._over(why or "it was removed")

    def restart(self, cause: RestartCause = "admin") -> None:
        self._restarting = cause
        if self.connection is not None:
            self.connection.end(RESTARTED)
        if self._attempt is not None:
            self._attempt.cancel()

    def remove(self, failure: Failed) -> None:
        self._removed = True
        if self.connection is not None:
            self.connection.interrupt(failure)
        if self._lifetime is not None:
            self._lifetime.cancel()

    def reached(self, transport: JoinedTransport, reachable: bool) -> None:
        """The connection of a session is there again, or broke."""
        if transport is self._current:
            self._reach(reachable)

    async def wait_ended(self) -> None:
        await self._ended.wait()

    async def _keep(self) -> str:
        """Run one session after another. Gives why there are no more."""
        why = ""
        while (transport := await self._session()) is not None:
            await self._serve(transport)
            why = transport.ended if transport.left_for_good else ""
        return why or f"no process of it joined again within {self._lease_s:.0f} s"

    async def _session(self) -> JoinedTransport | None:
        """The next session; None when none has come for as long as one may take."""
        with anyio.move_on_after(self._patience()):
            while self._next is None:
                await self._arrived.wait()
        self._current, self._next = self._next, None
        return self._current

    def _patience(self) -> float:
        """Seconds that the next process may take to join."""
        last = self._current
        if last is not None and last.left_for_good:
            return 0.0
        if self._restarts:
            return RESTART_SECONDS
        return 0.0 if last is not None and last.expired else self._lease_s

    async def _serve(self, transport: JoinedTransport) -> None:
        """Run a session from its start to its end."""
        status = self.status
        self._restarting, self._is_unreachable = None, False
        status.attempts += 1
        self._told = status.state = "loading"
        status.detail = ""
        reports = Allowance(burst=50, rate=5)

        def report(message: Report) -> None:
            if not reports.may(self._clock()):
                raise ValueError("too many reports")
            self._report(checked_report(message))

        with anyio.CancelScope() as self._attempt:
            self.connection = connection = WorkerConnection(
                transport,
                on_report=report,
                on_lost=self._lost,
                on_elsewhere=self._elsewhere,
                stall_limit=None if self.load_spec.engine == "remote" else self._stall_limit,
                largest=LARGEST,
            )
            self._listener.worker_changed()
            try:
                await connection.run()
            except Exception:
                log.exception("worker %s could not be run", status.worker)
                self._lost()
        spans.leave()
        cause, self._restarts = self._restarting, bool(self._restarting)
        if cause is not None:
            log.info("worker %s is restarted %s", status.worker, RESTART_REASONS[cause])
            await transport.dismiss(Dismiss(restart=True), DISMISS_SECONDS)
        transport.end(connection.hung or "its session ended")
        self._count_end(transport.ended, cause or ("hung" if connection.hung else "crash"))

    def _count_end(self, reason: str, cause: str) -> None:
        status = self.status
        status.ended = reason
        status.restarts += 1
        log.log(
            logging.INFO if cause not in ("crash", "hung") else logging.WARNING,
            "worker %s has left: %s",
            status.worker,
            reason,
        )
        telemetry.metrics().worker_restarted(status.worker, status.label, cause)
        self._listener.worker_changed()

    def _report(self, report: Report) -> None:
        if self._removed:
            return
        status = self.status
        status.last_report = time.time()
        was_ready, self._told = self._told == "ready", report.state
        status.detail, status.progress = report.detail, report.progress
        if not self._is_unreachable:
            status.state = report.state
        if report.card is not None:
            status.card = report.card
        if report.speech is not None:
            status.speech = report.speech
        if report.state == "ready" and report.card is not None and not was_ready:
            if not self.load_spec.model and report.card.name:
                status.model = report.card.name
            status.attempts = 0
            status.ready_at = self._clock()
            self._listener.worker_ready(status, report.card.slots)
        elif report.state in ("loading", "failed"):
            self._listener.worker_down(status)
        if report.state == "stopping" or self._is_unreachable:
            self._listener.worker_unreachable(status)
        self._listener.worker_changed()

    def _elsewhere(self, slots: tuple[int, ...]) -> None:
        if not self._removed:
            self._listener.slots_elsewhere(self.status, slots)

    def _reach(self, reachable: bool) -> None:
        status = self.status
        if self._removed or self.connection is None:
            return
        if not reachable and not self._is_unreachable:
            self._is_unreachable, status.state = True, "unreachable"
            status.unreachable_since = self._clock()
            self._listener.worker_unreachable(status)
        elif reachable and self._is_unreachable:
            self._is_unreachable, status.state, status.unreachable_since = False, self._told, None
            if self._told == "ready":
                self._listener.worker_reachable(status)
        self._listener.worker_changed()

    def _lost(self) -> None:
        """The session is over. From here on none of its slots may be granted."""
        self.connection = None
        status = self.status
        status.progress, status.unreachable_since = None, None
        if self._removed:
            return
        status.state = "offline"
        self._listener.worker_down(status)
        self._listener.worker_changed()
