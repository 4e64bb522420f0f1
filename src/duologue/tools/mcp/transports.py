"""The three MCP transports: stdio, streamable HTTP and server-sent events.

Programs are run by `program.py`; for HTTP the SDK's transports are wrapped: the end of a stream is detected, and
`bounded_http.py` bounds every answer and records failures for the error message.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from duologue.config.sections.mcp import McpServer
from duologue.tools.mcp.bounded_http import BoundedClient, TransportState
from duologue.tools.mcp.health import Journal
from duologue.tools.mcp.message_bounds import MESSAGE
from duologue.tools.mcp.program import program
from duologue.tools.pinned_transport import checked_transport
from duologue.tools.ssrf_guard import AddressGuard

# The SDK logs every failure of a server with a traceback; the server's journal already has a sentence.
for _name, _level in {"mcp": logging.CRITICAL, "client": logging.CRITICAL, "httpx2": logging.WARNING}.items():
    logging.getLogger(_name).setLevel(_level)

CONNECT_SECONDS = 15.0
# No read timeout: a stream may be silent for hours, and each request has its own limit.
TIMEOUT = httpx2.Timeout(CONNECT_SECONDS, read=None)


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


@asynccontextmanager
async def stdio(server: McpServer, journal: Journal, state: TransportState) -> AsyncIterator[tuple[Any, Any]]:
    """Start a program, yield its streams, and stop it at the end of the block. Raises OSError when it cannot start."""
    async with program(server, journal) as (read, write):
        yield WatchedStream(read, state.end), write


def http_client(
    server: McpServer, state: TransportState, addresses: AddressGuard | None, auth: httpx2.Auth | None
) -> BoundedClient:
    """A client with the server's headers. With `addresses`, every address is checked before connecting."""
    headers = {name: value.get_secret_value() for name, value in server.headers.items()}
    if addresses is None:
        client = BoundedClient(headers=headers, timeout=TIMEOUT, auth=auth)
    else:
        client = BoundedClient(
            headers=headers,
            timeout=TIMEOUT,
            auth=auth,
            trust_env=False,
            transport=checked_transport(addresses),
        )
    client.bound(state, server.url)
    return client


@asynccontextmanager
async def streamable_http(
    server: McpServer, state: TransportState, addresses: AddressGuard | None, auth: httpx2.Auth | None
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a server over streamable HTTP."""
    async with (
        http_client(server, state, addresses, auth) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=MESSAGE) as (read, write),
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
