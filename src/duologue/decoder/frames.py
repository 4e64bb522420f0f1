"""The messages between the gateway, the fork server and a child, and their bytes on a socket. Pure.

To the child: one request, then the bytes of the file unless it reads them from disk itself. From the child: frames of
one byte for the kind, four for the length, and a body. `ITEM` has a result in msgpack, `FAILURE` a `JobFailure`, `END`
nothing. A child that ends without `END` or `FAILURE` was killed or has crashed; the fork server tells how.
"""

from __future__ import annotations

import struct
import traceback
from pathlib import Path

import msgspec
from msgspec import Struct

from duologue import errors
from duologue.errors import Problem

ITEM, FAILURE, END = b"I", b"F", b"E"
HEADER = struct.Struct(">cI")
LENGTH = struct.Struct(">I")
STATUS = struct.Struct(">iIf")
"""How a child ended: its exit code or minus the signal, its largest memory in MB, its processor seconds."""


class JobRequest(Struct, frozen=True):
    """One job. The file is at `path`, or its `size` bytes follow. `arguments` are msgpack."""

    job: str
    arguments: bytes
    size: int = 0
    path: str = ""


class Ending(Struct, frozen=True):
    """How a child ended. `status`: its exit code, or minus the signal. `peak_mb`: the most memory it had."""

    status: int
    peak_mb: int
    cpu_seconds: float


class JobFailure(Struct, frozen=True):
    """What a job raised. `kind` is the class of a Problem; "memory" and "error" are anything else."""

    kind: str
    message: str = ""
    code: str = ""
    status: int = 500
    param: str | None = None


def failure_of(error: BaseException) -> JobFailure:
    """An exception as it is sent."""
    if isinstance(error, Problem):
        return JobFailure(type(error).__name__, error.message, error.code, error.status, error.param)
    if isinstance(error, MemoryError):
        return JobFailure("memory")
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return JobFailure("error", f"{type(error).__name__}: {error}"[:500] + where)


def problem_of(failure: JobFailure) -> Problem | None:
    """The Problem that a job raised; None when it raised anything else."""
    kind = getattr(errors, failure.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, Problem)):
        return None
    return kind(failure.message, code=failure.code, status=failure.status, param=failure.param)


def pack_request(request: JobRequest) -> bytes:
    body = msgspec.msgpack.encode(request)
    return LENGTH.pack(len(body)) + body


def pack_frame(kind: bytes, body: bytes = b"") -> bytes:
    return HEADER.pack(kind, len(body)) + body
