"""Opens sessions with MCP servers: transport, handshake, and failures as sentences.

When the settings name no transport, streamable HTTP is tried first and server-sent events second, or the other way
round for a URL that ends in /sse.
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
from duologue.tools.mcp.bounded_http import TransportState
from duologue.tools.mcp.call_context import SessionLost
from duologue.tools.mcp.health import Journal, Phase
from duologue.tools.mcp.login import LoginNeeded
from duologue.tools.mcp.server_config import ServerConfig
from duologue.tools.mcp.session import McpSession
from duologue.tools.ssrf_guard import AddressGuard

TRANSPORT_ERRORS = (types.CONNECTION_CLOSED, types.INTERNAL_ERROR)
"""Error codes the SDK uses for failures below the protocol."""

OpenTransport = Callable[[], AbstractAsyncContextManager[tuple[Any, Any]]]


@asynccontextmanager
async def open_session(
    config: ServerConfig,
    journal: Journal,
    *,
    now: Callable[[], int],
    on_phase: Callable[[Phase], None],
    addresses: AddressGuard | None = None,
    auth: httpx2.Auth | None = None,
) -> AsyncIterator[McpSession]:
    """Open a session and close it at the end of the block. With `addresses`, every connection is checked.

    Raises Problem with a sentence for every failure of the server or the transport.
    """
    state = TransportState()
    session = McpSession(config, journal, state, now)
    try:
        async with AsyncExitStack() as stack:
            client = await _connect(stack, config, journal, session, state, on_phase, addresses, auth)
            session.start(client)
            yield session
    except BaseExceptionGroup as group:
        # The SDK nests task groups, so one failure arrives wrapped in several exception groups.
        leaf = _leaf(group)
        raise leaf if not isinstance(leaf, Exception) else _problem(leaf, state, config) from group
    finally:
        session.lost()


async def _connect(
    stack: AsyncExitStack,
    config: ServerConfig,
    journal: Journal,
    session: McpSession,
    state: TransportState,
    on_phase: Callable[[Phase], None],
    addresses: AddressGuard | None,
    auth: httpx2.Auth | None,
) -> Client:
    server = config.server
    openers: list[OpenTransport]
    if server.command:
        openers = [lambda: transports.stdio(server, journal, state)]
    else:
        http: list[OpenTransport] = [
            lambda: transports.streamable_http(server, state, addresses, auth),
            lambda: transports.sse(server, state, addresses, auth),
        ]
        kind = server.type or ("sse first" if server.url.rstrip("/").endswith("/sse") else "both")
        openers = {"sse": http[1:], "sse first": http[::-1], "both": http}.get(kind, http[:1])
    for number, opener in enumerate(openers):
        on_phase("starting")
        try:
            return await stack.enter_async_context(_handshake(opener(), session, on_phase))
        except Exception as error:
            problem = _problem(error, state, config)
            if (
                number == len(openers) - 1
                or not isinstance(problem, Unavailable)
                or isinstance(problem, LoginNeeded)
            ):
                raise problem from error
            journal.add(f"{problem.message} Trying the other transport.")
            state.ended = anyio.Event()
    raise AssertionError("there is always at least one transport")


@asynccontextmanager
async def _handshake(
    transport: AbstractAsyncContextManager[tuple[Any, Any]],
    session: McpSession,
    on_phase: Callable[[Phase], None],
) -> AsyncIterator[Client]:
    @asynccontextmanager
    async def report_phase() -> AsyncIterator[tuple[Any, Any]]:
        async with transport as streams:
            on_phase("handshake")
            yield streams

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        client = Client(
            report_phase(),
            client_info=types.Implementation(name="duologue", title="Duologue", version=__version__),
            logging_callback=session.on_log,
            message_handler=session.on_message,
            elicitation_callback=session.on_elicitation,
        )
    async with client:
        yield client


def _problem(error: BaseException, state: TransportState, config: ServerConfig) -> Problem:
    """Why a server cannot be reached, as a sentence. BadRequest and Forbidden are final: retrying does not help."""
    leaf = _leaf(error)
    for cause in (leaf, state.refused):
        if isinstance(cause, Problem):
            return cause
    if state.status == 401:
        if any(name.lower() == "authorization" for name in config.server.headers):
            return Forbidden(
                "The server rejected the key in the configured headers.", code="tool_server_refused"
            )
        return LoginNeeded()
    if isinstance(leaf, FileNotFoundError | PermissionError | NotADirectoryError):
        where = f" in {config.server.cwd}" if config.server.cwd else ""
        reason = f"{config.server.command}{where}: {leaf.strerror}"
        return BadRequest(f"The command cannot be run: {reason}.", code="tool_server_command")
    if isinstance(leaf, MCPError) and leaf.code not in TRANSPORT_ERRORS:
        return Unavailable(
            f"The server refused the handshake: {leaf.message}.", code="tool_server_unreachable"
        )
    silent = isinstance(leaf, MCPError | SessionLost) or not str(leaf)
    ended = "The connection ended before the server answered" if silent else f"{type(leaf).__name__}: {leaf}"
    return Unavailable((state.trouble or ended).rstrip(".") + ".", code="tool_server_unreachable")


def _leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
