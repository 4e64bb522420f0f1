"""The interface of this package: offers tools to model turns and runs tool calls.

Used by conversations and by the `/api/mcp` routes. Combines names, schema budget, built-in tools and MCP connections.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Literal, NamedTuple, Protocol, Self

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

INSTRUCTIONS = 1500
"""Maximum characters of one server's instructions in a prompt."""
BLOCKS = 256
"""Cached sizes of tool blocks: counting one takes a round trip to a worker."""


class TokenCount(Protocol):
    """The length of a prompt, in tokens."""

    @property
    def tokens(self) -> int: ...


Count = Callable[[ChatRequest, str], Awaitable[TokenCount]]
"""The size of a request's prompt, which this user asks for."""


class _ServerOffer(NamedTuple):
    """A server's tools as they are offered, with the listing and names they were made from."""

    source: Sequence[ServerTool]
    names: tuple[str, ...]
    tools: tuple[OfferedTool, ...]
    tokens: int


class Toolbox:
    """All tools of this server. `async with toolbox.running()` holds the connections and does not wait for them.

    `search` searches a user's conversations; `rows` are the stored tool servers; `now` gives ms since 1970. `zone` gives
    a user's time zone, `home` the default one. No connection is made before `begin` has returned.
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
        self._last_use: dict[str, int] = {}
        self._uses = 0
        self._sizes: dict[bytes, int] = {}
        self._offers: dict[str, _ServerOffer] = {}
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
        """Hold the connections while the block runs."""
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
        """The tools for a turn of `user`, in at most `budget_tokens` (callers give a third of the context; None: no limit).

        `count` counts the tokens of a prompt; without it, or when it fails, sizes are estimated.
        """
        if options.tools is False:
            return Offer()
        candidates: list[schema_budget.Candidate] = []
        left_out: list[LeftOut] = []
        instructions: dict[str, str] = {}
        connections = await self.registry.connections(user)
        model_names = names.model_names(
            [(BUILTIN, tool.name) for tool in self._builtin.tools]
            + [(one.config.name, tool.name) for one in connections for tool in one.listing.tools]
        )
        if self._builtin.tools and options.servers.get(BUILTIN, True):
            candidates.append(self._candidate(BUILTIN, self._builtin.tools, model_names))
        for connection in connections:
            name = connection.config.name
            if not options.servers.get(name, True) or connection.phase == "off":
                continue
            if connection.phase != "ready":
                left_out.append(LeftOut(name, _unavailable_reason(connection)))
            elif connection.listing.tools:
                candidates.append(self._candidate(name, connection.listing.tools, model_names))
                instructions[name] = connection.about.instructions
        if budget_tokens is not None and count is not None:
            candidates = [await self._with_token_count(one, options.model, user, count) for one in candidates]
        tools, too_large = schema_budget.fit(candidates, budget_tokens)
        servers = {tool.server for tool in tools}
        sections = [
            f"About the tools of {name}: {schema_budget.shorten(words, INSTRUCTIONS)}"
            for name, words in sorted(instructions.items())
            if words.strip() and name in servers
        ]
        return Offer(tools, (*left_out, *too_large), "\n\n".join(sections))

    def _candidate(
        self, server: str, tools: Sequence[ServerTool], model_names: Mapping[tuple[str, str], str]
    ) -> schema_budget.Candidate:
        tool_names = tuple(model_names[server, tool.name] for tool in tools)
        entry = self._offers.get(server)
        # A connection replaces its listing as a whole when it changes, so identity is enough to know it is the same.
        # The names are compared too: a tool that another server adds can rename ours.
        if entry is None or entry.source is not tools or entry.names != tool_names:
            offer = tuple(
                _offered_tool(server, tool, name) for tool, name in zip(tools, tool_names, strict=True)
            )
            entry = _ServerOffer(tools, tool_names, offer, schema_budget.estimate_tokens(offer))
            self._offers[server] = entry
        return schema_budget.Candidate(server, entry.tools, entry.tokens, self._last_use.get(server, 0))

    async def _with_token_count(
        self, candidate: schema_budget.Candidate, model: str, user: str, count: Count
    ) -> schema_budget.Candidate:
        """`candidate` with the counted size of its tools, or unchanged when counting fails."""
        tools = tuple(Tool(one.name, one.description, one.parameters) for one in candidate.tools)
        key = hashlib.blake2b(json.encode((model, tools)), digest_size=16).digest()
        tokens = self._sizes.get(key)
        if tokens is None:
            plain = ChatRequest((message_of("."),), model=model)
            try:
                bare = (await count(plain, user)).tokens
                tokens = (await count(msgspec.structs.replace(plain, tools=tools), user)).tokens - bare
            except Problem:
                return candidate
            while len(self._sizes) >= BLOCKS:
                del self._sizes[next(iter(self._sizes))]
            self._sizes[key] = tokens
        return msgspec.structs.replace(candidate, tokens=tokens)

    async def call_tool(
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
        """Run a tool with the arguments as the model wrote them. Every failure is an outcome the model can act on.

        Cancelling the caller cancels the tool call at its server. There is no timeout here: the caller sets one.
        """
        self._uses += 1
        self._last_use[tool.server] = self._uses
        try:
            values = parse_arguments(arguments) if isinstance(arguments, str) else arguments
            if tool.server == BUILTIN:
                return await self._builtin.call_tool(tool.tool, values, user)
            connection = await self.registry.connection(tool.server, user)
            server_tool = next((one for one in connection.listing.tools if one.name == tool.tool), None)
            if server_tool is not None:
                check(server_tool.schema, values)
            elif connection.phase == "ready":
                return failure(f"The tool server {tool.server} no longer has a tool {tool.tool!r}.")
            context = ToolCallContext(tool.server, tool.tool, user, conversation, ask, report)
            return await connection.call_tool(tool.tool, values, context, keep)
        except Problem as problem:
            return failure(problem.message)

    async def servers(self, user: str) -> tuple[ServerHealth, ...]:
        """The health of every server as `user` sees it: the built-in tools first, then by name."""
        own = ServerHealth(
            BUILTIN, "ready", self._started, "builtin", title="Built-in tools", tools=len(self._builtin.tools)
        )
        return (own, *[connection.health() for connection in await self.registry.connections(user)])

    async def tools(self, user: str) -> dict[str, tuple[ServerTool, ...]]:
        """The tools of every server, as the servers describe them."""
        connections = await self.registry.connections(user)
        return {BUILTIN: self._builtin.tools} | {
            connection.config.name: connection.listing.tools for connection in connections
        }

    async def log(self, server: str, user: str) -> tuple[LogLine, ...]:
        """The last lines of a server's log. Raises NotFound."""
        return (await self.registry.connection(server, user)).journal.lines()

    async def reconnect(self, server: str, user: str) -> ServerHealth:
        """Reconnect to a server and return its health after the attempt. Raises NotFound."""
        connection = await self.registry.connection(server, user)
        await connection.reconnect_and_wait()
        return connection.health()

    async def resources(
        self, user: str
    ) -> dict[str, tuple[tuple[ServerResource, ...], tuple[ResourceTemplate, ...]]]:
        """Resources and resource templates, by server."""
        return {
            connection.config.name: (connection.listing.resources, connection.listing.templates)
            for connection in await self.registry.connections(user)
            if connection.listing.resources or connection.listing.templates
        }

    async def read(self, server: str, uri: str, *, user: str, keep: Keep) -> tuple[Content, ...]:
        """Read a resource. Raises NotFound or Unavailable."""
        connection = await self.registry.connection(server, user)
        return await connection.request(lambda session: session.read(uri, keep))

    async def prompts(self, user: str) -> dict[str, tuple[ServerPrompt, ...]]:
        """The prompts of every server that has any."""
        return {
            connection.config.name: connection.listing.prompts
            for connection in await self.registry.connections(user)
            if connection.listing.prompts
        }

    async def prompt(
        self, server: str, name: str, arguments: Mapping[str, str], *, user: str, keep: Keep
    ) -> FilledPrompt:
        """Fill in a prompt. Raises NotFound, BadRequest or Unavailable."""
        connection = await self.registry.connection(server, user)
        prompt = next((one for one in connection.listing.prompts if one.name == name), None)
        missing = (
            [one.name for one in prompt.arguments if one.required and not arguments.get(one.name)]
            if prompt
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
        """Complete an argument of a prompt or a resource template. Raises NotFound or Unavailable."""
        connection = await self.registry.connection(server, user)
        return await connection.request(
            lambda session: session.complete(kind, name, argument, value, context)
        )


def _offered_tool(server: str, tool: ServerTool, name: str) -> OfferedTool:
    return OfferedTool(
        name=name,
        server=server,
        tool=tool.name,
        title=tool.title,
        description=schema_budget.shorten(tool.description, schema_budget.TOOL_DESCRIPTION),
        parameters=schema_budget.compact(tool.schema),
        read_only=tool.read_only,
    )


def _unavailable_reason(connection: McpConnection) -> str:
    match connection.phase:
        case "idle" | "starting" | "handshake" | "listing":
            return "It is still starting."
        case "login":
            return "You need to sign in to this server first."
        case _:
            return f"It is unavailable: {connection.message}"
