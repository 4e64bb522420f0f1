"""Keeps one worker running: starts its process, connects to it, and starts it again whenever it ends.

Owns the status of the worker; when it is started again `supervisor/crash_loop` decides. The pool has one keeper for each worker and hears through `Listener`
when the worker's slots come and go.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import anyio

from duologue import telemetry
from duologue.errors import Problem
from duologue.gateway.workers import process
from duologue.gateway.workers.connection import WorkerConnection
from duologue.gateway.workers.keeper_contracts import RESTART_REASONS, Listener, RestartCause
from duologue.gateway.workers.local_transport import LocalTransport
from duologue.gateway.workers.process_facts import out_of_memory_kills, waits_for_disk
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.supervisor.crash_loop import Cause, CrashLoop
from duologue.tracing import spans
from duologue.values.events import RESTARTED, Failed
from duologue.wire.worker_protocol import LoadSpec, Report

log = logging.getLogger(__name__)


class WorkerKeeper:
    """One worker process on this machine, from when it is added to when it is removed. `log_settings`: level and format of its log; `stall_limit`: seconds that
    its engine may give no step."""

    def __init__(
        self,
        load_spec: LoadSpec,
        listener: Listener,
        *,
        port: int,
        secret: str,
        log_settings: tuple[str, str],
        clock: Callable[[], float],
        stall_limit: float | None = None,
    ) -> None:
        self.load_spec = load_spec
        self._stall_limit = stall_limit
        self._crashes = CrashLoop(load_spec.model or load_spec.worker)
        self.status = WorkerStatus(
            load_spec.worker,
            load_spec.model or load_spec.worker,
            load_spec.engine,
            load_spec.device,
            upstream=load_spec.upstream,
            task=load_spec.task,
        )
        self.connection: WorkerConnection | None = None
        """The connection to the running process; None as soon as the worker is lost."""
        self._listener = listener
        self._port = port
        self._secret = secret
        self._log_settings = log_settings
        self._clock = clock
        self._removed = False
        self._restart_cause: RestartCause = "admin"
        # Pools are built before the event loop runs, and a cancel scope needs one.
        self._lifetime: anyio.CancelScope | None = None
        self._attempt: anyio.CancelScope | None = None
        self._ended = anyio.Event()

    async def run(self) -> None:
        """Keep the worker running until it is removed or this is cancelled."""
        # This task may be started by a request that adds a worker, and outlives it: its log lines are not that request's.
        telemetry.request_id.set("")
        try:
            if not self._removed:
                with anyio.CancelScope() as self._lifetime:
                    await self._keep()
        finally:
            self._ended.set()

    def restart(self, cause: RestartCause = "admin") -> None:
        """End the process gently and start it again at once, even if the worker has failed. What it runs ends with
        `worker_restarted`."""
        self._restart_cause = cause
        self.status.attempts = 0
        self._crashes.reset()
        if self.status.state == "failed":
            self.status.state, self.status.detail = "offline", ""
        if self.connection is not None:
            self.connection.end(RESTARTED)
        else:
            self._lost()
        if self._attempt is not None:
            self._attempt.cancel()

    def remove(self, failure: Failed) -> None:
        """End the worker and what it runs, with this failure. The listener hears of it no more."""
        self._removed = True
        if self.connection is not None:
            self.connection.interrupt(failure)
        if self._lifetime is not None:
            self._lifetime.cancel()

    async def wait_ended(self) -> None:
        """Return once `run` has ended, and the process with it."""
        await self._ended.wait()

    async def _keep(self) -> None:
        """Start the worker again whenever it ends. Whatever goes wrong is logged and leaves the other workers alone."""
        status = self.status
        while True:
            with anyio.CancelScope() as self._attempt:
                self._crashes.started()
                cause = await self._run_until_end()
                # Only the first start belongs to the request that added the worker.
                spans.leave()
                if cause is None:
                    verdict = self._crashes.load_failed()
                else:
                    verdict = self._crashes.ended(cause, self._clock())
                kind = "load_failed" if cause is None else "hung" if cause.hung else "crash"
                self._count_end(str(cause or ""), kind)
                if verdict.given_up:
                    self._give_up(verdict.sentence)
                log.warning(
                    "worker %s ended (%s); it is restarted in %.1f s",
                    status.worker,
                    cause or "its model could not be loaded",
                    verdict.pause,
                )
                await anyio.sleep(verdict.pause)
            if self._attempt.cancelled_caught:
                spans.leave()
                reason = RESTART_REASONS[self._restart_cause]
                self._count_end(f"it was restarted {reason}", self._restart_cause)
                log.info("worker %s is restarted %s", status.worker, reason)

    def _count_end(self, reason: str, cause: str) -> None:
        self.status.ended = reason
        self.status.restarts += 1
        telemetry.metrics().worker_restarted(self.status.worker, self.status.label, cause)
        self._listener.worker_changed()

    def _give_up(self, sentence: str) -> None:
        """Requests no longer wait for this worker, which is tried again all the same."""
        if not self._removed:
            self.status.state, self.status.detail = "failed", sentence
            log.error("%s", sentence)
            self._listener.worker_down(self.status)
            self._listener.worker_changed()

    async def _run_until_end(self) -> Cause | None:
        """As `_run_once`; an exception becomes the cause of the end."""
        try:
            return await self._run_once()
        except Exception as error:
            if not isinstance(error, Problem):
                log.exception("worker %s could not be run", self.status.worker)
            self._lost()
            return Cause(
                reason=str(error) if isinstance(error, Problem) else f"{type(error).__name__}: {error}"
            )

    async def _run_once(self) -> Cause | None:
        """Run the process from start to end. Gives how it ended, None if it could not load its model."""
        status = self.status
        status.attempts += 1
        kills = out_of_memory_kills()
        async with process.started(self.load_spec, self._secret, self._port, self._log_settings) as worker:
            status.port, status.process = worker.port, worker.process.pid
            if status.state != "failed":
                status.state, status.detail = "loading", ""
            with anyio.CancelScope() as serving:
                transport = LocalTransport(
                    worker.address, self._secret, lambda: waits_for_disk(worker.process.pid)
                )
                self.connection = connection = WorkerConnection(
                    transport,
                    on_report=lambda report: self._report(report, serving),
                    on_lost=self._lost,
                    # A connected server has time limits of its own.
                    stall_limit=None if self.load_spec.engine == "remote" else self._stall_limit,
                )
                self._listener.worker_changed()
                await connection.run()
        if serving.cancelled_caught:
            return None
        if connection.hung:
            return Cause(reason=connection.hung, hung=True)
        return Cause(worker.process.returncode, out_of_memory_kills() > kills, worker.log.last_line)

    def _report(self, report: Report, serving: anyio.CancelScope) -> None:
        if self._removed:
            return
        status = self.status
        status.last_report = time.time()
        # A worker that has failed stays so in the status until it is ready: a new attempt's "loading" is no news.
        if report.state == "loading" and status.state == "failed":
            return
        was_ready, status.state, status.detail = status.state == "ready", report.state, report.detail
        status.progress = report.progress
        if report.card is not None:
            status.card = report.card
        if report.speech is not None:
            status.speech = report.speech
        if report.state == "ready" and report.card is not None and not was_ready:
            status.attempts = 0
            status.ready_at = self._clock()
            self._crashes.ready(status.ready_at)
            self._listener.worker_ready(status, report.card.slots)
        elif report.state == "failed":
            log.error("worker %s cannot serve: %s", status.worker, report.detail)
            self._listener.worker_down(status)
            # The process may hold half a model. The next attempt starts with a clean one.
            serving.cancel()
        self._listener.worker_changed()

    def _lost(self) -> None:
        """The worker is lost, perhaps before its process has ended. From here on none of its slots may be granted."""
        self.connection = None
        status = self.status
        status.process, status.progress = 0, None
        if self._removed:
            return
        if status.state != "failed":
            status.state = "offline"
        self._listener.worker_down(status)
        self._listener.worker_changed()
