"""A stream of server-sent events as an HTTP response.

Owns the pump: bytes out as they come, the client's disconnect noticed at once, a comment when nothing was said for a
while, an error that still has its HTTP status as long as no byte has left. Knows no dialect: an encoder makes the
bytes, `problems` the shape of an error.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Generic, Protocol, TypeVar

import anyio
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from duologue.errors import Problem
from duologue.http.error_responses import problem_body, refuse, request_id_of

log = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds a stream with nothing to say yet is held back, so that an early error can have its HTTP status."""
KEEP_ALIVE = 15.0
"""Seconds of silence after which a comment is sent: proxies and clients give up on silent streams."""
STALLED = 60.0
"""Seconds a comment may wait to be sent. A client that has taken nothing for so long holds a slot for nobody."""

Item = TypeVar("Item", contravariant=True)
Work = TypeVar("Work")


class Encoder(Protocol[Item]):
    """Items to bytes of the stream. Once it has `ended` nothing may follow; `close` raises the Problem that ended it."""

    @property
    def note(self) -> bytes:
        """A comment that says what is going on, sent in silence; begins with a colon."""
        ...

    @property
    def ended(self) -> bool: ...

    def encode(self, item: Item) -> bytes: ...

    def close(self) -> None: ...


async def watch_disconnect(receive: Receive, gone: anyio.CancelScope) -> None:
    """Cancel `gone` when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
    gone.cancel()


async def while_connected(receive: Receive, work: Callable[[], Awaitable[Work]]) -> Work | None:
    """The result of `work`, or None when the client left before it was done and the work was cancelled.

    `work` must not raise: it runs beside the watch in one task group.
    """
    result: Work | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(watch_disconnect, receive, group.cancel_scope)
        result = await work()
        group.cancel_scope.cancel()
    return result


class EventStream(Response, Generic[Item]):
    """Pumps `source` through `encoder` until either ends or the client leaves; leaving cancels the source.

    A problem before the first byte is a refusal with its HTTP status; later it is an `error` event and `[DONE]`.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        source: AbstractAsyncContextManager[AsyncIterator[Item]],
        encoder: Encoder[Item],
        *,
        patience: float = PATIENCE,
        keep_alive: float = KEEP_ALIVE,
        stalled: float = STALLED,
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]  # nobody knows how long it will be
        self._source, self._encoder = source, encoder
        self._patience, self._keep_alive, self._stalled = patience, keep_alive, stalled
        self._opening: anyio.Event | None = None
        self._commenting: anyio.Event | None = None
        self._said = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as group:

            async def send_or_leave(message: Message) -> None:
                try:
                    await send(message)
                except OSError:  # how some servers say that the client has left
                    group.cancel_scope.cancel()
                    await anyio.sleep_forever()

            group.start_soon(watch_disconnect, receive, group.cancel_scope)
            group.start_soon(self._comment, send_or_leave, group.cancel_scope)
            await self._pump(scope, receive, send_or_leave)
            group.cancel_scope.cancel()

    async def _pump(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with self._source as items:
                async for item in items:
                    if data := self._encoder.encode(item):
                        await self._write(send, data)
                    if self._encoder.ended:
                        break
            self._encoder.close()
            await self._open(send)
        except Exception as error:
            if not isinstance(error, Problem):
                log.exception("the stream of request %s failed", request_id_of(scope))
            if self._opening is None:
                self._opening = anyio.Event()  # never set: no comment may open what is being refused
                await refuse(scope, receive, send, error)
                return
            said = problem_body(error, scope["path"], request_id_of(scope))
            await self._write(send, b"data: %b\n\ndata: [DONE]\n\n" % json.dumps(said).encode())
        if self._commenting is not None:
            await self._commenting.wait()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _open(self, send: Send) -> None:
        """Send status and headers, once; whoever comes second waits until they are sent."""
        if self._opening is not None:
            await self._opening.wait()
            return
        self._opening = anyio.Event()
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        self._opening.set()

    async def _write(self, send: Send, data: bytes) -> None:
        if self._opening is None or not self._opening.is_set():
            await self._open(send)
        if self._commenting is not None:
            await self._commenting.wait()
        self._said = time.monotonic()
        await send({"type": "http.response.body", "body": data, "more_body": True})

    async def _comment(self, send: Send, gone: anyio.CancelScope) -> None:
        """Break every long silence. The pump waits for a comment on its way, so messages never cross. When it is the
        client's silence, and the comment finds no room either, the client is given up."""
        await anyio.sleep(self._patience)
        while True:
            silent = time.monotonic() - self._said
            if silent >= self._keep_alive:
                await self._open(send)
                self._commenting = anyio.Event()
                self._said, silent = time.monotonic(), 0.0
                with anyio.move_on_after(self._stalled) as waiting:
                    await send({"type": "http.response.body", "body": self._encoder.note, "more_body": True})
                if waiting.cancelled_caught:
                    gone.cancel()
                self._commenting.set()
                self._commenting = None
            await anyio.sleep(self._keep_alive - silent)
