"""One session with one MCP server, on the official SDK.

Supports both generations of the protocol: `server/discover` is tried first, then the `initialize` handshake. Converts
the SDK's types and errors to this package's. Never reconnects: `connection` opens a new session instead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeVar

import anyio
import httpx2
import mcp_types as types
from mcp.client import Client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from duologue.errors import BadRequest, Unavailable
from duologue.tools import results
from duologue.tools.arguments import check
from duologue.tools.mcp.bounded_http import TransportState
from duologue.tools.mcp.call_context import SessionLost, ToolCallContext, ToolCallContexts
from duologue.tools.mcp.capabilities import (
    About,
    FilledPrompt,
    Listing,
)
from duologue.tools.mcp.health import Journal
from duologue.tools.mcp.listing import DESCRIPTION, ENTRIES, TITLE, ListingReader
from duologue.tools.mcp.server_config import ServerConfig
from duologue.tools.values import ElicitationAnswer, Keep, ToolOutcome, failure
from duologue.values.conversations import Content, ResourceContent, TextContent

PAGES = 20
"""Maximum pages read of one list, against servers whose cursor never ends."""
CURSOR = 4096
"""Longest cursor that is sent back."""
PROGRESS = 500
"""Characters of a progress report; each is stored and sent to every viewer."""
ERROR = 2000
"""Characters of an error message."""
# The SDK's messages for an HTTP error without a JSON-RPC body, and the statuses of an unknown session: 404 by the
# specification, but some servers answer 400 because they look the session up before they read the request.
UNREAD = ("Session terminated", "Server returned an error response")
FORGOTTEN = (400, 401, 404)


R = TypeVar("R")


class McpSession:
    """An open session, usable from any task. `news` is set when it ends or its lists change."""

    def __init__(
        self, config: ServerConfig, journal: Journal, state: TransportState, now: Callable[[], int]
    ) -> None:
        self._config = config
        self._journal = journal
        self._state = state
        state.on_end = self._on_end
        self._now = now
        self._contexts = ToolCallContexts()
        self._client: Client | None = None
        self.news = anyio.Event()
        self.stale = False

    @property
    def ended(self) -> bool:
        return self._state.ended.is_set()

    @property
    def about(self) -> About:
        client = self._connected()
        info = client.server_info
        return About(
            title=(info.title or info.name)[:TITLE] if info else "",
            version=info.version[:TITLE] if info else "",
            protocol=client.protocol_version[:TITLE],
            instructions=(client.instructions or "")[:DESCRIPTION],
        )

    async def listing(self) -> Listing:
        """Read the server's lists. Raises SessionLost or Unavailable."""
        client = self._connected()
        can = client.server_capabilities
        self.stale = False
        tools: list[Any] = []
        resources: list[Any] = []
        templates: list[Any] = []
        prompts: list[Any] = []
        if can.tools is not None:
            tools = await self._pages(client.list_tools, "tools")
        if can.resources is not None:
            resources = await self._pages(client.list_resources, "resources")
            templates = await self._pages(client.list_resource_templates, "resource_templates", optional=True)
        if can.prompts is not None:
            prompts = await self._pages(client.list_prompts, "prompts")
        reader = ListingReader()
        listing = Listing(
            reader.tools(tools),
            reader.resources(resources),
            reader.templates(templates),
            reader.prompts(prompts),
        )
        if reader.left_out:
            self._journal.add(
                f"{reader.left_out:,} entries of its lists were left out: too many, too large, or a name twice."
            )
        return listing

    async def _pages(
        self, ask: Callable[..., Awaitable[Any]], field: str, *, optional: bool = False
    ) -> list[Any]:
        entries: list[Any] = []
        cursor: str | None = None
        for _ in range(PAGES):
            try:
                page = await self._request(ask(cursor=cursor, cache_mode="refresh"))
            except Unavailable:
                if optional:
                    return entries
                raise
            # One more than is kept, so that the reader can tell that there were more.
            entries += getattr(page, field)[: ENTRIES + 1 - len(entries)]
            before, cursor = cursor, page.next_cursor
            if cursor is None or cursor == before or len(cursor) > CURSOR or len(entries) > ENTRIES:
                break
        return entries

    async def call_tool(
        self, tool: str, arguments: Mapping[str, object], context: ToolCallContext, keep: Keep
    ) -> ToolOutcome:
        """Run a tool. An error of the tool is a failed outcome; raises SessionLost when the connection ends before the
        answer."""
        client = self._connected()

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            await context.report((message or "")[:PROGRESS], progress, total or 0.0)

        async def attempt() -> Any:
            return await self._request(
                client.call_tool(tool, dict(arguments), progress_callback=on_progress), urls=True
            )

        with self._contexts.track(context):
            try:
                try:
                    result = await attempt()
                except UrlElicitationRequiredError as needed:
                    for page in needed.elicitations:
                        answer = await context.link(page.message, page.url, self._now())
                        if answer.decision != "accept":
                            return failure("The user did not open the page that this tool requires first.")
                    result = await attempt()
            except UrlElicitationRequiredError:
                return failure(
                    "This tool requires a page to be opened first. The user opened it, but the tool still refuses."
                )
            except Unavailable as problem:
                return failure(problem.message)
        return await results.convert_result(result, self._config.name, keep)

    async def read(self, uri: str, keep: Keep) -> tuple[Content, ...]:
        """Read a resource. Raises Unavailable or Lost."""
        result = await self._request(self._connected().read_resource(uri))
        contents = [
            await results.convert_resource(one, self._config.name, keep)
            for one in result.contents[: results.BLOCKS]
        ]
        return results.truncate_contents(contents)

    async def prompt(self, name: str, arguments: Mapping[str, str], keep: Keep) -> FilledPrompt:
        """Fill in a prompt. Raises Unavailable or Lost."""
        result = await self._request(self._connected().get_prompt(name, dict(arguments)))
        messages: list[tuple[str, str]] = []
        for message in result.messages[: results.BLOCKS]:
            for content in await results.convert_blocks([message.content], self._config.name, keep):
                if isinstance(content, TextContent | ResourceContent):
                    messages.append((message.role, results.truncate(content.text)))
                else:
                    messages.append((message.role, f"[{type(content).__name__}]"))
        return FilledPrompt((result.description or "")[:DESCRIPTION], tuple(messages))

    async def complete(
        self,
        kind: Literal["prompt", "resource"],
        name: str,
        argument: str,
        value: str,
        context: Mapping[str, str],
    ) -> tuple[str, ...]:
        """Completions of `value` for an argument; empty when the server supports none."""
        client = self._connected()
        if client.server_capabilities.completions is None:
            return ()
        reference: types.PromptReference | types.ResourceTemplateReference
        if kind == "prompt":
            reference = types.PromptReference(type="ref/prompt", name=name)
        else:
            reference = types.ResourceTemplateReference(type="ref/resource", uri=name)
        result = await self._request(
            client.complete(reference, {"name": argument, "value": value}, dict(context) or None)
        )
        return tuple(value[:ERROR] for value in result.completion.values[:100])

    async def listen(self) -> None:
        """Subscribe to list changes, which newer servers send only to subscribers. Returns when the session ends."""
        client = self._connected()
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        can = client.server_capabilities
        tools = bool(can.tools and can.tools.list_changed)
        prompts = bool(can.prompts and can.prompts.list_changed)
        resources = bool(can.resources and can.resources.list_changed)
        if not (tools or prompts or resources):
            return
        try:
            async with client.listen(
                tools_list_changed=tools, prompts_list_changed=prompts, resources_list_changed=resources
            ) as changes:
                async for _ in changes:
                    self._changed()
        except (ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError) as error:
            self._journal.add(f"Its subscription to list changes ended: {error}")

    def _connected(self) -> Client:
        if self._client is None or self.ended:
            raise SessionLost(undelivered=True)
        return self._client

    async def _request(self, answer: Awaitable[R], *, urls: bool = False) -> R:
        """Await `answer`, converting the SDK's errors to SessionLost or Unavailable."""
        try:
            return await answer
        except MCPError as error:
            if urls and error.code == types.URL_ELICITATION_REQUIRED:
                raise _page_needed(error) from None
            if error.message in UNREAD and self._state.status in FORGOTTEN:
                self.lost()
                raise SessionLost(undelivered=True) from None
            if error.code == types.CONNECTION_CLOSED:
                self.lost()
                raise SessionLost(undelivered=isinstance(self._state.refused, httpx2.ConnectError)) from None
            message = self._journal.redact((error.message or f"error {error.code}")[:ERROR])
            self._journal.add(message, "server")
            raise Unavailable(
                f"The tool server {self._config.name} answered with an error: {message}",
                code="tool_server_error",
            ) from None
        except (ValidationError, RuntimeError) as error:
            message = self._journal.redact(
                str(error).splitlines()[0][:300] if str(error) else type(error).__name__
            )
            self._journal.add(f"It sent an answer that violates the protocol: {message}")
            raise Unavailable(
                f"The tool server {self._config.name} sent an answer that violates the protocol ({message}).",
                code="tool_server_error",
            ) from None
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream):
            self.lost()
            raise SessionLost(undelivered=False) from None

    def lost(self) -> None:
        """Mark the session as ended."""
        self._state.end()

    def _on_end(self) -> None:
        self.news.set()

    def _changed(self) -> None:
        self.stale = True
        self.news.set()

    async def on_message(self, message: Any) -> None:
        """Handle a notification or an unparsable message."""
        if isinstance(
            message,
            types.ToolListChangedNotification
            | types.ResourceListChangedNotification
            | types.PromptListChangedNotification,
        ):
            self._changed()
        elif isinstance(message, Exception):
            first = str(message).splitlines()[:1] or [type(message).__name__]
            self._journal.add(f"It wrote something that is not a protocol message: {first[0][:300]}")

    async def on_log(self, params: types.LoggingMessageNotificationParams) -> None:
        self._journal.add(f"{params.level}: {params.data}", "server")

    async def on_elicitation(
        self, context: Any, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """Handle an elicitation: put the server's question to the user of the tool call."""
        context = self._contexts.current()
        if context is None:
            self._journal.add("It asked a question that cannot be assigned to one user's tool call.")
            return types.ErrorData(code=types.INVALID_REQUEST, message="There is no user to ask.")
        if isinstance(params, types.ElicitRequestURLParams):
            answer = await context.link(params.message, params.url, self._now())
            return types.ElicitResult(action=answer.decision)
        schema = _plain_schema(params.requested_schema)
        return self._elicit_result(schema, await context.form(params.message, schema, self._now()))

    def _elicit_result(self, schema: dict[str, object], answer: ElicitationAnswer) -> types.ElicitResult:
        if answer.decision != "accept":
            return types.ElicitResult(action=answer.decision)
        try:
            check(schema, answer.values)
            return types.ElicitResult.model_validate({"action": "accept", "content": answer.values})
        except (BadRequest, ValidationError):
            self._journal.add("The user's answer does not match the requested schema.")
            return types.ElicitResult(action="cancel")

    def start(self, client: Client) -> None:
        self._client = client


def _page_needed(error: MCPError) -> UrlElicitationRequiredError:
    try:
        return UrlElicitationRequiredError.from_error(error.error)
    except ValidationError:
        return UrlElicitationRequiredError([])


def _plain_schema(schema: Any) -> dict[str, object]:
    if hasattr(schema, "model_dump"):
        return dict(schema.model_dump(by_alias=True, mode="json", exclude_none=True))
    return dict(schema)
