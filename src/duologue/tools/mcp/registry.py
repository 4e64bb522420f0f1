"""All tool servers and their connections, which start concurrently and independently.

Decides which connection a user gets. Most servers have one shared connection; a server with a sign-in has one per
signed-in user, because it acts in that user's name. The SDK is imported when the first server is connected.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from typing import Any, Protocol

import anyio
from anyio.abc import TaskGroup

from duologue.errors import BadRequest, Forbidden, NotFound, Problem, Unavailable
from duologue.tools.mcp import server_config
from duologue.tools.mcp.connection import McpConnection, OpenSession
from duologue.tools.mcp.health import Journal, Phase, ServerHealth
from duologue.tools.mcp.login import AuthorizationResponse, McpLogin
from duologue.tools.mcp.server_config import ServerConfig, ServerRow
from duologue.tools.ssrf_guard import AddressGuard

SERVERS = 100
"""Maximum number of servers added over the API."""


class ServerRows(Protocol):
    """The stored tool servers and tokens."""

    async def all(self) -> Sequence[ServerRow]: ...
    async def put(self, name: str, config: dict[str, Any], user: str) -> object: ...
    async def delete(self, name: str) -> object: ...
    async def tokens(self, name: str, user: str) -> dict[str, Any] | None: ...
    async def save_tokens(self, name: str, user: str, tokens: dict[str, Any]) -> object: ...


def load() -> None:
    """Import the SDK. It takes most of a second, so callers may do it in a thread before the first connection."""
    for module in ("duologue.tools.mcp.oauth", "duologue.tools.mcp.connect"):
        import_module(module)


OpenServer = Callable[
    [ServerConfig, Journal, McpLogin | None, Callable[[Phase], None]],
    AbstractAsyncContextManager[OpenSession],
]


class ServerRegistry:
    """Every server's connection. `running` holds them; servers can be added and removed meanwhile.

    No connection is made before `begin` has returned, so that tool servers do not delay the start. `open_server` opens a
    session; the default uses the SDK. `addresses` guards servers added over the API; those of the configuration are
    trusted.
    """

    def __init__(
        self,
        configured: Sequence[ServerConfig],
        rows: ServerRows,
        addresses: AddressGuard,
        *,
        connect_s: float,
        now: Callable[[], int],
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        on_change: Callable[[], None] = lambda: None,
        open_server: OpenServer | None = None,
        begin: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._configured = {config.name: config for config in configured}
        self._rows = rows
        self._addresses = addresses
        self._connect_s = connect_s
        self._now = now
        self._sleep = sleep
        self._on_change = on_change
        self._open_server = open_server or self._open_session
        self._shared: dict[str, McpConnection] = {}
        self._personal: dict[tuple[str, str], McpConnection] = {}
        self._scopes: dict[McpConnection, anyio.CancelScope] = {}
        self._without_tokens: set[tuple[str, str]] = set()
        self._tried: dict[tuple[str, str], object] = {}
        """The tokens with which a connection was started again because others were stored."""
        self._changes = 0
        """Of this gateway; what was read before one is old."""
        self._tasks: TaskGroup | None = None
        self._begin = begin
        self._starting = False
        self._begun = anyio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hold the connections while the block runs, without waiting for any of them to connect."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            for config in self._configured.values():
                self._start(config)
            for config in server_config.parse_rows(await self._rows.all()):
                if config.name not in self._configured:
                    self._start(config)
            try:
                yield
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()

    async def reload(self) -> None:
        """Read the stored servers and sign-ins again: another gateway may have changed them. Connections of servers that are as
        before stay as they are. Raises Unavailable."""
        before = -1
        while before != self._changes:
            before = self._changes
            stored = {config.name: config for config in server_config.parse_rows(await self._rows.all())}
        if self._tasks is None:
            return
        added = [name for name in self._shared if name not in self._configured]
        gone = [name for name in added if name not in stored]
        for name in gone:
            self._drop(name)
        for name, config in stored.items():
            known = self._shared.get(name)
            if name not in self._configured and (known is None or not _is_same(known.config, config)):
                self._replace(config)
        self._without_tokens.clear()
        for name, user in list(self._personal):
            await self._check_sign_in(name, user)
        if gone:
            self._on_change()

    async def _check_sign_in(self, name: str, user: str) -> None:
        """End the connection of a user who has signed out, or has new tokens after these had failed, at another gateway."""
        before = self._personal.get((name, user))
        tokens = (await self._rows.tokens(name, user) or {}).get("tokens")
        connection = self._personal.get((name, user))
        if connection is None or connection is not before:
            return
        if connection.login is None or connection.login.is_under_way:
            return
        if connection.phase == "login":
            # It says why the sign-in failed: it stays unless there is something to try.
            is_old = bool(tokens) and tokens != self._tried.get((name, user))
        else:
            is_old = not tokens
        if not is_old:
            return
        self._tried[name, user] = tokens
        del self._personal[name, user]
        self._end(connection)

    def _start(self, config: ServerConfig, login: McpLogin | None = None) -> McpConnection:
        journal = Journal(config.secrets, self._now)

        def open_session(on_phase: Callable[[Phase], None]) -> AbstractAsyncContextManager[OpenSession]:
            return self._open_server(config, journal, login, on_phase)

        connection = McpConnection(
            config,
            journal,
            open_session,
            connect_s=self._connect_s,
            now=self._now,
            sleep=self._sleep,
            on_change=self._on_change,
            login=login,
        )
        if login is None:
            self._shared[config.name] = connection
        else:
            self._personal[config.name, login.user] = connection
        if self._tasks is None:
            raise Unavailable("The server is shutting down.")
        if not self._starting:
            self._starting = True
            self._tasks.start_soon(self._start_connecting)
        self._scopes[connection] = anyio.CancelScope()
        self._tasks.start_soon(self._supervise, connection, self._scopes[connection])
        return connection

    async def _supervise(self, connection: McpConnection, scope: anyio.CancelScope) -> None:
        with scope:
            await self._begun.wait()
            await connection.run()

    async def _start_connecting(self) -> None:
        if self._begin is not None:
            await self._begin()
        self._begun.set()

    def _end(self, connection: McpConnection) -> None:
        scope = self._scopes.pop(connection, None)
        if scope is not None:
            scope.cancel()

    @asynccontextmanager
    async def _open_session(
        self,
        config: ServerConfig,
        journal: Journal,
        login: McpLogin | None,
        on_phase: Callable[[Phase], None],
    ) -> AsyncIterator[OpenSession]:
        # Imported here: the SDK takes most of a second, and a server without tools never needs it.
        from duologue.tools.mcp import connect, oauth

        auth = None
        if login is not None:
            auth = oauth.provider(config.server.url, config.name, login, self._rows)
        checked = self._addresses if config.source == "admin" else None
        async with connect.open_session(
            config, journal, now=self._now, on_phase=on_phase, addresses=checked, auth=auth
        ) as session:
            yield session

    async def connections(self, user: str) -> tuple[McpConnection, ...]:
        """Every server's connection for `user`, sorted by name."""
        return tuple([await self.connection(name, user) for name in sorted(self._shared)])

    async def connection(self, name: str, user: str) -> McpConnection:
        """The connection of `user` to a server. Raises NotFound (tool_server_not_found)."""
        shared = self._shared.get(name)
        if shared is None:
            raise NotFound(f"There is no tool server {name!r}.", code="tool_server_not_found")
        if shared.phase != "login":
            return shared
        personal = self._personal.get((name, user))
        if personal is not None:
            return personal
        if (name, user) in self._without_tokens or self._tasks is None:
            return shared
        try:
            tokens = await self._rows.tokens(name, user)
        except Problem:
            # A failing store is reported elsewhere; the other tools stay usable.
            return shared
        if not tokens or not tokens.get("tokens"):
            self._without_tokens.add((name, user))
            return shared
        # The user signed in before a restart: reconnect with the stored tokens. Looked up again, because another
        # request may have started the connection while the tokens were read.
        return self._personal.get((name, user)) or self._start(
            shared.config, McpLogin(user, "", interactive=False)
        )

    async def sign_in(self, name: str, user: str, redirect: str) -> ServerHealth:
        """Start the sign-in of `user`. The returned health has the address to open, or a message why there is none.

        `redirect` is the callback URL on this server. Raises NotFound or BadRequest.
        """
        shared = self._shared.get(name)
        if shared is None:
            raise NotFound(f"There is no tool server {name!r}.", code="tool_server_not_found")
        if shared.config.server.command or shared.phase != "login":
            raise BadRequest(f"The tool server {name!r} does not require a sign-in.", code="no_login")
        previous = self._personal.pop((name, user), None)
        if previous is not None:
            self._end(previous)
        self._without_tokens.discard((name, user))
        connection = self._start(shared.config, McpLogin(user, redirect, interactive=True))
        await connection.wait_for_attempt()
        return connection.health()

    async def complete_sign_in(self, response: AuthorizationResponse) -> str:
        """Complete the sign-in `response` belongs to; returns the server's name. Raises BadRequest (login_over)."""
        name, login = self._pending_login(response.state)
        login.complete(response)
        return name

    async def reject_sign_in(self, state: str, reason: str) -> None:
        """End a sign-in the server rejected. Raises BadRequest (login_over)."""
        name, login = self._pending_login(state)
        self._personal[name, login.user].journal.add(f"The sign-in was rejected: {reason}")
        login.complete(AuthorizationResponse("", state))

    def _pending_login(self, state: str) -> tuple[str, McpLogin]:
        for (name, _), connection in self._personal.items():
            if state and connection.login is not None and connection.login.state == state:
                return name, connection.login
        raise BadRequest("This sign-in is unknown or has expired; start again.", code="login_over")

    async def sign_out(self, name: str, user: str) -> None:
        """Delete `user`'s tokens for a server and close their connection."""
        connection = self._personal.pop((name, user), None)
        if connection is not None:
            self._end(connection)
        await self._rows.save_tokens(name, user, {})

    async def add(self, name: str, fields: Mapping[str, Any], *, user: str, keyed: bool) -> ServerHealth:
        """Add a server, or replace one that was added. Raises as `server_config.parse_new`."""
        config = server_config.parse_new(name, fields, keyed=keyed, taken=self._configured)
        if name not in self._shared and len(self._shared) - len(self._configured) >= SERVERS:
            raise BadRequest(
                f"The limit of {SERVERS} added tool servers is reached.", code="too_many_servers"
            )
        await self._rows.put(name, server_config.dump(config.server), user)
        self._changes += 1
        self._replace(config)
        return self._shared[name].health()

    async def switch(self, name: str, *, disabled: bool, user: str, keyed: bool) -> ServerHealth:
        """Enable or disable an added server. Raises NotFound, Forbidden or BadRequest."""
        config = self._added_config(name)
        if config.server.command and not disabled and not keyed:
            raise Forbidden(
                "A server that runs a command can only be switched on by an admin who used a key.",
                code="key_needed",
            )
        server = config.server.model_copy(update={"disabled": disabled})
        await self._rows.put(name, server_config.dump(server) | {"disabled": disabled}, user)
        self._changes += 1
        self._replace(ServerConfig(name, server, "admin"))
        return self._shared[name].health()

    async def remove(self, name: str) -> None:
        """Delete an added server. Raises NotFound, or BadRequest for a server of the configuration."""
        self._added_config(name)
        await self._rows.delete(name)
        self._changes += 1
        self._drop(name)
        self._on_change()

    def _added_config(self, name: str) -> ServerConfig:
        connection = self._shared.get(name)
        if connection is None:
            raise NotFound(f"There is no tool server {name!r}.", code="tool_server_not_found")
        if name in self._configured:
            raise BadRequest(
                f"The tool server {name!r} is defined in the configuration and can only be changed there.",
                code="configured_server",
            )
        return connection.config

    def _replace(self, config: ServerConfig) -> None:
        self._drop(config.name)
        self._start(config)

    def _drop(self, name: str) -> None:
        keys = [key for key in self._personal if key[0] == name]
        connections = [self._personal.pop(key) for key in keys]
        if name in self._shared:
            connections.append(self._shared.pop(name))
        for connection in connections:
            self._end(connection)
        self._without_tokens = {key for key in self._without_tokens if key[0] != name}
        self._tried = {key: tokens for key, tokens in self._tried.items() if key[0] != name}


def _is_same(one: ServerConfig, other: ServerConfig) -> bool:
    """Whether they are reached in the same way, whichever of the fields were given."""
    full = [
        config.server.model_dump(mode="json") | {"headers": dict(config.server.headers)}
        for config in (one, other)
    ]
    return full[0] == full[1]
