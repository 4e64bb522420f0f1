"""The MCP servers from npm that the tests talk to, installed once into build/, exactly as the lock file says."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest
from tests.support.ports import free_port

HERE = Path(__file__).resolve().parent
PLACE = HERE.parents[2] / "build" / "mcp-servers"
LOCK = "package-lock.json"
FILES = ("package.json", LOCK)
SECONDS = 180


def script(name: str) -> Path:
    """The entry of the server `name` ("everything", "filesystem", "memory"). Skips the test where it cannot be had."""
    if shutil.which("node") is None:
        pytest.skip("this machine has no Node.js, which the MCP servers from npm need")
    entry = PLACE / "node_modules" / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js"
    if not entry.is_file() or _read(PLACE / LOCK) != (HERE / LOCK).read_bytes():
        _install()
    if not entry.is_file():
        pytest.skip("the MCP servers from npm could not be installed: no npm, or no registry that answers")
    return entry


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _install() -> None:
    npm = shutil.which("npm")
    if npm is None:
        return
    PLACE.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        shutil.copyfile(HERE / file, PLACE / file)
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        done = subprocess.run(command, cwd=PLACE, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        done = None
    if done is None or done.returncode:
        # Half an installation must not pass for one next time.
        (PLACE / LOCK).unlink(missing_ok=True)


@contextmanager
def listening(command: list[str], port: int = 0, **environment: str) -> Iterator[int]:
    """A server of its own process that listens on a loopback port, told to it as PORT; the port, while it lives."""
    port = port or free_port()
    process = subprocess.Popen(
        command,
        env=os.environ | environment | {"PORT": str(port)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(process, port)
        yield port
    finally:
        process.kill()
        process.wait()


def _wait_for(process: subprocess.Popen[bytes], port: int) -> None:
    until = monotonic() + 30
    while process.poll() is None and monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        sleep(0.02)
    pytest.fail("the server did not begin to listen")


def everything(kind: str, port: int = 0) -> AbstractContextManager[int]:
    """The reference server over "streamableHttp" or "sse"."""
    return listening(["node", str(script("everything")), kind], port)


def ours(name: str, *arguments: str) -> list[str]:
    """The command of a server that stands beside this file."""
    return [sys.executable, str(HERE / f"{name}.py"), *arguments]
