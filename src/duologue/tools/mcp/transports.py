"""The three ways to an MCP server: a program's standard streams, streamable HTTP, server-sent events.

Owns what goes around the SDK's transports: the program's standard error goes to the server's journal, the end of a
stream is noticed when it comes, and what went wrong below HTTP is remembered for the sentence people read.
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

# The SDK logs every fault of a server with a trace; the server's journal has it in a sentence.
for _name, _level in {"mcp": logging.CRITICAL, "client": logging.CRITICAL, "httpx2": logging.WARNING}.items():
    logging.getLogger(_name).setLevel(_level)

CONNECT_SECONDS = 15.0
# Nothing may be said on a stream for hours; the calls on it have limits of their own.
TIMEOUT = httpx2.Timeout(CONNECT_SECONDS, read=None)
STDERR_PIECE = 65_536
EVENT = 64 * 1024 * 1024
"""Bytes of one event; a result with a photograph is larger than the SDK's one megabyte."""


class TransportState:
    """What was noticed of a connection while it lives: its stream's end, and what HTTP said last."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.trouble = ""
        self.status = 0
        self.refused: Exception | None = None
        self.on_end: Callable[[], None] = lambda: None

    def end(self) -> None:
        """The stream has ended."""
        self.ended.set()
        self.on_end()


class WatchedStream:
    """A read stream that tells when it ends, as the SDK's session does not."""

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
    """An HTTP client that remembers what went wrong: the SDK turns most of it into "connection closed"."""

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
    """The streams of a program that is started now and ended after. Raises OSError when it cannot be started."""
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
                    # The program has its own copy; ours would keep the pipe open after its end.
                    sink.close()
                    yield WatchedStream(read, state.end), write
            finally:
                tasks.cancel_scope.cancel()
    finally:
        sink.close()
        os.close(read_fd)


async def _copy_stderr(read_fd: int, journal: Journal) -> None:
    """Take down what a program writes to its standard error, until it ends."""
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
    """A client with the server's headers. With `addresses`, every address it connects to is checked."""
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
    """The streams of a server by streamable HTTP."""
    async with (
        http_client(server, state, addresses, auth) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=EVENT) as (read, write),
    ):
        yield WatchedStream(read, state.end), write


@asynccontextmanager
async def sse(
    server: McpServer, state: TransportState, addresses: AddressGuard | None, auth: httpx2.Auth | None
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a server by the older transport: one stream of events down, requests up."""

    def factory(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return http_client(server, state, addresses, auth)

    async with sse_client(server.url, auth=auth, httpx_client_factory=factory) as (read, write):
        yield WatchedStream(read, state.end), write
