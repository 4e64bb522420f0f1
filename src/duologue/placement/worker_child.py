"""The process of a placed worker, as a child of the actor that holds its place. Knows nothing of Ray.

The actor has a thread for each method: `start` and `watch` come from the placement process, `stop` when the place is given up. The child's
standard input is a pipe whose other end is held here, so that it closes when the actor dies, however it dies, and the child ends.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Mapping

from duologue import process_limits

PROGRAM = "duologue.worker.joined"
STOP_GRACE = 3.0
"""Seconds between SIGTERM and SIGKILL."""
LOOK = 0.5
"""Seconds between two looks whether the child lives: its own children may hold the pipe of its log."""
READ, LINE = 65536, 4096
"""Bytes of one read of the log, and the most of its last line that is kept."""
OWN = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
"""Variables of the actor that are not for the worker: it runs models, and needs no access to the cluster."""


class WorkerChild:
    """`environment`: of the worker, added to that of this process; `command`: what is run, for tests."""

    def __init__(
        self,
        environment: Mapping[str, str],
        python: str = "",
        command: tuple[str, ...] = ("-P", "-m", PROGRAM),
    ) -> None:
        inherited = {name: value for name, value in os.environ.items() if name not in OWN}
        self._environment = {**inherited, **environment}
        self._command = [python or sys.executable, *command]
        self._process: subprocess.Popen[bytes] | None = None
        self._pending = self._last = b""

    def start(self) -> int:
        """Start the child unless it runs. Gives its process id. Raises OSError."""
        if self._process is None:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=None,
                stderr=subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
            )
            process_limits.set_oom_score(self._process.pid, process_limits.WORKER)
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def watch(self) -> tuple[int, str]:
        """Pass its log on until it ends. Gives its exit code and the last line of its log."""
        process = self._process
        assert process is not None, "it is watched after it was started"
        assert process.stderr is not None
        descriptor = process.stderr.fileno()
        while True:
            if select.select([descriptor], [], [], LOOK)[0]:
                if not self._read(descriptor):
                    break
            elif process.poll() is not None:
                break
        return process.wait(), self._last.decode(errors="replace")

    def stop(self) -> None:
        """End the child and wait for its end."""
        if (process := self._process) is None:
            return
        process.terminate()
        try:
            process.wait(STOP_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _read(self, descriptor: int) -> bool:
        """Pass on what there is to read; False at the end."""
        text = os.read(descriptor, READ)
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, text)
        *lines, self._pending = (self._pending + text).split(b"\n")
        self._pending = self._pending[-LINE:]
        # What was cut off is a line too, once there is no more.
        for line in (*lines, *(() if text else (self._pending,))):
            if line.strip():
                self._last = line.strip()[:LINE]
        return bool(text)
