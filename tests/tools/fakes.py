"""What tests of the tools give in place of a store, a person, and servers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from msgspec import Struct

from duologue.config.sections.mcp import McpServer
from duologue.tools.mcp.call_context import SessionLost, ToolCallContext
from duologue.tools.mcp.capabilities import About, FilledPrompt, Listing, ServerTool
from duologue.tools.mcp.health import Journal, Phase
from duologue.tools.mcp.login import McpLogin
from duologue.tools.mcp.server_config import ServerConfig
from duologue.tools.values import ElicitationAnswer, Keep, ToolOutcome
from duologue.values.conversations import Approval, Content, ImageContent, TextContent

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
}


class Row(Struct, frozen=True):
    name: str
    config: dict[str, Any]
    user: str = "local"
    created: int = 0


class Rows:
    """The store's tool servers, in memory."""

    def __init__(self, *rows: Row) -> None:
        self.rows = {row.name: row for row in rows}
        self.saved_tokens: dict[tuple[str, str], dict[str, Any]] = {}

    async def all(self) -> list[Row]:
        return [self.rows[name] for name in sorted(self.rows)]

    async def put(self, name: str, config: dict[str, Any], user: str) -> None:
        self.rows[name] = Row(name, config, user)

    async def delete(self, name: str) -> None:
        del self.rows[name]

    async def tokens(self, name: str, user: str) -> dict[str, Any] | None:
        return self.saved_tokens.get((name, user))

    async def save_tokens(self, name: str, user: str, tokens: dict[str, Any]) -> None:
        self.saved_tokens[name, user] = tokens


class Person:
    """The user of a tool call: records questions, reports and files, and gives the configured answer."""

    def __init__(self, answer: ElicitationAnswer | None = None) -> None:
        self.answer = answer or ElicitationAnswer("decline")
        self.questions: list[Approval] = []
        self.reports: list[tuple[str, float, float]] = []
        self.files: list[tuple[bytes, str, str]] = []

    async def ask(self, approval: Approval) -> ElicitationAnswer:
        self.questions.append(approval)
        return self.answer

    async def report(self, text: str, progress: float, total: float) -> None:
        self.reports.append((text, progress, total))

    async def keep(self, data: bytes, name: str, mime: str) -> Content:
        self.files.append((data, name, mime))
        return ImageContent(blob="0" * 64, mime=mime, name=name)

    def context(self, tool: str = "echo", user: str = "ann", server: str = "s") -> ToolCallContext:
        return ToolCallContext(server, tool, user, "c", self.ask, self.report)


class FakeSession:
    """A session with a server that has one tool, `echo`."""

    def __init__(
        self, tools: tuple[ServerTool, ...] = (ServerTool("echo", "Echo", "Says it.", SCHEMA),)
    ) -> None:
        self.news = anyio.Event()
        self.stale = False
        self.ended = False
        self.about = About("Fake", "1", "2026-07-28", "Use echo to echo.")
        self.tools = tools
        self.calls: list[tuple[str, dict[str, object]]] = []
        self.losing: list[bool] = []
        """For each of the next calls that lose the session: whether the server never heard of it."""

    async def listing(self) -> Listing:
        self.stale = False
        return Listing(tools=self.tools)

    async def listen(self) -> None:
        return

    def lost(self) -> None:
        self.ended = True
        self.news.set()

    def changed(self, *tools: ServerTool) -> None:
        self.tools, self.stale = tools, True
        self.news.set()

    async def call_tool(
        self, tool: str, arguments: Mapping[str, object], context: ToolCallContext, keep: Keep
    ) -> ToolOutcome:
        if self.losing:
            undelivered = self.losing.pop(0)
            self.lost()
            raise SessionLost(undelivered=undelivered)
        self.calls.append((tool, dict(arguments)))
        return ToolOutcome((TextContent(f"{tool} {arguments.get('word', '')}"),))

    async def read(self, uri: str, keep: Keep) -> tuple[Content, ...]:
        return (TextContent(uri),)

    async def prompt(self, name: str, arguments: Mapping[str, str], keep: Keep) -> FilledPrompt:
        return FilledPrompt(name, (("user", str(dict(arguments))),))

    async def complete(
        self, kind: str, name: str, argument: str, value: str, context: Mapping[str, str]
    ) -> tuple[str, ...]:
        return (f"{value}!",)


class Servers:
    """Opens sessions: the next of `answers` for each try, an exception to raise or a session to give; after the last
    one a new session each time."""

    def __init__(self, *answers: Exception | FakeSession) -> None:
        self.answers = list(answers)
        self.opened: list[FakeSession] = []
        self.tries = 0

    @asynccontextmanager
    async def connection(self, on_phase: Callable[[Phase], None]) -> AsyncIterator[FakeSession]:
        self.tries += 1
        on_phase("handshake")
        answer = self.answers.pop(0) if self.answers else FakeSession()
        if isinstance(answer, Exception):
            raise answer
        self.opened.append(answer)
        yield answer

    @asynccontextmanager
    async def server(
        self,
        config: ServerConfig,
        journal: Journal,
        login: McpLogin | None,
        on_phase: Callable[[Phase], None],
    ) -> AsyncIterator[FakeSession]:
        async with self.connection(on_phase) as session:
            yield session


class Time:
    """A clock that stands until it is moved, and sleeps that end when it is."""

    def __init__(self) -> None:
        self.ms = 1_700_000_000_000
        self.sleeps: list[float] = []
        self._woken = anyio.Event()

    def now(self) -> int:
        return self.ms

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        until = self.ms + int(seconds * 1000)
        while self.ms < until:
            await self._woken.wait()

    def move(self, seconds: float) -> None:
        self.ms += int(seconds * 1000)
        self._woken.set()
        self._woken = anyio.Event()


def server_config(name: str = "s", **server: Any) -> ServerConfig:
    return ServerConfig(name, McpServer.model_validate(server or {"command": "true"}), "config")


async def until(condition: Callable[[], object]) -> None:
    """Give the other tasks their turns until `condition` holds; five seconds at most."""
    with anyio.fail_after(60):
        while not condition():  # noqa: ASYNC110 - what is waited for is another task's state, which tells nobody
            await anyio.sleep(0.001)
