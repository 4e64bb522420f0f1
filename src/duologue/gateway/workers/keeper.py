"""Keeps one worker running: starts its process, connects to it, and starts it again whenever it ends.

Owns the status of the worker and the pauses between starts. The pool has one keeper for each worker and hears through `Listener`
when the worker's slots come and go.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Protocol

import anyio

from duologue import telemetry
from duologue.errors import Problem
from duologue.gateway.workers import process
from duologue.gateway.workers.connection import WorkerConnection
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.supervisor import restart_policy
from duologue.tracing import spans
from duologue.values.events import RESTARTED, Failed
from duologue.wire.worker_protocol import LoadSpec, Report

log = logging.getLogger(__name__)


class Listener(Protocol):
    """What a keeper reports to. No method may wait."""

    def worker_ready(self, status: WorkerStatus, slots: int) -> None:
        """The worker has loaded its model; all its slots are free."""

    def worker_down(self, status: WorkerStatus) -> None:
        """The worker's slots are gone. `status.state` says whether to wait for it: "offline" or "failed"."""

    def worker_changed(self) -> None:
        """Anything that status pages show has changed."""


class WorkerKeeper:
    """One worker, from when it is added to when it is removed. `log_settings`: level and format of its log."""

    def __init__(
        self,
        load_spec: LoadSpec,
        listener: Listener,
        *,
        port: int,
        secret: str,
        log_settings: tuple[str, str],
        clock: Callable[[], float],
    ) -> None:
        self.load_spec = load_spec
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

    def restart(self) -> None:
        """End the process gently and start it again at once, even if the worker has failed. What it runs ends with
        `worker_restarted`."""
        self.status.attempts = 0
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
        quick_ends = 0
        while True:
            with anyio.CancelScope() as self._attempt:
                start = self._clock()
                reason = await self._run_until_end()
                # Only the first start belongs to the request that added the worker.
                spans.leave()
                quick_ends = 1 if self._clock() - start > process.STEADY else quick_ends + 1
                pause = restart_policy.backoff(quick_ends) if reason else process.retry(status.attempts)
                self._count_end(reason, "crash" if reason else "load_failed")
                log.warning(
                    "worker %s ended (%s); it is restarted in %.1f s",
                    status.worker,
                    reason or "its model could not be loaded",
                    pause,
                )
                await anyio.sleep(pause)
            if self._attempt.cancelled_caught:
                quick_ends = 0
                spans.leave()
                self._count_end("it was restarted by an admin", "admin")
                log.info("worker %s is restarted, as an admin requested", status.worker)

    def _count_end(self, reason: str, cause: str) -> None:
        self.status.ended = reason
        self.status.restarts += 1
        telemetry.metrics().worker_restarted(self.status.worker, self.status.label, cause)
        self._listener.worker_changed()

    async def _run_until_end(self) -> str:
        """As `_run_once`; an exception becomes the reason of the end."""
        try:
            return await self._run_once()
        except Exception as error:
            if not isinstance(error, Problem):
                log.exception("worker %s could not be run", self.status.worker)
            self._lost()
            return str(error) if isinstance(error, Problem) else f"{type(error).__name__}: {error}"

    async def _run_once(self) -> str:
        """Run the process from start to end. Gives how it ended, "" if it could not load its model."""
        status = self.status
        status.attempts += 1
        async with process.started(self.load_spec, self._secret, self._port, self._log_settings) as worker:
            status.port, status.process = worker.port, worker.process.pid
            if status.state != "failed":
                status.state, status.detail = "loading", ""
            with anyio.CancelScope() as serving:
                self.connection = WorkerConnection(
                    worker.address,
                    self._secret,
                    on_report=lambda report: self._report(report, serving),
                    on_lost=self._lost,
                )
                self._listener.worker_changed()
                await self.connection.run()
        return "" if serving.cancelled_caught else restart_policy.ending(worker.process.returncode)

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
        if status.state != "failed" and status.attempts >= process.GIVE_UP:
            status.state = "failed"
            status.detail = (
                f"The worker of {status.model} ended {status.attempts} times before it was ready. The server's log "
                "says why. It is tried again, up to half a minute apart."
            )
            log.error("%s", status.detail)
        if status.state != "failed":
            status.state = "offline"
        self._listener.worker_down(status)
        self._listener.worker_changed()
