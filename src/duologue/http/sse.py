"""Server-sent events as an HTTP response: the frames, and the one response class that sends them.

Owns the pump: it sends each item as it comes, notices at once that the client has disconnected, breaks a silence with a
comment, tells the place in the queue in comments while the work waits for a slot, gives up a client that reads nothing, and answers an early error with its HTTP status. An encoder turns items into
bytes. Used by every route that streams: completions, speech, transcriptions, model loading and the numbered event logs.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, aclosing
from typing import Any, Generic, Protocol, TypeVar

import anyio
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from duologue.errors import BadRequest, Busy, Problem
from duologue.http.error_responses import problem_body, refuse, request_id_of
from duologue.queue_ticket import QueueTicket, watched_queue

log = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds an empty stream is held back, so that an early error can still be answered with its HTTP status."""
KEEP_ALIVE = 15.0
"""Seconds of silence after which a comment is sent: proxies and clients give up on silent streams."""
STALLED = 60.0
"""Seconds a message may take to send. A client that reads nothing for that long occupies a slot for nothing."""

STREAM_PLACE = "stream_place"
"""The entry of a request's state that takes one of the user's places for an event stream: a context manager that raises Busy."""

Item = TypeVar("Item")
Consumed = TypeVar("Consumed", contravariant=True)
Result = TypeVar("Result")


class Encoder(Protocol[Consumed]):
    """Turns items into bytes of the stream. Nothing may follow once it has `ended`; `close` raises the Problem that ended it."""

    @property
    def note(self) -> bytes:
        """The comment for a silence; begins with a colon."""
        ...

    @property
    def ended(self) -> bool: ...

    def encode(self, item: Consumed) -> bytes: ...

    def close(self) -> None: ...


def failure_frame(body: Mapping[str, Any]) -> bytes:
    """An error as OpenAI's streams end with it."""
    return b"data: %b\n\ndata: [DONE]\n\n" % json.dumps(body).encode()


Placed = Callable[[int, float, str], bytes]
"""A place in the queue, the seconds that it will take, and the ticket, as a part of the stream."""


class _EncodedFrames:
    """The encoder of a source whose items are frames already."""

    note = b": alive\n\n"
    ended = False

    def encode(self, item: bytes) -> bytes:
        return item

    def close(self) -> None:
        pass


def frame(number: int, data: bytes) -> bytes:
    """A numbered event; `data` is one line of JSON."""
    return b"id: %d\ndata: %b\n\n" % (number, data)


def position(number: int) -> bytes:
    """A frame without an event: it only sets the number that the client sends back as `Last-Event-ID`."""
    return b"id: %d\n\n" % number


async def watch_disconnect(receive: Receive, scope: anyio.CancelScope) -> None:
    """Cancel `scope` when the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def while_connected(receive: Receive, work: Callable[[], Awaitable[Result]]) -> Result | None:
    """The result of `work`, or None if the client disconnected first and the work was cancelled.

    `work` must not raise: the task group would wrap its exception in a group.
    """
    result: Result | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(watch_disconnect, receive, group.cancel_scope)
        result = await work()
        group.cancel_scope.cancel()
    return result


async def unless_left(receive: Receive, work: Callable[[], Awaitable[Result]]) -> Result:
    """The result of `work`, which is cancelled when the client disconnects first. Raises BadRequest then, which nobody reads, and what
    `work` raises. For what an endpoint waits for before it has an answer."""

    async def outcome() -> list[Result] | Exception:
        try:
            return [await work()]
        except Exception as error:  # noqa: BLE001 (raised below, outside of the task group)
            return error

    found = await while_connected(receive, outcome)
    if found is None:
        raise BadRequest("The client left before there was an answer.")
    if isinstance(found, Exception):
        raise found
    return found[0]


class EventStream(Response, Generic[Item]):
    """Sends the items of `source`, encoded, until source or encoder ends or the client disconnects, which cancels the source.

    A problem before the first byte is answered with its HTTP status; a later one becomes what `failure` makes of its body.
    `media_type`: of a stream that is not one of server-sent events; its places in the queue are what `placed` makes of them, or not told.
    The ticket and the wait in the queue are in the headers, as far as they are known when those leave.
    With `resumable` the headers leave at once, a failing source just ends the stream (the client reconnects), and the stream
    takes one of its user's places while it is open.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        source: AbstractAsyncContextManager[AsyncIterator[Item]],
        encoder: Encoder[Item],
        *,
        resumable: bool = False,
        patience: float = PATIENCE,
        keep_alive: float = KEEP_ALIVE,
        stalled: float = STALLED,
        media_type: str | None = None,
        failure: Callable[[Mapping[str, Any]], bytes] = failure_frame,
        placed: Placed | None = None,
    ) -> None:
        headers = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
        super().__init__(headers=headers, media_type=media_type)
        del self.headers["content-length"]  # the length of a stream is unknown
        self._source, self._encoder, self._resumable = source, encoder, resumable
        self._failure = failure
        self._placed = placed
        self._patience = keep_alive if resumable else patience
        self._keep_alive, self._stalled = keep_alive, stalled
        self._opening: anyio.Event | None = None
        self._commenting: anyio.Event | None = None
        self._last_sent = 0.0
        self._queue = QueueTicket()
        self._sending_since: float | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with ExitStack() as stack:
            take_place = scope.get("state", {}).get(STREAM_PLACE) if self._resumable else None
            if take_place is not None:
                try:
                    stack.enter_context(take_place())
                except Busy as full:
                    await refuse(scope, receive, send, full)
                    return
            if not self._resumable:
                self._queue = stack.enter_context(watched_queue())
            await self._run(scope, receive, send)

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as group:

            async def send_or_leave(message: Message) -> None:
                self._sending_since = time.monotonic()
                try:
                    await send(message)
                    self._sending_since = None
                    return
                except OSError:  # how some servers report that the client has disconnected
                    pass
                group.cancel_scope.cancel()
                await anyio.sleep_forever()

            group.start_soon(self._watch_stalled, request_id_of(scope), group.cancel_scope)
            group.start_soon(watch_disconnect, receive, group.cancel_scope)
            group.start_soon(self._comment, send_or_leave)
            await self._pump(scope, receive, send_or_leave)
            group.cancel_scope.cancel()

    async def _watch_stalled(self, request_id: str, scope: anyio.CancelScope) -> None:
        """Cancel `scope` when sending one message takes `stalled` seconds (up to twice that, if it started just after a
        look)."""
        # One task for the whole stream: a deadline around each message cost a tenth of the throughput.
        while True:
            since = self._sending_since
            left = self._stalled if since is None else since + self._stalled - time.monotonic()
            if left <= 0:
                log.info("request %s: the client reads nothing; its stream is closed", request_id)
                scope.cancel()
                return
            await anyio.sleep(left)

    async def _pump(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if self._resumable:
                await self._open(send)
            async with self._source as items:
                async for item in items:
                    if data := self._encoder.encode(item):
                        await self._write(send, data)
                    if self._encoder.ended:
                        break
            self._encoder.close()
            await self._open(send)
        except Exception as error:
            if not isinstance(error, Problem) or self._resumable:
                log.exception("the stream of request %s failed", request_id_of(scope))
            if self._opening is None:
                self._opening = anyio.Event()  # never set: no comment may open what is being refused
                await refuse(scope, receive, send, error, self._queue.headers)
                return
            if not self._resumable:
                body = problem_body(error, scope["path"], request_id_of(scope))
                await self._write(send, self._failure(body))
        if self._commenting is not None:
            await self._commenting.wait()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _open(self, send: Send) -> None:
        """Send status and headers once. The pump and the comments both call this: the second waits for the first."""
        if self._opening is not None:
            await self._opening.wait()
            return
        self._opening = anyio.Event()
        self.headers.update(self._queue.headers)
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        self._opening.set()

    async def _write(self, send: Send, data: bytes) -> None:
        if self._opening is None or not self._opening.is_set():
            await self._open(send)
        if self._commenting is not None:
            await self._commenting.wait()
        self._last_sent = time.monotonic()
        await send({"type": "http.response.body", "body": data, "more_body": True})

    async def _comment(self, send: Send) -> None:
        """Break every long silence, and tell each place in the queue. The pump waits for a comment that is being sent, so messages never
        cross."""
        await anyio.sleep(self._patience)
        told = 0
        while True:
            silence = time.monotonic() - self._last_sent
            place = self._place() if self._queue.changes != told else b""
            told = self._queue.changes
            # A message that the pump is sending must not be crossed; the next place comes soon enough.
            if silence >= self._keep_alive or (place and self._sending_since is None):
                await self._open(send)
                self._commenting = anyio.Event()
                self._last_sent, silence = time.monotonic(), 0.0
                note = place or self._encoder.note
                await send({"type": "http.response.body", "body": note, "more_body": True})
                self._commenting.set()
                self._commenting = None
            with anyio.move_on_after(self._keep_alive - silence):
                await self._queue.next_place(told)

    def _place(self) -> bytes:
        """The place in the queue as this kind of stream says it; empty while nothing waits."""
        if self._placed is not None and self._queue.place is not None:
            return self._placed(*self._queue.place, self._queue.ticket)
        return self._queue.comment if self.media_type == EventStream.media_type else b""


def resumable_stream(
    frames: AsyncGenerator[bytes], *, keep_alive: float = KEEP_ALIVE, stalled: float = STALLED
) -> EventStream[bytes]:
    """A response that sends `frames` as they are, for clients that reconnect and name the last number they saw."""
    return EventStream(
        aclosing(frames), _EncodedFrames(), resumable=True, keep_alive=keep_alive, stalled=stalled
    )
