"""A call while it runs: whose it is, who is told how far it is, and who answers what the server asks meanwhile.

Owns the way from a server's question (an elicitation) to the person it is meant for. A server asks on its
connection, which many people may share: the question goes to the call it belongs to, and where that cannot be told,
to nobody.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import anyio

from duologue.tools.values import Ask, ElicitationAnswer, Report
from duologue.values.conversations import Approval

CANCELLED = ElicitationAnswer("cancel")


class SessionLost(Exception):
    """A session's connection ended under a request; `undelivered`: the server never read it, so it may be asked again."""

    def __init__(self, *, undelivered: bool) -> None:
        super().__init__("the connection ended")
        self.undelivered = undelivered


class ToolCallContext:
    """One call in progress. `tool` is its name at the server."""

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

    async def form(self, message: str, schema: Mapping[str, object], now: int) -> ElicitationAnswer:
        """Ask for values of `schema`."""
        return await self._elicit("form", message, now, schema=dict(schema))

    async def link(self, message: str, url: str, now: int) -> ElicitationAnswer:
        """Ask to open `url`. Only an address of the web is ever shown."""
        if not url.startswith(("https://", "http://")):
            return CANCELLED
        return await self._elicit("link", message, now, url=url)

    async def _elicit(
        self, kind: str, message: str, now: int, *, schema: dict[str, object] | None = None, url: str = ""
    ) -> ElicitationAnswer:
        approval = Approval(
            id=secrets.token_urlsafe(16),
            run="",
            conversation=self.conversation,
            kind="link" if kind == "link" else "form",
            server=self.server,
            tool=self.tool,
            message=message,
            schema=schema or {},
            url=url,
            created=now,
        )
        # The question may be asked by another task than the call's: it must not outlive the call.
        with anyio.CancelScope() as scope:
            self._questions.add(scope)
            try:
                return await self._ask(approval)
            finally:
                self._questions.discard(scope)
        return CANCELLED

    def close(self) -> None:
        """The call has ended: what it still asks is asked no more."""
        for scope in tuple(self._questions):
            scope.cancel()


_CURRENT: ContextVar[ToolCallContext | None] = ContextVar("tool_call_context", default=None)


class ToolCallContexts:
    """The calls in progress on one connection."""

    def __init__(self) -> None:
        self._running: list[ToolCallContext] = []

    @contextmanager
    def track(self, context: ToolCallContext) -> Iterator[None]:
        """While the tool call of `context` runs."""
        self._running.append(context)
        token = _CURRENT.set(context)
        try:
            yield
        finally:
            _CURRENT.reset(token)
            self._running.remove(context)
            context.close()

    def current(self) -> ToolCallContext | None:
        """The call a server's question belongs to; None when that cannot be told.

        HTTP carries a call's context to what comes back on its stream. On a program's standard streams everything
        comes on one: then it is the latest call, unless people share the connection just now.
        """
        current = _CURRENT.get()
        if current is not None and current in self._running:
            return current
        people = {context.user for context in self._running}
        return self._running[-1] if len(people) == 1 else None
