"""Decoder jobs that behave badly, and the fixture with which decoder processes find them: `test_jobs`."""

from __future__ import annotations

import ctypes
import io
import os
import signal
import socket
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from duologue.decoder import service
from duologue.decoder.job import decoder_job
from duologue.errors import TooLarge

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def test_jobs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Decoder processes find the jobs of this file."""
    service.close()
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    yield
    service.close()


class Measured(Struct, frozen=True):
    """A result with a type of its own."""

    size: int
    word: str


@decoder_job()
def measure(data: bytes, word: str) -> Measured:
    return Measured(len(data), word)


@decoder_job()
def refuse(data: bytes) -> int:
    raise TooLarge("Too much of it.", code="image_too_large", param="file")


@decoder_job()
def break_down(data: bytes) -> int:
    raise KeyError("a bug in a parser")


@decoder_job()
def crash(data: bytes) -> int:
    return ctypes.string_at(0)[0]


@decoder_job()
def abort(data: bytes) -> int:
    os.abort()


@decoder_job(cpu_seconds=1)
def spin(data: bytes) -> int:
    while True:
        pass


@decoder_job(seconds=0.5)
def stall(data: bytes) -> int:
    while True:
        time.sleep(60)


@decoder_job(memory_mb=128)
def swell(data: bytes) -> int:
    kept = [data]
    while True:
        kept.append(bytes(2**24))


@decoder_job(result_mb=1)
def shout(data: bytes) -> bytes:
    return bytes(2**21)


@decoder_job()
def write_a_file(data: bytes, path: str) -> int:
    return Path(path).write_bytes(data)


@decoder_job()
def count(data: bytes, end: int) -> Iterator[int]:
    yield from range(end)


@decoder_job()
def count_and_crash(data: bytes, end: int) -> Iterator[int]:
    yield from range(end)
    os.kill(os.getpid(), signal.SIGSEGV)


@decoder_job()
def leave_early(data: bytes) -> Iterator[int]:
    yield from ()


@decoder_job()
def own_process(data: bytes) -> Iterator[int]:
    yield os.getpid()
    while True:
        time.sleep(60)


@decoder_job()
def read_a_file(data: bytes, path: str) -> str:
    """Its text, or the reason that it has none."""
    try:
        return Path(path).read_text()
    except OSError as error:
        return type(error).__name__


@decoder_job()
def connect(data: bytes, port: int) -> str:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError as error:
        return type(error).__name__
    return "connected"


@decoder_job(memory_mb=100)
def unpack_without_checks(data: bytes) -> Iterator[int]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        yield from (len(archive.read(name)) for name in archive.namelist())


def not_a_job(data: bytes) -> int:
    return len(data)


@decoder_job()
def wait_for_the_second_time(data: bytes) -> str:
    """Ends once the fork server was started in an environment with SECOND_TIME."""
    if "SECOND_TIME" not in os.environ:
        time.sleep(60)
    return "done"


@decoder_job()
def be_killed(data: bytes) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


@decoder_job(memory_mb=128)
def swell_and_abort(data: bytes) -> int:
    """As libraries do that cannot go on without memory."""
    kept = bytearray(2**20)
    try:
        while True:
            kept += bytes(2**22)
    except MemoryError:
        os.abort()


@decoder_job()
def lie(data: bytes) -> int:
    return "no number"  # type: ignore[return-value]
