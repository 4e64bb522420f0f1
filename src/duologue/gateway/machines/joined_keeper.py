"""Keeps a worker of another machine in a pool: its sessions, one after another, and its status.

It starts no process. A worker that is told to restart ends, and whoever started it on its machine starts it again; the next session of its
name takes the place. `JoinService` makes one keeper for each name and passes it the sessions.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.abc
import msgspec

from duologue import telemetry
from duologue.errors import Problem
from duologue.gateway.machines.join_rules import Allowance, checked_report
from duologue.gateway.machines.joined_transport import LARGEST, JoinedTransport
from duologue.gateway.workers.connection import WorkerConnection
from duologue.gateway.workers.keeper_contracts import RESTART_REASONS, Listener, RestartCause
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.notifier import Notifier
from duologue.threads import disk_io
from duologue.tracing import spans
from duologue.values.events import RESTARTED, Failed
from duologue.values.questions.worker_questions import UseTemplate
from duologue.wire.worker_protocol import Dismiss, LoadSpec, Report

log = logging.getLogger(__name__)

RESTART_SECONDS = 120.0
"""Seconds that a worker which was told to restart has to join again."""
DISMISS_SECONDS = 10.0
"""Seconds that it has to leave."""
TEMPLATE_SECONDS = 60.0
"""Seconds in which it must have compiled a chat template, as for a choice of an admin."""


class JoinedKeeper:
    """One name. `over` is called with the reason when the worker has gone for good."""

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
        self._template, self._template_warning = "", ""
        """The file of the chat template that was sent to the process, "" for its own; and why it does not use it."""
        self._is_told_template = False
        """Whether another one is being sent to the process. It gets no requests meanwhile."""
        self._tasks: anyio.abc.TaskGroup | None = None
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
        """Run one session after another. Returns why there are no more."""
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
        self._template, self._template_warning, self._is_told_template = "", "", False
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
                async with anyio.create_task_group() as self._tasks:
                    await connection.run()
                    self._tasks.cancel_scope.cancel()
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
        status.state = self._state()
        if report.card is not None:
            warnings = (*report.card.warnings, *filter(None, [self._template_warning]))
            status.card = msgspec.structs.replace(report.card, warnings=warnings)
        if report.speech is not None:
            status.speech = report.speech
        if report.state == "ready" and report.card is not None and not was_ready:
            if not self.load_spec.model and report.card.name:
                status.model = report.card.name
            status.attempts = 0
            self._with_template(self._ready)
        elif report.state in ("loading", "failed"):
            self._listener.worker_down(status)
        if report.state == "stopping" or self._is_unreachable:
            self._listener.worker_unreachable(status)
        self._changed()

    def _ready(self) -> None:
        """Requests may go to the process."""
        status = self.status
        assert status.card is not None
        status.ready_at = self._clock()
        self._listener.worker_ready(status, status.card.slots)
        if self._is_unreachable:
            self._listener.worker_unreachable(status)

    def _state(self) -> str:
        """What pages show of a process that has joined."""
        if self._is_unreachable:
            return "unreachable"
        return "loading" if self._is_told_template and self._told == "ready" else self._told

    def _changed(self) -> None:
        self.status.state = self._state()
        self._listener.worker_changed()

    # ---- the chat template that was chosen

    def _with_template(self, then: Callable[[], None]) -> None:
        """Call `then` once the process uses the template that was chosen for its model."""
        if self._is_told_template:
            return  # what waits for that announces the worker
        if self.load_spec.template == self._template:
            then()
            return
        assert self._tasks is not None
        self._is_told_template = True
        self._tasks.start_soon(self._tell_template, then)

    async def _tell_template(self, then: Callable[[], None]) -> None:
        connection, warning = self.connection, ""
        # Another one may be chosen meanwhile.
        while connection is not None and (path := self.load_spec.template) != self._template:
            warning = await tell_template(connection, self.status.worker, path)
            self._template = path
        self._is_told_template, self._template_warning = False, warning
        if warning and self.status.card is not None:
            warnings = (*self.status.card.warnings, warning)
            self.status.card = msgspec.structs.replace(self.status.card, warnings=warnings)
        if self._told == "ready" and self.connection is connection and not self._removed:
            then()
            self._changed()

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
            if self._told == "ready" and not self._is_told_template:
                # A template chosen from now on is sent when the worker can be reached again.
                self._template = self.load_spec.template
            self._listener.worker_unreachable(status)
        elif reachable and self._is_unreachable:
            self._is_unreachable, status.unreachable_since = False, None
            if self._told == "ready":
                self._with_template(self._back)
        self._changed()

    def _back(self) -> None:
        """Requests may go to the process again."""
        if not self._is_unreachable:
            self._listener.worker_reachable(self.status)

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


async def tell_template(connection: WorkerConnection, worker: str, path: str) -> str:
    """Have a worker, which cannot read the file itself, render with the chat template in it; "" for its own. Gives a warning where it does not,
    "" where it does: the model is of more use without it, as on this machine."""
    reason = "it did not answer in time."
    with anyio.move_on_after(TEMPLATE_SECONDS):
        try:
            source = await disk_io(Path(path).read_text, "utf-8") if path else ""
            await connection.ask(UseTemplate(source))
            return ""
        except (OSError, UnicodeError) as error:
            reason = f"it cannot be read ({getattr(error, 'strerror', None) or 'it is not UTF-8 text'})."
        except Problem as problem:
            reason = problem.message
    log.warning("worker %s does not use the chosen chat template %s: %s", worker, path, reason)
    return f"The chosen chat template {Path(path).name} is not used: {reason}"
