"""Numbered events as an HTTP response of server-sent events, for viewers that come and go.

Owns the frames, the comment in silence, the joining of what piled up, and the leaving of either side. Knows no event:
it is given bytes. Whatever is wrong with a request is said before such a response is made; a source that breaks later
ends the stream, and the viewer comes back with the last number it saw.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from duologue.errors import BadRequest

log = logging.getLogger(__name__)

KEEP_ALIVE = 15.0
"""Seconds of silence after which a comment is sent: proxies and clients give up on silent streams."""
STALLED = 60.0
"""Seconds a client may take nothing; then it is given up."""
JOINED = 256
"""Frames that may wait for the client and leave together. When it is slower still, the source is not asked."""

COMMENT = b": alive\n\n"


def frame(number: int, data: bytes) -> bytes:
    """One event; `data` is one line of JSON."""
    return b"id: %d\ndata: %b\n\n" % (number, data)


def position(number: int) -> bytes:
    """A frame that says where the viewer stands and is no event."""
    return b"id: %d\n\n" % number


def last_seen(request: Request) -> int | None:
    """The number a viewer names as the last it has seen: `Last-Event-ID`, which a browser sends by itself when it
    comes back, else `after` in the query. None where it names none. Raises BadRequest."""
    named = request.headers.get("last-event-id") or request.query_params.get("after")
    if not named:
        return None
    if not (named.isascii() and named.isdigit() and len(named) < 17):
        raise BadRequest(
            "after must be a whole number: the id of the last event that was seen.", param="after"
        )
    return int(named)


class EventStream(Response):
    """Sends what `source` gives until it ends, the client leaves, or it takes nothing for too long. The source is
    closed on every way out."""

    media_type = "text/event-stream"

    def __init__(
        self, source: AsyncGenerator[bytes], *, keep_alive: float = KEEP_ALIVE, stalled: float = STALLED
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]  # nobody knows how long it will be
        self._source = source
        self._keep_alive, self._stalled = keep_alive, stalled

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        give, take = anyio.create_memory_object_stream[bytes](JOINED)
        async with anyio.create_task_group() as group:
            group.start_soon(_until_gone, receive, group.cancel_scope)
            group.start_soon(self._read, give)
            await self._write(take, send)
            group.cancel_scope.cancel()

    async def _read(self, give: MemoryObjectSendStream[bytes]) -> None:
        async with give, aclosing(self._source) as source:
            try:
                async for data in source:
                    try:
                        give.send_nowait(data)  # as long as there is room the source runs on, and frames join
                    except anyio.WouldBlock:
                        await give.send(data)
            except Exception:
                log.exception("a stream of events broke off")

    async def _write(self, take: MemoryObjectReceiveStream[bytes], send: Send) -> None:
        await self._send(
            send, {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        async with take:
            while (data := await self._next(take)) is not None:
                if not await self._send(send, _body(data)):
                    return
        await self._send(send, _body(b"", more=False))

    async def _next(self, take: MemoryObjectReceiveStream[bytes]) -> bytes | None:
        """All that waits, at least one frame or, in a long silence, a comment; None at the end."""
        with anyio.move_on_after(self._keep_alive):
            try:
                frames = [await take.receive()]
            except anyio.EndOfStream:
                return None
            with suppress(anyio.WouldBlock, anyio.EndOfStream):  # the end is met again at the next call
                while len(frames) < JOINED:
                    frames.append(take.receive_nowait())
            return b"".join(frames)
        return COMMENT

    async def _send(self, send: Send, message: Message) -> bool:
        """Whether the client took it."""
        with anyio.move_on_after(self._stalled):
            try:
                await send(message)
            except OSError:  # how some servers say that the client has left
                return False
            return True
        return False


def _body(data: bytes, *, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": more}


async def _until_gone(receive: Receive, gone: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    gone.cancel()
