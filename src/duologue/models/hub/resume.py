"""Where a download resumes: from the bytes on the disk, the expected content, and the server's response.

Used by `download`. Pure. Where the hub announces a checksum, the bytes on the disk are usable whatever the server's ETag,
because the whole file is checked in the end. Without a checksum only an unchanged strong ETag proves that the rest belongs
to the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from duologue.errors import EngineFailed

CONTENT_RANGE = re.compile(r"^bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})$")
LENGTH = re.compile(r"^[0-9]{1,18}$")


class Stopped(Exception):
    """The caller stopped the download. The bytes that came stay on the disk, and the next try resumes from them.

    It stands here and not in `http.py` because the gateway catches it without loading an HTTP client.
    """


class Content(Struct, frozen=True):
    """Identifies the bytes of a file. `size` 0 and texts "" where unknown."""

    size: int = 0
    sha256: str = ""
    etag: str = ""


class RangeRequest(Struct, frozen=True):
    """The request: from byte `offset`, with these headers."""

    offset: int
    headers: dict[str, str]


class ResumedBody(Struct, frozen=True):
    """The body of a response: bytes from `offset` on, of `size` in all."""

    offset: int
    size: int
    etag: str


def plan(there: int, remembered: Content | None, expected: Content) -> RangeRequest:
    """The request when `there` bytes are on the disk, which are the beginning of `remembered`."""
    offset = there if remembered is not None and _same(remembered, expected) else 0
    size = expected.size or (remembered.size if remembered else 0)
    if size and offset > size:
        offset = 0
    if offset == 0:
        return RangeRequest(0, {})
    headers = {"Range": f"bytes={offset}-"}
    if not expected.sha256 and remembered is not None:
        headers["If-Range"] = remembered.etag
    return RangeRequest(offset, headers)


def _same(remembered: Content, expected: Content) -> bool:
    if expected.sha256 or remembered.sha256:
        return expected.sha256 == remembered.sha256
    if expected.size and remembered.size and expected.size != remembered.size:
        return False
    return is_strong(remembered.etag)


def is_strong(etag: str) -> bool:
    """Whether equal tags mean equal bytes."""
    return etag.startswith('"')


def read_reply(
    status: int, headers: Mapping[str, str], request: RangeRequest, expected: Content
) -> ResumedBody:
    """What a successful answer (200 or 206) brings. Raises EngineFailed when it does not fit what was request.

    A whole answer to a request for the rest is no error: the download begins anew.
    """
    etag = headers.get("etag", "")
    if status == 206:
        match = CONTENT_RANGE.match(headers.get("content-range", ""))
        if match is None or int(match[1]) != request.offset:
            raise _unexpected("sent other bytes than requested")
        reply = ResumedBody(request.offset, int(match[3]), etag)
    else:
        length = headers.get("content-length", "")
        if not LENGTH.match(length) and not expected.size:
            raise _unexpected("does not say how large the file is")
        reply = ResumedBody(0, int(length) if LENGTH.match(length) else expected.size, etag)
    if headers.get("content-encoding", "identity") not in ("", "identity"):
        raise _unexpected("sent the file in an encoding that was not requested")
    if expected.size and reply.size != expected.size:
        raise _unexpected(f"has {reply.size:,} bytes where {expected.size:,} were announced")
    return reply


def is_same(request: RangeRequest, reply: ResumedBody) -> bool:
    """Whether the body continues the bytes on the disk. A server may ignore the If-Range condition."""
    condition = request.headers.get("If-Range", "")
    return not condition or reply.offset == 0 or reply.etag == condition


def _unexpected(what: str) -> EngineFailed:
    return EngineFailed(
        f"The server {what}. Try again later, or another source.", code="hub_failed", status=502
    )
