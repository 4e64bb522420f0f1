"""The servers the callers call, and the processes behind them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any

from load import free_port, wait_ready

ARGUMENTS: dict[str, list[str]] = {"bundled": [], "scripted": ["--engine", "scripted"]}
"""The flags of each kind of server: duologue-mini, or the engine that answers by script."""
VOICE_SECONDS = 90.0
HEARS_ESPEAK = {
    "DUOLOGUE_VOICE__RECOGNISER__OPTIONS": json.dumps(
        {"adaptation": str(Path(__file__).parents[1] / "recogniser" / "synthetic")}
    )
}
"""The callers are made of espeak, of which the recogniser as it comes understands little."""
HEARS_PEOPLE = {"DUOLOGUE_VOICE__RECOGNISER__OPTIONS": "{}"}
"""The recogniser as it comes."""
Json = dict[str, Any]


class Server:
    """A running server of this checkout, whose voice is ready."""

    def __init__(self, port: int, process: subprocess.Popen[bytes], log: Path) -> None:
        self.port, self.process, self.log = port, process, log
        self.url = f"http://127.0.0.1:{port}"

    def get(self, path: str) -> Json:
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            body: Json = json.load(answer)
            return body

    def figure(self, name: str) -> float:
        """One plain figure of `/metrics`."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=10) as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith(name + " "):
                    return float(line.rpartition(" ")[2])
        raise SystemExit(f"the server has no figure {name}")

    def processes(self) -> list[int]:
        """The gateway's process id, those of its workers, and of what they started."""
        return family(self.process.pid)

    def voice_worker(self) -> int:
        """The process id of the voice worker: the child whose loadout says so."""
        for process in self.processes()[1:]:
            try:
                environment = Path(f"/proc/{process}/environ").read_bytes()
            except OSError:
                continue
            if b'"engine":"voice"' in environment.replace(b'": "', b'":"'):
                return process
        raise SystemExit("there is no voice worker")


def family(process: int) -> list[int]:
    """A process, its children, theirs, and so on."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(status.parent.name))
    found = [process]
    for member in found:
        found += children.get(member, [])
    return found


def memory(process: int) -> int:
    """Resident bytes of a process."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def processor_seconds(process: int) -> float:
    """What it took so far, with its children that have ended."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def family_seconds(process: int) -> float:
    """What it and all its descendants took so far."""
    total = 0.0
    for member in reversed(family(process)):  # the parent last: it has what a child took that ends meanwhile
        with suppress(OSError):
            total += processor_seconds(member)
    return total


def machine_load() -> str:
    """How busy the machine is, and whether a figure taken now means anything."""
    one = os.getloadavg()[0]
    return f"load {one:.1f} on {os.cpu_count()} cores" + (
        " (BUSY)" if one > 0.6 * (os.cpu_count() or 1) else ""
    )


@contextmanager
def serving(kind: str, *arguments: str, **environment: str) -> Iterator[Server]:
    """A server of this kind, until the context ends."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        clean = {key: value for key, value in os.environ.items() if not key.startswith("DUOLOGUE_")}
        command = [sys.executable, "-m", "duologue", "serve", "--port", str(port), "--data", folder]
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*command, *ARGUMENTS[kind], *arguments],
                stdout=out,
                stderr=out,
                cwd=folder,
                env=clean | HEARS_ESPEAK | environment,
            )
        try:
            wait_ready(f"http://127.0.0.1:{port}/ready", process)
            server = Server(port, process, log)
            _wait_for_voice(server)
            yield server
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for_voice(server: Server) -> None:
    """Until a call is greeted aloud: the voice's engines load behind the model."""
    from websockets.sync.client import connect

    end = monotonic() + VOICE_SECONDS
    with connect(f"ws://127.0.0.1:{server.port}/ws/voice", proxy=None) as socket:
        socket.send(json.dumps({"type": "start", "greeting": "Hello.", "video": "off"}))
        while monotonic() < end:
            try:
                frame = socket.recv(max(0.1, end - monotonic()))
            except TimeoutError:
                break
            if isinstance(frame, bytes):
                return
            if '"error"' in frame:
                raise SystemExit(f"the server has no voice: {frame}")
    raise SystemExit(f"there is no voice after {VOICE_SECONDS:.0f} s:\n{server.log.read_text()[-3000:]}")
