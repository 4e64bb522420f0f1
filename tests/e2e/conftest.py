"""Real servers for the tests: the gateway's and the workers' own processes, over real sockets."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from tests.support.ports import free_port

READY_SECONDS = 60.0


class Server:
    """A running `duologue serve`. Its output is gathered as it comes, so that it never blocks on a full pipe."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self.port = int(environment.get("DUOLOGUE_PORT", 0)) or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.data = folder / "data"
        self.lines: list[str] = []
        self._news = threading.Condition()
        clean = {key: value for key, value in os.environ.items() if not key.startswith("DUOLOGUE_")}
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "duologue",
                "serve",
                "--port",
                str(self.port),
                "--data",
                str(self.data),
                *list(arguments),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
            # A voice takes a second of a core to load, and `process` is to be the gateway: those who need a voice or the
            # parent that watches the gateway say so.
            env=clean | {"DUOLOGUE_VOICE__ENABLED": "false", "DUOLOGUE_SUPERVISE": "false"} | environment,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.lines.append(line.rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self._news.notify_all()

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    def wait_for(self, pattern: str, count: int = 1, seconds: float = READY_SECONDS) -> str:
        """The `count`th line that matches, waiting for it; fails with the whole output when it never comes."""

        def found() -> list[str]:
            return [line for line in self.lines if re.search(pattern, line)]

        with self._news:
            met = self._news.wait_for(
                lambda: len(found()) >= count or self.process.poll() is not None, seconds
            )
        assert met, f"no line {count} like {pattern!r} in time:\n{self.output}"
        assert len(found()) >= count, f"no line {count} like {pattern!r} in:\n{self.output}"
        return found()[count - 1]

    def ready(self) -> Server:
        self.wait_for("Duologue is ready")
        return self

    def status(self) -> dict[str, object]:
        answer: dict[str, object] = httpx.get(f"{self.url}/status", timeout=60).json()
        return answer

    def worker(self) -> dict[str, object]:
        """The first worker's row."""
        row: dict[str, object] = httpx.get(f"{self.url}/workers", timeout=60).json()["workers"][0]
        return row

    def delete_chats(self) -> None:
        """Leave nothing in the list of chats."""
        with httpx.Client(base_url=self.url, timeout=60) as client:
            while rows := client.get("/api/conversations").json()["conversations"]:
                for row in rows:
                    client.delete(f"/api/conversations/{row['id']}").raise_for_status()

    def until(self, true: Callable[[], bool], seconds: float = 60.0) -> None:
        """Look again until it is true."""
        import time

        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, "it never became true"
            time.sleep(0.01)

    def stop(self, how: int = signal.SIGTERM) -> int:
        """End it; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        self._reader.join(5)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Start servers with these arguments and environment; each is ended with the test."""
    numbers = itertools.count()
    with contextlib.ExitStack() as stack:

        def start(*arguments: str, **environment: str) -> Server:
            folder = tmp_path / f"server{next(numbers)}"
            folder.mkdir()
            server = Server(folder, *arguments, **environment)
            stack.callback(server.stop)
            return server

        yield start


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """Start servers that every test of a file shares."""
    with contextlib.ExitStack() as stack:

        def start(*arguments: str, **environment: str) -> Server:
            server = Server(tmp_path_factory.mktemp("server"), *arguments, **environment)
            stack.callback(server.stop)
            return server

        yield start


@pytest.fixture(scope="session")
def server(shared_server: Server) -> Server:
    """The server that a test talks to. Files that need one of their own override this."""
    return shared_server


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server with the scripted engine for every test that only talks to it."""
    running = Server(tmp_path_factory.mktemp("server"), "--engine", "scripted")
    try:
        yield running.ready()
    finally:
        running.stop()


@pytest.fixture(scope="session")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server with the bundled model, as a stranger starts it."""
    running = Server(tmp_path_factory.mktemp("bundled"), DUOLOGUE_SUPERVISE="true")
    try:
        yield running.ready()
    finally:
        running.stop()
