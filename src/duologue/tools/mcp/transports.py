"""The three MCP transports: stdio, streamable HTTP and server-sent events.

Wraps the SDK's transports: standard error of a program goes to the server's journal, the end of a stream is detected,
and HTTP failures are recorded for the error message.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from duologue.config.settings import McpServer
from duologue.tools.mcp.health import Journal
from duologue.tools.pinned_transport import checked_transport
from duologue.tools.ssrf_guard import AddressGuard

# The SDK logs every failure of a server with a traceback; the server's journal already has a sentence.
for _name, _level in {"mcp": logging.CRITICAL, "client": logging.CRITICAL, "httpx2": logging.WARNING}.items():
    logging.getLogger(_name).setLevel(_level)

CONNECT_SECONDS = 15.0
# No read timeout: a stream may be silent for hours, and each request has its own limit.
TIMEOUT = httpx2.Timeout(CONNECT_SECONDS, read=None)
STDERR_PIECE = 65_536
EVENT = 64 * 1024 * 1024
"""Maximum bytes of one event: a result with a photograph exceeds the SDK's default of 1 MB."""


class TransportState:
    """The observed state of a connection: whether its stream ended, and the last HTTP status and failure."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.trouble = ""
        self.status = 0
        self.refused: Exception | None = None
        self.on_end: Callable[[], None] = lambda: None

    def end(self) -> None:
        """Mark the stream as ended."""
        self.ended.set()
        self.on_end()


class WatchedStream:
    """A read stream that reports its end; the SDK's session does not."""

    def __init__(self, inner: Any, on_end: Callable[[], None]) -> None:
        self._inner = inner
        self._on_end = on_end

    @property
    def last_context(self) -> Any:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Any:
        try:
            return await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._on_end()
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> WatchedStream:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            raise StopAsyncIteration from None

    async def __aenter__(self) -> WatchedStream:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()


class StatusClient(httpx2.AsyncClient):
    """An HTTP client that records failures: the SDK turns most of them into "connection closed"."""

    state: TransportState

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            response = await super().send(request, **options)
        except Exception as error:
            self.state.trouble = str(error) or type(error).__name__
            self.state.refused = error
            raise
        if response.status_code >= 400:
            self.state.trouble = f"It answered {response.status_code} {response.reason_phrase}."
        self.state.status, self.state.refused = response.status_code, None
        return response


@asynccontextmanager
async def stdio(server: McpServer, journal: Journal, state: TransportState) -> AsyncIterator[tuple[Any, Any]]:
    """Start a program, yield its streams, and stop it at the end of the block. Raises OSError when it cannot start."""
    parameters = StdioServerParameters(
        command=server.command,
        args=list(server.args),
        env=dict(server.env),
        cwd=server.cwd,
        encoding_error_handler="replace",
    )
    read_fd, write_fd = os.pipe()
    os.set_blocking(read_fd, False)
    sink = os.fdopen(write_fd, "w")
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_copy_stderr, read_fd, journal)
            try:
                async with stdio_client(parameters, errlog=sink) as (read, write):
                    # Close our copy of the write end: it would keep the pipe open after the program exits.
                    sink.close()
                    yield WatchedStream(read, state.end), write
            finally:
                tasks.cancel_scope.cancel()
    finally:
        sink.close()
        os.close(read_fd)


async def _copy_stderr(read_fd: int, journal: Journal) -> None:
    """Copy a program's standard error to the journal until it ends."""
    rest = b""
    while True:
        await anyio.wait_readable(read_fd)
        try:
            piece = os.read(read_fd, STDERR_PIECE)
        except BlockingIOError:
            continue
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            journal.add(line.decode("utf-8", "replace"), "stderr")
        if not piece or len(rest) > STDERR_PIECE:
            journal.add(rest.decode("utf-8", "replace"), "stderr")
            rest = b""
        if not piece:
            return


def http_client(
    server: McpServer, state: TransportState, addresses: AddressGuard | None, auth: httpx2.Auth | None
) -> StatusClient:
    """A client with the server's headers. With `addresses`, every address is checked before connecting."""
    headers = {name: value.get_secret_value() for name, value in server.headers.items()}
    if addresses is None:
        client = StatusClient(headers=headers, timeout=TIMEOUT, auth=auth)
    else:
        client = StatusClient(
            headers=headers,
            timeout=TIMEOUT,
            auth=auth,
            trust_env=False,
            transport=checked_transport(addresses),
        )
    client.state = state
    return client


@asynccontextmanager
async def streamable_http(
    server: McpServer, state: TransportState, addresses: AddressGuard | None, auth: httpx2.Auth | None
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a server over streamable HTTP."""
    async with (
        http_client(server, state, addresses, auth) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=EVENT) as (read, write),
    ):
        yield WatchedStream(read, state.end), write


@asynccontextmanager
async def sse(
    server: McpServer, state: TransportState, addresses: AddressGuard | None, auth: httpx2.Auth | None
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a server over the older transport: server-sent events down, POST requests up."""

    def factory(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return http_client(server, state, addresses, auth)

    async with sse_client(server.url, auth=auth, httpx_client_factory=factory) as (read, write):
        yield WatchedStream(read, state.end), write
