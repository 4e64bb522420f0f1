"""The tools of this server, whoever serves them: what a turn is offered, and the call of one of them.

The one door of this room for those who run replies. Puts together names, fitting, the built-in tools and the
connections; decides nothing of its own about any of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Literal, Protocol, Self

import anyio
import msgspec
from msgspec import json

from duologue.config import Settings
from duologue.errors import BadRequest, Problem
from duologue.tools import names, schema_budget
from duologue.tools.arguments import check, parse_arguments
from duologue.tools.builtin.catalogue import BuiltinTools, SearchConversations, ZoneOfUser
from duologue.tools.mcp import server_config
from duologue.tools.mcp.call_context import ToolCallContext
from duologue.tools.mcp.capabilities import (
    FilledPrompt,
    ResourceTemplate,
    ServerPrompt,
    ServerResource,
    ServerTool,
)
from duologue.tools.mcp.connection import McpConnection
from duologue.tools.mcp.health import LogLine, ServerHealth
from duologue.tools.mcp.registry import OpenServer, ServerRegistry, ServerRows
from duologue.tools.ssrf_guard import AddressGuard, AllowList
from duologue.tools.values import (
    BUILTIN,
    Ask,
    Keep,
    LeftOut,
    Offer,
    OfferedTool,
    Report,
    ToolOutcome,
    failure,
)
from duologue.values.conversations import Content, GenerationOptions
from duologue.values.messages import Tool
from duologue.values.messages import user as message_of
from duologue.values.requests import ChatRequest

__all__ = ["LeftOut", "Offer", "OfferedTool", "ToolOutcome", "Toolbox"]

INSTRUCTIONS = 1500
"""Characters of one server's instructions a model gets."""
BLOCKS = 256
"""Sizes of tool blocks that are remembered: counting one asks a worker."""


class Counted(Protocol):
    """How long a prompt is, in tokens."""

    @property
    def tokens(self) -> int: ...


Count = Callable[[ChatRequest], Awaitable[Counted]]


class Toolbox:
    """Every tool there is. `async with toolbox.running()` keeps the connections; nothing waits for them to be made.

    `search` looks through a user's conversations; `rows` are the store's tool servers; `now` gives ms since 1970. `zone`
    tells where a user is, `home` where the others are. No connection is made before `begin` has returned.
    """

    def __init__(
        self,
        settings: Settings,
        rows: ServerRows,
        *,
        now: Callable[[], int],
        search: SearchConversations | None = None,
        zone: ZoneOfUser | None = None,
        home: str = "UTC",
        addresses: AddressGuard | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        on_change: Callable[[], None] = lambda: None,
        open_server: OpenServer | None = None,
        begin: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        addresses = addresses or AddressGuard(AllowList(settings.tools.private_addresses))
        self._now = now
        self._builtin = BuiltinTools(settings.tools.builtin, addresses, search, now=now, zone=zone, home=home)
        self._started = now()
        self._used: dict[str, int] = {}
        self._uses = 0
        self._sizes: dict[bytes, int] = {}
        self._made: dict[str, tuple[Sequence[ServerTool], tuple[str, ...], tuple[OfferedTool, ...], int]] = {}
        self.registry = ServerRegistry(
            server_config.load(settings.mcp),
            rows,
            addresses,
            connect_s=settings.mcp.connect_s,
            now=now,
            sleep=sleep,
            on_change=on_change,
            open_server=open_server,
            begin=begin,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """The connections, kept up while this lasts."""
        async with self.registry.running():
            yield self

    async def offer(
        self,
        user: str,
        options: GenerationOptions,
        *,
        budget_tokens: int | None = None,
        count: Count | None = None,
    ) -> Offer:
        """What a turn of `user` may use. The tools get `budget_tokens` (a third of the model's context; None: as many
        as they take).

        `count` says how long a prompt is; without it, and where it fails, that is estimated.
        """
        if options.tools is False:
            return Offer()
        candidates: list[schema_budget.Candidate] = []
        left_out: list[LeftOut] = []
        instructions: dict[str, str] = {}
        connections = await self.registry.connections(user)
        known = names.model_names(
            [(BUILTIN, tool.name) for tool in self._builtin.tools]
            + [(one.config.name, tool.name) for one in connections for tool in one.listing.tools]
        )
        if self._builtin.tools and options.servers.get(BUILTIN, True):
            candidates.append(self._candidate(BUILTIN, self._builtin.tools, known))
        for connection in connections:
            name = connection.config.name
            if not options.servers.get(name, True) or connection.phase == "off":
                continue
            if connection.phase != "ready":
                left_out.append(LeftOut(name, _why(connection)))
            elif connection.listing.tools:
                candidates.append(self._candidate(name, connection.listing.tools, known))
                instructions[name] = connection.about.instructions
        if budget_tokens is not None and count is not None:
            candidates = [await self._measured(one, options.model, count) for one in candidates]
        tools, too_large = schema_budget.fit(candidates, budget_tokens)
        offered = {tool.server for tool in tools}
        said = [
            f"About the tools of {name}: {schema_budget.shorten(words, INSTRUCTIONS)}"
            for name, words in sorted(instructions.items())
            if words.strip() and name in offered
        ]
        return Offer(tools, (*left_out, *too_large), "\n\n".join(said))

    def _candidate(
        self, server: str, tools: Sequence[ServerTool], known: Mapping[tuple[str, str], str]
    ) -> schema_budget.Candidate:
        called = tuple(known[server, tool.name] for tool in tools)
        made = self._made.get(server)
        # A listing is replaced as a whole when it changes: the same one under the same names is offered the same.
        if made is None or made[0] is not tools or made[1] != called:
            offered = tuple(_offered(server, tool, name) for tool, name in zip(tools, called, strict=True))
            made = self._made[server] = (tools, called, offered, schema_budget.estimate_tokens(offered))
        return schema_budget.Candidate(server, made[2], made[3], self._used.get(server, 0))

    async def _measured(
        self, candidate: schema_budget.Candidate, model: str, count: Count
    ) -> schema_budget.Candidate:
        """`candidate` with what its tools really take, where that can be counted."""
        tools = tuple(Tool(one.name, one.description, one.parameters) for one in candidate.tools)
        key = hashlib.blake2b(json.encode((model, tools)), digest_size=16).digest()
        tokens = self._sizes.get(key)
        if tokens is None:
            plain = ChatRequest((message_of("."),), model=model)
            try:
                bare = (await count(plain)).tokens
                tokens = (await count(msgspec.structs.replace(plain, tools=tools))).tokens - bare
            except Problem:
                return candidate
            while len(self._sizes) >= BLOCKS:
                del self._sizes[next(iter(self._sizes))]
            self._sizes[key] = tokens
        return msgspec.structs.replace(candidate, tokens=tokens)

    async def call(
        self,
        tool: OfferedTool,
        arguments: str | Mapping[str, object],
        *,
        user: str,
        conversation: str,
        report: Report,
        ask: Ask,
        keep: Keep,
    ) -> ToolOutcome:
        """Call a tool with the arguments as the model wrote them. Every failure is an outcome the model can act on.

        Cancelling the caller cancels the call at its server. There is no limit of time here: the caller has one.
        """
        self._uses += 1
        self._used[tool.server] = self._uses
        try:
            given = parse_arguments(arguments) if isinstance(arguments, str) else arguments
            if tool.server == BUILTIN:
                return await self._builtin.call(tool.tool, given, user)
            connection = await self.registry.connection(tool.server, user)
            described = next((one for one in connection.listing.tools if one.name == tool.tool), None)
            if described is not None:
                check(described.schema, given)
            elif connection.phase == "ready":
                return failure(f"The tool server {tool.server} no longer has a tool {tool.tool!r}.")
            context = ToolCallContext(tool.server, tool.tool, user, conversation, ask, report)
            return await connection.call(tool.tool, given, context, keep)
        except Problem as problem:
            return failure(problem.message)

    async def servers(self, user: str) -> tuple[ServerHealth, ...]:
        """How every server is, as `user` has it: the built-in tools first, then by name."""
        own = ServerHealth(
            BUILTIN, "ready", self._started, "builtin", title="Built-in tools", tools=len(self._builtin.tools)
        )
        return (own, *[connection.health() for connection in await self.registry.connections(user)])

    async def tools(self, user: str) -> dict[str, tuple[ServerTool, ...]]:
        """The tools of every server, as their servers describe them."""
        connections = await self.registry.connections(user)
        return {BUILTIN: self._builtin.tools} | {
            connection.config.name: connection.listing.tools for connection in connections
        }

    async def log(self, server: str, user: str) -> tuple[LogLine, ...]:
        """The last lines of a server's log. Raises NotFound."""
        return (await self.registry.connection(server, user)).journal.lines()

    async def reconnect(self, server: str, user: str) -> ServerHealth:
        """Try a server now; how it is once that try has come to something. Raises NotFound."""
        connection = await self.registry.connection(server, user)
        await connection.reconnect_and_wait()
        return connection.health()

    async def resources(
        self, user: str
    ) -> dict[str, tuple[tuple[ServerResource, ...], tuple[ResourceTemplate, ...]]]:
        """What can be read, by server: resources, and patterns of more."""
        return {
            connection.config.name: (connection.listing.resources, connection.listing.templates)
            for connection in await self.registry.connections(user)
            if connection.listing.resources or connection.listing.templates
        }

    async def read(self, server: str, uri: str, *, user: str, keep: Keep) -> tuple[Content, ...]:
        """A resource as it is now. Raises NotFound or Unavailable."""
        connection = await self.registry.connection(server, user)
        return await connection.request(lambda session: session.read(uri, keep))

    async def prompts(self, user: str) -> dict[str, tuple[ServerPrompt, ...]]:
        """The prompts that can be asked for, by server."""
        return {
            connection.config.name: connection.listing.prompts
            for connection in await self.registry.connections(user)
            if connection.listing.prompts
        }

    async def prompt(
        self, server: str, name: str, arguments: Mapping[str, str], *, user: str, keep: Keep
    ) -> FilledPrompt:
        """A prompt, filled in. Raises NotFound, BadRequest or Unavailable."""
        connection = await self.registry.connection(server, user)
        known = next((one for one in connection.listing.prompts if one.name == name), None)
        missing = (
            [one.name for one in known.arguments if one.required and not arguments.get(one.name)]
            if known
            else []
        )
        if missing:
            raise BadRequest(f"The prompt {name!r} needs {', '.join(missing)}.", param="arguments")
        return await connection.request(lambda session: session.prompt(name, arguments, keep))

    async def complete(
        self,
        server: str,
        kind: Literal["prompt", "resource"],
        name: str,
        argument: str,
        value: str,
        context: Mapping[str, str],
        *,
        user: str,
    ) -> tuple[str, ...]:
        """Values an argument of a prompt or a resource's pattern may take. Raises NotFound or Unavailable."""
        connection = await self.registry.connection(server, user)
        return await connection.request(
            lambda session: session.complete(kind, name, argument, value, context)
        )


def _offered(server: str, tool: ServerTool, name: str) -> OfferedTool:
    return OfferedTool(
        name=name,
        server=server,
        tool=tool.name,
        title=tool.title,
        description=schema_budget.shorten(tool.description, schema_budget.TOOL_DESCRIPTION),
        parameters=schema_budget.compact(tool.schema),
        read_only=tool.read_only,
    )


def _why(connection: McpConnection) -> str:
    match connection.phase:
        case "idle" | "starting" | "handshake" | "listing":
            return "It is still starting."
        case "login":
            return "It wants you to sign in there first."
        case _:
            return f"It cannot be reached now: {connection.message}"
