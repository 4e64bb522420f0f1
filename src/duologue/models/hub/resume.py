"""Where a download goes on: from what is there of it, what is wanted, and what the server answers.

Pure. The contents are known by their checksum where the hub tells it; then the bytes there are good whatever the
server's ETag says, because the whole is checked in the end. Where there is no checksum only an unchanged strong ETag
says that the rest belongs to the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from duologue.errors import EngineFailed

CONTENT_RANGE = re.compile(r"^bytes (\d+)-(\d+)/(\d+)$")


class Stopped(Exception):
    """The caller stopped the download. The bytes that came stay on the disk, and the next try resumes from them.

    It stands here and not in `http.py` because the gateway catches it without loading an HTTP client.
    """


class Content(Struct, frozen=True):
    """Which bytes are meant. `size` 0 and texts "" where that is not known."""

    size: int = 0
    sha256: str = ""
    etag: str = ""


class Request(Struct, frozen=True):
    """How to ask: from byte `offset`, with these headers."""

    offset: int
    headers: dict[str, str]


class ResumedBody(Struct, frozen=True):
    """What the body of an answer is: bytes from `offset` on, of `size` in all."""

    offset: int
    size: int
    etag: str


def plan(there: int, remembered: Content | None, wanted: Content) -> Request:
    """How to ask when `there` bytes are on the disk, which are the beginning of `remembered`."""
    offset = there if remembered is not None and _same(remembered, wanted) else 0
    size = wanted.size or (remembered.size if remembered else 0)
    if size and offset > size:
        offset = 0
    if offset == 0:
        return Request(0, {})
    headers = {"Range": f"bytes={offset}-"}
    if not wanted.sha256 and remembered is not None:
        headers["If-Range"] = remembered.etag
    return Request(offset, headers)


def _same(remembered: Content, wanted: Content) -> bool:
    if wanted.sha256 or remembered.sha256:
        return wanted.sha256 == remembered.sha256
    if wanted.size and remembered.size and wanted.size != remembered.size:
        return False
    return is_strong(remembered.etag)


def is_strong(etag: str) -> bool:
    """Whether equal tags mean equal bytes."""
    return etag.startswith('"')


def read_reply(status: int, headers: Mapping[str, str], asked: Request, wanted: Content) -> ResumedBody:
    """What a successful answer (200 or 206) brings. Raises EngineFailed when it does not fit what was asked.

    A whole answer to a request for the rest is no error: the download begins anew.
    """
    etag = headers.get("etag", "")
    if status == 206:
        match = CONTENT_RANGE.match(headers.get("content-range", ""))
        if match is None or int(match[1]) != asked.offset:
            raise _nonsense("answered with other bytes than it was asked for")
        reply = ResumedBody(asked.offset, int(match[3]), etag)
    else:
        length = headers.get("content-length", "")
        if not length.isdigit() and not wanted.size:
            raise _nonsense("does not say how large the file is")
        reply = ResumedBody(0, int(length) if length.isdigit() else wanted.size, etag)
    if headers.get("content-encoding", "identity") not in ("", "identity"):
        raise _nonsense("sent the file in a coding it was not asked for")
    if wanted.size and reply.size != wanted.size:
        raise _nonsense(f"has {reply.size:,} bytes where {wanted.size:,} were announced")
    return reply


def is_same(asked: Request, reply: ResumedBody) -> bool:
    """Whether the rest that came belongs to the beginning that is there. A server may overlook the condition."""
    condition = asked.headers.get("If-Range", "")
    return not condition or reply.offset == 0 or reply.etag == condition


def _nonsense(what: str) -> EngineFailed:
    return EngineFailed(
        f"The server {what}. Try again later, or another source.", code="hub_failed", status=502
    )
