"""The server under attack: started with keys, an admin and two users, small limits, and a folder of its own.

`serving` gives a running `Server`. Another checkout's server is started with its interpreter (`--python`), to compare.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from time import monotonic

from tests.support.ports import free_port

from attack import processes
from attack.exchange import NoAnswer, ask
from attack.processes import Held, Process, family

READY_SECONDS = 90.0
END_SECONDS = 10.0
ADDRESS_SPACE = 6 * 2**30
"""Bytes for each process of the server, so that a server without bounds cannot take the machine with it."""
PEOPLE = ("root", "alice", "mallory", "trudy", "eve")
"""The admin, the user who must not notice anything, and the attackers."""
ATTACKERS = PEOPLE[2:]
TRACE = re.compile(
    r"Traceback|exception was never retrieved|was never awaited|Task was destroyed|panicked at"
)


class Server:
    """One running server. `keys` by the names of PEOPLE."""

    def __init__(
        self,
        folder: Path,
        python: str,
        arguments: Sequence[str],
        files: int | None,
        people: Sequence[str] = PEOPLE,
    ) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.port = free_port()
        self.log = folder / "log"
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.keys = {name: self._make_key(python, name) for name in people}
        command = [python, "-m", "duologue", "serve", "--port", str(self.port), "--data", str(self.data)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, "--log-level", "warning", *arguments],
                stdout=log,
                stderr=log,
                cwd=folder,
                env=self._environment(),
                preexec_fn=lambda: _limit(files),
            )

    def _environment(self) -> dict[str, str]:
        clean = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("DUOLOGUE_") and key != "PYTHONPATH"
        }
        return clean | {"TMPDIR": str(self.temporary)}

    def _make_key(self, python: str, name: str) -> str:
        command = [python, "-m", "duologue", "key", "add", name, "--data", str(self.data)]
        command += ["--admin"] if name == "root" else []
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=True, env=self._environment()
        )
        return done.stdout.strip()

    async def ready(self) -> None:
        """Wait until it answers chats. Raises SystemExit with the log if it does not."""
        end = monotonic() + READY_SECONDS
        while monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(NoAnswer):
                if (await ask(self.port, "GET", "/ready", seconds=2)).status == 200:
                    return
            await asyncio.sleep(0.05)
        raise SystemExit("the server did not become ready:\n" + self.logged()[-3000:])

    def gateway(self) -> Process | None:
        return processes.listener(self.process.pid, self.port)

    async def workers(self) -> set[int]:
        """The process ids of its workers, as it says itself."""
        answer = await ask(self.port, "GET", "/workers", key=self.keys["root"])
        rows = (answer.json() or {}).get("workers", [])
        return {int(row["process"]) for row in rows if row.get("process")}

    async def worker_restarts(self) -> int:
        answer = await ask(self.port, "GET", "/metrics", key=self.keys["root"])
        lines = answer.body.decode().splitlines()
        return sum(
            int(float(line.rpartition(" ")[2]))
            for line in lines
            if line.startswith("duologue_worker_restarts_total")
        )

    async def is_idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        answer = await ask(self.port, "GET", "/status", key=self.keys["root"])
        status = answer.json() or {}
        return not (status.get("slots_busy") or status.get("seats_busy") or status.get("queue_length"))

    async def rest(self, seconds: float = 40.0) -> bool:
        """Wait until it is idle; whether it became so in time."""
        end = monotonic() + seconds
        while monotonic() < end:
            with contextlib.suppress(NoAnswer):
                if await self.is_idle():
                    return True
            await asyncio.sleep(0.1)
        return False

    def held(self) -> Held:
        return processes.held(self.process.pid)

    def left_files(self) -> list[str]:
        """Temporary files, and uploads that were begun and never ended."""
        found = [path for path in self.temporary.rglob("*") if path.is_file()]
        found += [path for path in self.data.rglob("incoming/*") if path.is_file()]
        return sorted(str(path.relative_to(self.folder)) for path in found)

    def logged(self) -> str:
        return self.log.read_text(errors="replace")

    def traces(self) -> int:
        return len(TRACE.findall(self.logged()))

    def trace_excerpts(self, most: int = 3, lines: int = 40) -> str:
        """The first traces of the log with what follows them."""
        logged = self.logged().splitlines()
        places = [number for number, line in enumerate(logged) if TRACE.search(line)][:most]
        return "\n---\n".join("\n".join(logged[max(0, at - 2) : at + lines]) for at in places)

    def end(self) -> int | None:
        """End it by SIGTERM, then by force; its exit code, None if it had to be killed."""
        members = family(self.process.pid)
        try:
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
            return self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            return None
        finally:
            for process in members:
                now = processes.read(process.pid)
                if now is not None and now.started == process.started:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process.pid, signal.SIGKILL)
            self.process.wait()


def _limit(files: int | None) -> None:
    """In the child, before it becomes the server."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if files is not None:
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))


@contextlib.asynccontextmanager
async def serving(
    *arguments: str,
    python: str = sys.executable,
    files: int | None = None,
    settings: str = "",
    people: Sequence[str] = PEOPLE,
) -> AsyncIterator[Server]:
    """A ready server in a folder of its own, ended afterwards. `files`: how many it may open before it asks for more;
    `settings`: the text of its settings file."""
    with tempfile.TemporaryDirectory(prefix="attack-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "duologue.yaml").write_text(settings)
        server = Server(folder, python, arguments, files, people)
        try:
            await server.ready()
            yield server
        finally:
            server.end()
