"""Real servers for the tests: the gateway's and the workers' own processes, over real sockets."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from tests.support.gateway_fork_server import ForkedProcess, fork_gateway
from tests.support.ports import free_port
from tests.support.store_fixtures import drop_schema, make_schema

READY_SECONDS = 60.0
PATIENCE = httpx.Timeout(60.0)
"""What a client waits for by default: on a busy machine an answer that takes a second of a core, such as `/openapi.json`, takes five,
which is all that httpx waits."""


@pytest.fixture(scope="package", autouse=True)
def _patient_clients() -> Iterator[None]:
    """Clients of these tests wait for a busy machine, unless a test says how long. They share what httpx would make for each of
    them: reading the machine's certificates takes 40 ms of a core, and every `httpx.get` is a client."""
    clients = {"timeout": PATIENCE, "verify": httpx.create_ssl_context()}
    calls: list[Any] = [
        httpx.request,
        httpx.get,
        httpx.head,
        httpx.post,
        httpx.put,
        httpx.patch,
        httpx.delete,
    ]
    # `stream` is a context manager around its function.
    calls += [vars(httpx.stream)["__wrapped__"], httpx.Client.__init__, httpx.AsyncClient.__init__]
    defaults = [call.__kwdefaults__ for call in calls]
    before = [{name: default[name] for name in clients} for default in defaults]
    for default in defaults:
        default.update(clients)
    yield
    for default, former in zip(defaults, before, strict=True):
        default.update(former)


def _can_be_forked(environment: Mapping[str, str]) -> bool:
    """Whether a gateway with this environment is the same if its imports were done before: no other sources or interpreter,
    and no parent that starts it itself."""
    return environment["DUOLOGUE_SUPERVISE"] == "false" and not any(
        name.startswith("PYTHON") for name in environment
    )


class Server:
    """A running `duologue serve`. Its output is gathered as it comes, so that it never blocks on a full pipe."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self.port = int(environment.get("DUOLOGUE_PORT", 0)) or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.data = folder / "data"
        self.lines: list[str] = []
        self._news = threading.Condition()
        self._told = False
        # Tests end servers with replies under way: those that are about the drain say how long it may take.
        # A voice takes a second of a core to load, and `process` is to be the gateway: those who need a voice or the parent
        # that watches the gateway say so.
        defaults = {"VOICE__ENABLED": "false", "SUPERVISE": "false", "LIFECYCLE__DRAIN_S": "0"}
        environment = {f"DUOLOGUE_{name}": value for name, value in defaults.items()} | environment
        clean = {key: value for key, value in os.environ.items() if not key.startswith("DUOLOGUE_")}
        command = ["serve", "--port", str(self.port), "--data", str(self.data), *arguments]
        self.process: subprocess.Popen[str] | ForkedProcess
        if _can_be_forked(environment):
            self.process = fork_gateway(command, folder, clean | environment)
        else:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "duologue", *command],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                cwd=folder,
                env=clean | environment,
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
        """Leave nothing in the list of chats, nor in the archive."""
        with httpx.Client(base_url=self.url, timeout=60) as client:
            for archived in ("false", "true"):
                while rows := client.get("/api/conversations", params={"archived": archived}).json()[
                    "conversations"
                ]:
                    for row in rows:
                        client.delete(f"/api/conversations/{row['id']}").raise_for_status()

    def forget(self) -> None:
        """Leave nothing that a test put there: no chat, no folder, no draft, no setting. Ids of chats stay taken."""
        self.delete_chats()
        with httpx.Client(base_url=self.url, timeout=60) as client:
            for folder in client.get("/api/folders").json()["folders"]:
                client.delete(f"/api/folders/{folder['id']}")
            client.delete("/api/drafts/new")
            client.patch(
                "/api/settings", json={"options": None, "page": None, "system": None}
            ).raise_for_status()

    def until(self, true: Callable[[], bool], seconds: float = 60.0) -> None:
        """Look again until it is true."""
        import time

        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, "it never became true"
            time.sleep(0.01)

    def tell_to_stop(self, how: int = signal.SIGTERM) -> None:
        """Send the signal; `stop` waits for the end."""
        if not self._told and self.process.poll() is None:
            self._told = True
            self.process.send_signal(how)

    def stop(self, how: int = signal.SIGTERM) -> int:
        """End it; its exit code."""
        self.tell_to_stop(how)
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        self._reader.join(5)
        # A worker that outlives a killed server holds the other end of the pipe, and closing waits for the reader: for ever, once.
        if self.process.stdout is not None and not self._reader.is_alive():
            self.process.stdout.close()
        return code


@pytest.fixture(scope="session")
def stopping() -> Iterator[list[Server]]:
    """Servers that were told to stop, and are waited for after the next test, or here."""
    servers: list[Server] = []
    yield servers
    for server in servers:
        server.stop()


@pytest.fixture
def serve(tmp_path: Path, stopping: list[Server]) -> Iterator[Callable[..., Server]]:
    """Start servers with these arguments and environment. They are told to stop after the test, and do so beside the next
    one."""
    servers: list[Server] = []

    def start(*arguments: str, **environment: str) -> Server:
        folder = tmp_path / f"server{len(servers)}"
        folder.mkdir()
        servers.append(Server(folder, *arguments, **environment))
        return servers[-1]

    try:
        yield start
    finally:
        former = stopping[:]
        stopping[:] = servers
        for server in servers:
            server.tell_to_stop()
        for server in former:
            server.stop()


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """Start servers that every test of a file shares."""
    with contextlib.ExitStack() as stack:

        def start(*arguments: str, **environment: str) -> Server:
            server = Server(tmp_path_factory.mktemp("server"), *arguments, **environment)
            stack.callback(server.stop)
            return server

        yield start


@pytest.fixture(scope="module")
def schema() -> Iterator[str]:
    """The address of an empty schema on PostgreSQL, for the gateways of a file."""
    name = f"servers_{uuid.uuid4().hex[:12]}"
    # In a thread of its own: where a browser runs, this one has an event loop already.
    with ThreadPoolExecutor(1) as thread:
        address = thread.submit(anyio.run, make_schema, name).result()
        yield address
        thread.submit(anyio.run, drop_schema, name).result()


@pytest.fixture(scope="module")
def start_gateway(schema: str, lasting: Callable[..., Server]) -> Callable[..., Server]:
    """Start one of several gateways of one database, with the scripted engine."""

    def start(*arguments: str, **environment: str) -> Server:
        port = free_port()
        return lasting(
            *("--engine", "scripted", *arguments),
            DUOLOGUE_PORT=str(port),
            DUOLOGUE_DATABASE=schema,
            DUOLOGUE_CLUSTER__ADDRESS=f"http://127.0.0.1:{port}",
            **environment,
        )

    return start


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
