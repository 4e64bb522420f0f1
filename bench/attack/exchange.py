"""One HTTP exchange over a plain socket, without a library that would refuse to send what is hostile.

`ask` sends a request and reads the answer; `Line` keeps its connection for many. Answers are read up to a size and a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from types import TracebackType
from typing import Any, NamedTuple

HOST = "127.0.0.1"
HEAD_BYTES = 65_536
BODY_BYTES = 4 * 2**20
"""What is read of an answer; the rest is dropped with the connection."""
PLAIN_METHODS = (b"GET ", b"POST ", b"PUT ", b"PATCH ", b"DELETE ", b"HEAD ", b"OPTIONS ")
Json = dict[str, Any]


class NoAnswer(Exception):
    """The connection ended, or the time was over, before there was an answer. The text is `reset`, `closed` or `silent`."""


class Answer(NamedTuple):
    """A status, the headers in lower case, and the body as far as it was read."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON; None where it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def request(
    method: str, path: str, *, key: str = "", body: bytes | None = None, headers: Json | None = None
) -> bytes:
    """The bytes of a request. `headers` replace the usual ones of the same name."""
    fields: Json = {"Host": HOST}
    if key:
        fields["Authorization"] = f"Bearer {key}"
    if body is not None:
        fields |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    fields |= headers or {}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode("utf-8", "surrogateescape") + (body or b"")


class Line:
    """A connection that is opened when needed and kept as long as the server keeps it."""

    def __init__(self, port: int, *, source: str = HOST, seconds: float = 30.0) -> None:
        self._port, self._source, self._seconds = port, source, seconds
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Line:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()
        self._reader = self._writer = None

    async def send(self, data: bytes, *, only_head: bool = False) -> Answer:
        """Raises NoAnswer."""
        is_old = self._writer is not None
        try:
            answer = await self._once(data, only_head)
            if not data.startswith(PLAIN_METHODS):
                # What comes after CONNECT is no request any more.
                self.close()
            return answer
        except NoAnswer as error:
            # A kept connection may have been closed by the server before the request reached it.
            if not is_old or str(error) == "silent":
                raise
        return await self._once(data, only_head)

    async def _once(self, data: bytes, only_head: bool) -> Answer:
        try:
            async with asyncio.timeout(self._seconds):
                if self._writer is None:
                    self._reader, self._writer = await asyncio.open_connection(
                        HOST, self._port, limit=HEAD_BYTES, local_addr=(self._source, 0)
                    )
                return await self._talk(data, only_head)
        except TimeoutError:
            self.close()
            raise NoAnswer("silent") from None
        except (ConnectionError, BrokenPipeError):
            self.close()
            raise NoAnswer("reset") from None
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            self.close()
            raise NoAnswer("closed") from None
        except OSError:
            self.close()
            raise NoAnswer("refused") from None

    async def _talk(self, data: bytes, only_head: bool) -> Answer:
        assert self._reader is not None
        assert self._writer is not None
        sending = asyncio.ensure_future(self._write(data))
        try:
            # An answer may come before everything was sent: a refusal does.
            answer = await read_answer(
                self._reader, only_head=only_head, whole_streams=not data.startswith(b"GET ")
            )
        finally:
            is_sent = sending.done()
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await sending
        if (
            not is_sent
            or answer.headers.get("connection", "").lower() == "close"
            or "\0cut" in answer.headers
        ):
            self.close()
        return answer

    async def _write(self, data: bytes) -> None:
        assert self._writer is not None
        with contextlib.suppress(ConnectionError):
            self._writer.write(data)
            await self._writer.drain()


async def read_answer(
    reader: asyncio.StreamReader, *, only_head: bool = False, whole_streams: bool = True
) -> Answer:
    """Read one answer; without `whole_streams`, of a stream of events or a streamed
    download only the head. Raises IncompleteReadError, LimitOverrunError; a body longer than BODY_BYTES is cut."""
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        try:
            status = int(head[0].split(" ")[1])
        except (IndexError, ValueError):
            raise asyncio.IncompleteReadError(b"", None) from None
        if status >= 200 or status == 101:
            break
    headers = {}
    for line in head[1:]:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    if only_head or status in (101, 204, 304):
        if only_head and status == 200:
            headers["\0cut"] = "yes"
        return Answer(status, headers, b"")
    is_stream = headers.get("content-type", "").startswith("text/event-stream")
    # An export of a large account takes as long as it is large.
    is_download = "content-disposition" in headers and "content-length" not in headers
    if not whole_streams and (is_stream or is_download):
        body, is_whole = b"", False
    elif headers.get("transfer-encoding") == "chunked":
        body, is_whole = await _chunked(reader)
    elif "content-length" in headers:
        length = int(headers["content-length"])
        body, is_whole = await reader.readexactly(min(length, BODY_BYTES)), length <= BODY_BYTES
    else:
        body, is_whole = await reader.read(BODY_BYTES), False
    if not is_whole:
        headers["\0cut"] = "yes"
    return Answer(status, headers, body)


async def _chunked(reader: asyncio.StreamReader) -> tuple[bytes, bool]:
    body = bytearray()
    while True:
        size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
        if size == 0:
            await reader.readuntil(b"\r\n")
            return bytes(body), True
        if len(body) + size > BODY_BYTES:
            return bytes(body), False
        body += await reader.readexactly(size)
        await reader.readexactly(2)


async def ask(
    port: int,
    method: str,
    path: str,
    *,
    key: str = "",
    body: bytes | None = None,
    headers: Json | None = None,
    seconds: float = 30.0,
    source: str = HOST,
) -> Answer:
    """One request on a connection of its own. Raises NoAnswer."""
    async with Line(port, seconds=seconds, source=source) as line:
        return await line.send(
            request(method, path, key=key, body=body, headers=headers), only_head=method == "HEAD"
        )
