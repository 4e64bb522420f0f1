"""Opening a session with an MCP server: the way to it, the handshake, and why it failed in a sentence.

Where the settings leave the transport open, streamable HTTP is tried first and server-sent events after it, or the
other way round for an address that ends in /sse.
"""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import httpx2
import mcp_types as types
from mcp.client import Client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from duologue import __version__
from duologue.errors import BadRequest, Forbidden, Problem, Unavailable
from duologue.tools.mcp import transports
from duologue.tools.mcp.call_context import Lost
from duologue.tools.mcp.health import Journal, Phase
from duologue.tools.mcp.login import LoginNeeded
from duologue.tools.mcp.server_config import Definition
from duologue.tools.mcp.session import McpSession
from duologue.tools.ssrf_guard import Addresses

BELOW = (types.CONNECTION_CLOSED, types.INTERNAL_ERROR)
"""Codes by which the SDK says that something below the protocol failed."""

Way = Callable[[], AbstractAsyncContextManager[tuple[Any, Any]]]


@asynccontextmanager
async def opened(
    definition: Definition,
    journal: Journal,
    *,
    now: Callable[[], int],
    on_phase: Callable[[Phase], None],
    addresses: Addresses | None = None,
    auth: httpx2.Auth | None = None,
) -> AsyncIterator[McpSession]:
    """A session with a server, from its start to its end. With `addresses` every connection is checked.

    Raises what the transport raises when it cannot be opened: a Problem with a sentence where one is known.
    """
    signs = transports.Signs()
    session = McpSession(definition, journal, signs, now)
    try:
        async with AsyncExitStack() as stack:
            client = await _first_that_answers(
                stack, definition, journal, session, signs, on_phase, addresses, auth
            )
            session.begun(client)
            yield session
    except BaseExceptionGroup as group:
        # Everything that runs for a session is in task groups: what one of them raises comes out in layers.
        leaf = _leaf(group)
        raise leaf if not isinstance(leaf, Exception) else _problem(leaf, signs, definition) from group
    finally:
        session.lost()


async def _first_that_answers(
    stack: AsyncExitStack,
    definition: Definition,
    journal: Journal,
    session: McpSession,
    signs: transports.Signs,
    on_phase: Callable[[Phase], None],
    addresses: Addresses | None,
    auth: httpx2.Auth | None,
) -> Client:
    server = definition.server
    ways: list[Way]
    if server.command:
        ways = [lambda: transports.stdio(server, journal, signs)]
    else:
        http: list[Way] = [
            lambda: transports.streamable_http(server, signs, addresses, auth),
            lambda: transports.sse(server, signs, addresses, auth),
        ]
        kind = server.type or ("sse first" if server.url.rstrip("/").endswith("/sse") else "both")
        ways = {"sse": http[1:], "sse first": http[::-1], "both": http}.get(kind, http[:1])
    for number, way in enumerate(ways):
        on_phase("starting")
        try:
            return await stack.enter_async_context(_handshake(way(), session, on_phase))
        except Exception as error:
            problem = _problem(error, signs, definition)
            if (
                number == len(ways) - 1
                or not isinstance(problem, Unavailable)
                or isinstance(problem, LoginNeeded)
            ):
                raise problem from error
            journal.add(f"{problem.message} Trying the other transport.")
            signs.ended = anyio.Event()
    raise AssertionError("there is always one way")


@asynccontextmanager
async def _handshake(
    transport: AbstractAsyncContextManager[tuple[Any, Any]],
    session: McpSession,
    on_phase: Callable[[Phase], None],
) -> AsyncIterator[Client]:
    @asynccontextmanager
    async def told() -> AsyncIterator[tuple[Any, Any]]:
        async with transport as streams:
            on_phase("handshake")
            yield streams

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        client = Client(
            told(),
            client_info=types.Implementation(name="duologue", title="Duologue", version=__version__),
            logging_callback=session.on_log,
            message_handler=session.on_message,
            elicitation_callback=session.on_elicitation,
        )
    async with client:
        yield client


def _problem(error: BaseException, signs: transports.Signs, definition: Definition) -> Problem:
    """Why a server cannot be reached, as a sentence; BadRequest and Forbidden are the ones that waiting cannot mend."""
    leaf = _leaf(error)
    for known in (leaf, signs.refused):
        if isinstance(known, Problem):
            return known
    if signs.status == 401:
        if any(name.lower() == "authorization" for name in definition.server.headers):
            return Forbidden("It does not accept the key in its headers.", code="tool_server_refused")
        return LoginNeeded()
    if isinstance(leaf, FileNotFoundError | PermissionError | NotADirectoryError):
        where = f" in {definition.server.cwd}" if definition.server.cwd else ""
        said = f"{definition.server.command}{where}: {leaf.strerror}"
        return BadRequest(f"It cannot be run: {said}.", code="tool_server_command")
    if isinstance(leaf, MCPError) and leaf.code not in BELOW:
        return Unavailable(f"It refused the handshake: {leaf.message}.", code="tool_server_unreachable")
    silent = isinstance(leaf, MCPError | Lost) or not str(leaf)
    ended = "It ended before it had answered" if silent else f"{type(leaf).__name__}: {leaf}"
    return Unavailable((signs.trouble or ended).rstrip(".") + ".", code="tool_server_unreachable")


def _leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
