"""Shared by the benchmarks: a running server, and clients that only read streams.

The client counts events in the raw bytes, so that the server is measured and not the client's parser.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def duologue(*arguments: str, **environment: str) -> Iterator[int]:
    """A running server of this checkout, ready; its port. At its end replies under way end at once, unless the environment says otherwise."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("DUOLOGUE_")}
    port = free_port()
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "-m", "duologue", "serve", "--port", str(port), "--data", data]
        process = subprocess.Popen(
            [*command, "--log-level", "warning", *arguments],
            stdout=subprocess.DEVNULL,
            cwd=data,
            env=clean | {"DUOLOGUE_LIFECYCLE__DRAIN_S": "0"} | environment,
        )
        try:
            wait_ready(f"http://127.0.0.1:{port}/ready", process)
            yield port
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(10)


def wait_ready(url: str, process: subprocess.Popen[bytes], seconds: float = 60.0) -> float:
    """Seconds until the address answered 200."""
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        if process.poll() is not None:
            raise SystemExit(f"the server ended with {process.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=1) as answer:
                if answer.status == 200:
                    return time.perf_counter() - began
        except OSError:
            time.sleep(0.005)
    raise SystemExit(f"{url} did not become ready")


async def stream(
    port: int, path: str, body: dict[str, object], tls: ssl.SSLContext | None = None
) -> tuple[float, float, int]:
    """POST `body` and read the answer to its end: (time of first event, time of last byte, events)."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20, ssl=tls)
    data = json.dumps(body).encode()
    writer.write(
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode()
        + data
    )
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n", 1)[0]:
        raise SystemExit(head.decode() + (await reader.read(2000)).decode())
    first, events, tail = 0.0, 0, b""
    while block := await reader.read(2**18):
        now = time.perf_counter()
        text = tail + block
        events += text.count(b"data: {")
        tail = text[-6:] if not text.endswith(b"data: {") else b""
        if not first and events:
            first = now
    writer.close()
    return first, time.perf_counter(), events


def root() -> Path:
    """The checkout."""
    return Path(__file__).resolve().parent.parent
