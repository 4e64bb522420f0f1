"""The forms in which a worker can be had, for bench_machines.py: a child of the gateway, joined over TLS, placed by Ray."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from load import free_port

STARTING = 180.0
NOTHING: Mapping[str, str] = {}


class Form(NamedTuple):
    """A server whose worker is ready. `start`: seconds until it was; `gateway`: its process."""

    name: str
    port: int
    start: float
    gateway: int
    tls: ssl.SSLContext | None = None
    model: str = ""
    key: str = ""

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    @property
    def url(self) -> str:
        return f"{'http' if self.tls is None else 'https'}://127.0.0.1:{self.port}"

    def get(self, path: str) -> Any:
        request = urllib.request.Request(f"{self.url}{path}", headers=self.headers)
        with urllib.request.urlopen(request, timeout=30, context=self.tls) as answer:
            return json.load(answer)

    def body(self, text: str) -> dict[str, object]:
        model: dict[str, object] = {"model": self.model} if self.model else {}
        return {**model, "stream": True, "messages": [{"role": "user", "content": text}]}


def _clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("DUOLOGUE_", "RAY_"))}


def _trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = (
        False,
        ssl.CERT_NONE,
    )  # the load is measured, not the certificate
    return context


@contextmanager
def gateway(data: Path, *arguments: str, **environment: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    port = int(environment.pop("PORT", 0)) or free_port()
    command = [
        sys.executable,
        "-m",
        "duologue",
        "serve",
        "--port",
        str(port),
        "--data",
        str(data),
        "--no-supervise",
    ]
    process = subprocess.Popen(
        [*command, "--engine", "scripted", "--log-level", "warning", *arguments],
        stdout=subprocess.DEVNULL,
        cwd=data,
        env=_clean() | {"DUOLOGUE_LIFECYCLE__DRAIN_S": "0", "DUOLOGUE_VOICE__ENABLED": "false"} | environment,
    )
    try:
        yield port, process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_ready(form: Form, workers: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + STARTING
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"the server ended with {process.returncode}")
        with suppress(OSError, ValueError):
            rows = form.get("/workers")["workers"]
            ready = [row for row in rows if row["status"] == "idle" and form.model in ("", row.get("model"))]
            if len(ready) >= workers:
                return
        time.sleep(0.02)
    raise SystemExit(f"{form.name}: no worker was ready in {STARTING:.0f} s: {form.get('/workers')}")


@contextmanager
def one_machine(
    slots: int, *, copies: int = 1, tls: bool = False, environment: Mapping[str, str] = NOTHING
) -> Iterator[Form]:
    """Workers that the gateway starts itself."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        more = ["--tls"] if tls else []
        with gateway(Path(folder), "--slots", str(slots), "--copies", str(copies), *more, **environment) as (
            port,
            process,
        ):
            name = "one machine, TLS" if tls else "one machine"
            form = Form(name, port, 0.0, process.pid, _trusting() if tls else None)
            _wait_ready(form, copies, process)
            yield form._replace(start=time.perf_counter() - began)


@contextmanager
def joined(slots: int, *, tls: bool = True) -> Iterator[Form]:
    """A worker that dials the gateway, which has a small one of its own besides."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        # The first key is a person's, and from then on everybody needs one.
        own, key = _new_key(data, "bench"), _new_key(data, "box", "--role", "worker")
        more = ["--tls"] if tls else []
        with gateway(data, "--slots", "1", *more, DUOLOGUE_MACHINES__JOIN="true") as (port, process):
            name = "joined, TLS" if tls else "joined"
            form = Form(name, port, 0.0, process.pid, _trusting() if tls else None, key=own)
            _wait_ready(form, 1, process)
            began = time.perf_counter()
            spec = {"worker": "far", "engine": "scripted", "model": "far", "options": {"slots": slots}}
            told = {
                "DUOLOGUE_JOIN_URL": form.url,
                "DUOLOGUE_JOIN_KEY": key,
                "DUOLOGUE_WORKER_LOAD_SPEC": json.dumps(spec),
                "DUOLOGUE_WORKER_LOG": "warning:text",
            }
            if tls:
                from cryptography.hazmat.primitives.hashes import SHA256
                from cryptography.x509 import load_pem_x509_certificate

                with urllib.request.urlopen(f"{form.url}/ca.crt", context=form.tls) as answer:
                    told["DUOLOGUE_JOIN_FINGERPRINT"] = (
                        load_pem_x509_certificate(answer.read()).fingerprint(SHA256()).hex()
                    )
            worker = subprocess.Popen(
                [sys.executable, "-P", "-m", "duologue.worker.joined"],
                stdin=subprocess.PIPE,
                env=_clean() | told,
            )
            form = form._replace(model="far")
            try:
                _wait_ready(form, 1, process)
                yield form._replace(start=time.perf_counter() - began)
            finally:
                worker.kill()
                worker.wait()


def _new_key(data: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "duologue", "key", "add", *arguments, "--data", str(data)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=_clean()).stdout
    return next(word for word in said.split() if word.startswith("duo_"))


@contextmanager
def placed(
    slots: int,
    *,
    copies: int = 1,
    address: str = "",
    token: str = "",
    environment: Mapping[str, str] = NOTHING,
) -> Iterator[Form]:
    """Workers that Ray places: on a cluster that the server starts, or the one at this address."""
    where = {"PORT": str(free_port())}
    if address:
        where |= {
            "DUOLOGUE_RAY__ADDRESS": address,
            "DUOLOGUE_RAY__TOKEN_FILE": token,
            "DUOLOGUE_MACHINES__ADDRESS": f"http://127.0.0.1:{where['PORT']}",
        }
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        arguments = ["--slots", str(slots), "--copies", str(copies)]
        with gateway(Path(folder), *arguments, DUOLOGUE_POOL="ray", **where, **environment) as (
            port,
            process,
        ):
            form = Form("Ray", port, 0.0, process.pid)
            _wait_ready(form, copies, process)
            yield form._replace(start=time.perf_counter() - began)


def processes_below(process: int) -> list[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError, ValueError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    found, left = [process], [process]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def shared_memory_of(processes: list[int]) -> int:
    """Their memory in bytes, pages that several of them have counted once (PSS)."""
    total = 0
    for process in processes:
        with suppress(OSError):
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total
