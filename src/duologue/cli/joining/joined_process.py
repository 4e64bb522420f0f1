"""The process of one joined worker: starts it, and again when it ends, until this is cancelled.

`join_command.py` has one for each worker of the machine; when it is started again `supervisor/crash_loop` decides. The worker's standard input
is a pipe held here, so that it dies with this process.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable

import anyio
import msgspec
from anyio.abc import Process
from msgspec import structs

from duologue.errors import StartFailed
from duologue.gateway.workers.interpreter import environment
from duologue.gateway.workers.process_facts import LogTail, out_of_memory_kills
from duologue.supervisor.crash_loop import Cause, CrashLoop, Verdict
from duologue.tracing.spans import TraceSettings
from duologue.worker.joined.exit_codes import DISMISSED, LOAD_FAILED, NOT_LET_IN, RESTART
from duologue.worker.joined.join_spec import JoinSpec

log = logging.getLogger(__name__)

GRACE = 15.0
"""Seconds beyond its drain that a worker has to end after SIGTERM."""


class JoinedProcess:
    """One worker. `log_settings`: level and format of its log; `tracing`: how it traces, None: not at all."""

    def __init__(
        self,
        spec: JoinSpec,
        log_settings: str,
        tracing: TraceSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.spec, self._log_settings, self._clock = spec, log_settings, clock
        self._tracing = tracing
        self._crashes = CrashLoop(spec.load_spec.model or spec.load_spec.worker)
        self._retry_s = spec.retry_s
        self.pid = 0
        """Of the running process; 0 before the first one."""

    async def keep(self) -> int:
        """Keep it running until cancelled; it may finish its work then. Returns the exit code by which it says that it must not be started
        again: NOT_LET_IN or DISMISSED."""
        while True:
            self._crashes.started()
            kills = out_of_memory_kills()
            try:
                code, last_line = await self._run_once()
                cause = Cause(code, out_of_memory_kills() > kills, last_line)
            except StartFailed as failure:
                # The cause may pass, such as too little memory or an environment that is being upgraded. The other workers continue.
                code, cause = None, Cause(reason=failure.message)
            if code in (NOT_LET_IN, DISMISSED):
                return code
            if code == RESTART:
                self._crashes.reset()
                continue
            if code == LOAD_FAILED:
                # It stayed joined for this long already, so that the gateway could say why.
                self._retry_s = self._crashes.load_failed().pause
                continue
            verdict = self._crashes.ended(cause, self._clock())
            self._tell(cause, verdict)
            await anyio.sleep(verdict.pause)

    def _tell(self, cause: Cause, verdict: Verdict) -> None:
        worker = self.spec.load_spec.worker
        log.warning("worker %s ended (%s); it is started again in %.1f s", worker, cause, verdict.pause)
        if verdict.given_up:
            log.error("%s", verdict.sentence)

    async def _run_once(self) -> tuple[int | None, str]:
        """Run the process from start to end. Gives its exit code, or the negative signal, and the last line of its log."""
        read_end, write_end = os.pipe()
        python = self.spec.load_spec.python
        spec = structs.replace(self.spec, state_fd=write_end, retry_s=self._retry_s)
        with LogTail() as tail:
            try:
                process = await anyio.open_process(
                    # -P: do not import from the current folder, where a file may shadow a library.
                    [python or sys.executable, "-P", "-m", "duologue.worker.joined"],
                    stdin=subprocess.PIPE,
                    stdout=None,
                    stderr=tail.write_end,
                    pass_fds=(write_end,),
                    # Ctrl-C goes to the whole process group of the terminal; this process stops its workers itself.
                    start_new_session=True,
                    env=environment(python)
                    | spec.environment()
                    | {"DUOLOGUE_WORKER_LOG": self._log_settings}
                    | self._tracing_variables(),
                )
            except OSError as error:
                os.close(read_end)
                raise StartFailed(
                    f"The worker {spec.load_spec.worker} cannot be started by {python or sys.executable}: {error.strerror or error}."
                ) from error
            finally:
                os.close(write_end)
            tail.close_write_end()
            self.pid = process.pid
            try:
                await self._watch(process, read_end)
            finally:
                os.close(read_end)
                with anyio.CancelScope(shield=True):
                    await _end(process, spec.drain_s + GRACE)
            return process.returncode, tail.last_line

    def _tracing_variables(self) -> dict[str, str]:
        """As those of a local worker. Its spans name the machine too: there may be workers of one name on several."""
        if self._tracing is None:
            return {}
        worker = f"{self.spec.machine}/{self.spec.load_spec.worker}"
        settings = structs.replace(self._tracing, process=worker)
        return {"DUOLOGUE_WORKER_TRACING": msgspec.json.encode(settings).decode()}

    async def _watch(self, process: Process, read_end: int) -> None:
        """Return once the process has ended; note meanwhile when it becomes ready."""

        async def listen() -> None:
            while True:
                await anyio.wait_readable(read_end)
                said = os.read(read_end, 4096)
                if not said:
                    return
                if b"ready" in said:
                    self._crashes.ready(self._clock())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await process.wait()
            tasks.cancel_scope.cancel()


async def _end(process: Process, patience: float) -> None:
    """Let a process finish its work, and kill it if it does not end."""
    if process.returncode is None:
        process.terminate()
        with anyio.move_on_after(patience):
            await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
    await process.aclose()
