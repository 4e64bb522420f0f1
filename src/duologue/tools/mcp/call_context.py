"""The context of a running tool call: its user, its progress reports and its elicitations.

Routes a server's elicitation to the right user. A server asks on its connection, which several users may share: the
question goes to the tool call it belongs to, and is refused when that call cannot be determined.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import anyio

from duologue.tools.values import Ask, ElicitationAnswer, Report
from duologue.values.conversations import Approval

CANCELLED = ElicitationAnswer("cancel")
OPEN_QUESTIONS = 4
"""Questions of one tool call that may be open at a time."""
QUESTIONS = 50
"""Questions one tool call may ask in all."""
MESSAGE = 4000
"""Characters of a question that are shown."""
SCHEMA_BYTES = 32 * 1024
"""Largest form, as JSON."""
ADDRESS = 4096
"""Longest address of a page to open."""


class SessionLost(Exception):
    """The connection ended during a request. `undelivered`: the server never read it, so it is safe to send again."""

    def __init__(self, *, undelivered: bool) -> None:
        super().__init__("the connection ended")
        self.undelivered = undelivered


class ToolCallContext:
    """One tool call in progress. `tool` is the tool's name at the server."""

    def __init__(
        self, server: str, tool: str, user: str, conversation: str, ask: Ask, report: Report
    ) -> None:
        self.server = server
        self.tool = tool
        self.user = user
        self.conversation = conversation
        self.report = report
        self._ask = ask
        self._questions: set[anyio.CancelScope] = set()
        self._asked = 0

    async def form(self, message: str, schema: Mapping[str, object], now: int) -> ElicitationAnswer:
        """Ask the user to fill in a form with `schema`; `now` is in ms since 1970. Too large a form is cancelled without
        showing it, and so is any question of a tool call that asks too much."""
        if len(json.dumps(schema)) > SCHEMA_BYTES:
            return CANCELLED
        return await self._elicit("form", message, now, schema=dict(schema))

    async def link(self, message: str, url: str, now: int) -> ElicitationAnswer:
        """Ask the user to open `url`. Anything but http and https is cancelled without showing it."""
        if not url.startswith(("https://", "http://")) or len(url) > ADDRESS:
            return CANCELLED
        return await self._elicit("link", message, now, url=url)

    async def _elicit(
        self, kind: str, message: str, now: int, *, schema: dict[str, object] | None = None, url: str = ""
    ) -> ElicitationAnswer:
        if len(self._questions) >= OPEN_QUESTIONS or self._asked >= QUESTIONS:
            return CANCELLED
        self._asked += 1
        approval = Approval(
            id=secrets.token_urlsafe(16),
            run="",
            conversation=self.conversation,
            kind="link" if kind == "link" else "form",
            server=self.server,
            tool=self.tool,
            message=message[:MESSAGE],
            schema=schema or {},
            url=url,
            created=now,
        )
        # The SDK may run this in another task than the tool call, whose cancellation would not reach it: `close` does.
        with anyio.CancelScope() as scope:
            self._questions.add(scope)
            try:
                return await self._ask(approval)
            finally:
                self._questions.discard(scope)
        return CANCELLED

    def close(self) -> None:
        """Cancel the questions still open; the tool call has ended."""
        for scope in tuple(self._questions):
            scope.cancel()


_CURRENT: ContextVar[ToolCallContext | None] = ContextVar("tool_call_context", default=None)


class ToolCallContexts:
    """The tool calls in progress on one connection."""

    def __init__(self) -> None:
        self._running: list[ToolCallContext] = []

    @contextmanager
    def track(self, context: ToolCallContext) -> Iterator[None]:
        """Register `context` while its tool call runs."""
        self._running.append(context)
        token = _CURRENT.set(context)
        try:
            yield
        finally:
            _CURRENT.reset(token)
            self._running.remove(context)
            context.close()

    def current(self) -> ToolCallContext | None:
        """The tool call a server's question belongs to; None when that is ambiguous.

        Over HTTP, messages on a call's own stream inherit its context variable. Over stdio everything arrives on one
        stream: then it is the latest call, unless several users have calls in progress.
        """
        current = _CURRENT.get()
        if current is not None and current in self._running:
            return current
        users = {context.user for context in self._running}
        return self._running[-1] if len(users) == 1 else None
