"""The connection to one MCP server: connects, reconnects with backoff, and reports health.

The registry runs one per server (and one per user for servers with a sign-in). Sessions come from an injected function,
so tests need no server. A server that hangs or dies fails its own callers only.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol, TypeVar

import anyio

from duologue.errors import BadRequest, Forbidden, Problem, Unavailable
from duologue.tools.mcp import backoff
from duologue.tools.mcp.call_context import SessionLost, ToolCallContext
from duologue.tools.mcp.capabilities import About, FilledPrompt, Listing
from duologue.tools.mcp.health import Journal, Phase, ServerHealth
from duologue.tools.mcp.login import LoginNeeded, McpLogin
from duologue.tools.mcp.server_config import ServerConfig
from duologue.tools.values import Keep, ToolOutcome, failure
from duologue.values.conversations import Content

log = logging.getLogger(__name__)

STEADY_MS = 30_000
"""A session that lasted this long resets the backoff."""
RELIST_MS = 1000
"""Minimum time between two readings of changed lists."""
REQUEST_SECONDS = 30.0
"""Timeout of requests a user waits for: reading a resource, filling in a prompt, completing an argument."""


class OpenSession(Protocol):
    """The part of `McpSession` that a connection uses."""

    news: anyio.Event
    stale: bool

    @property
    def ended(self) -> bool: ...
    @property
    def about(self) -> About: ...
    async def listing(self) -> Listing: ...
    async def listen(self) -> None: ...
    def lost(self) -> None: ...
    async def call_tool(
        self, tool: str, arguments: Mapping[str, object], context: ToolCallContext, keep: Keep
    ) -> ToolOutcome: ...
    async def read(self, uri: str, keep: Keep) -> tuple[Content, ...]: ...
    async def prompt(self, name: str, arguments: Mapping[str, str], keep: Keep) -> FilledPrompt: ...
    async def complete(
        self,
        kind: Literal["prompt", "resource"],
        name: str,
        argument: str,
        value: str,
        context: Mapping[str, str],
    ) -> tuple[str, ...]: ...


R = TypeVar("R")
OpenSessionFunction = Callable[[Callable[[Phase], None]], AbstractAsyncContextManager[OpenSession]]


class McpConnection:
    """One server's connection. `run` maintains it until cancelled; other methods may be called at any time.

    `now` gives ms since 1970, `sleep` takes seconds; `on_change` is called at every change of phase or lists.
    """

    def __init__(
        self,
        config: ServerConfig,
        journal: Journal,
        open_session: OpenSessionFunction,
        *,
        connect_s: float,
        now: Callable[[], int],
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        on_change: Callable[[], None] = lambda: None,
        login: McpLogin | None = None,
    ) -> None:
        self.config = config
        self.journal = journal
        self.listing = Listing()
        self.about = About()
        self.login = login
        self._open = open_session
        self._connect_s = connect_s
        self._now = now
        self._sleep = sleep
        self._on_change = on_change
        self._off = config.server.disabled
        self._phase: Phase = "off" if self._off else "idle"
        self._since = now()
        self._message = ""
        self._retry = 0
        self._session: OpenSession | None = None
        self._attempted = anyio.Event()
        self._closed = anyio.Event()
        self._pause_scope: anyio.CancelScope | None = None

    @property
    def phase(self) -> Phase:
        return self._phase

    @property
    def message(self) -> str:
        return self._message

    def health(self) -> ServerHealth:
        return ServerHealth(
            name=self.config.name,
            phase=self._phase,
            since=self._since,
            source=self.config.source,
            transport=self.config.transport,
            address=self.journal.redact(self.config.address),
            message=self._message,
            retry=self._retry,
            login=self.login.address if self.login and self._phase == "login" else "",
            title=self.about.title,
            version=self.about.version,
            protocol=self.about.protocol,
            instructions=self.about.instructions,
            tools=len(self.listing.tools),
            resources=len(self.listing.resources),
            templates=len(self.listing.templates),
            prompts=len(self.listing.prompts),
            disabled=self.config.server.disabled,
            signed_in=self.login is not None and self._session is not None,
        )

    async def run(self) -> None:
        """Connect, and reconnect after failures, until cancelled."""
        try:
            await self._stay_connected()
        finally:
            self._session = None
            self._enter("off")
            self._attempted.set()

    async def _stay_connected(self) -> None:
        failures = 0
        then: Phase
        while not self._off:
            began = self._now()
            try:
                await self._attempt()
                reason, then = "The connection ended.", "waiting"
            except LoginNeeded as needed:
                reason, then = needed.message, "login"
            except Problem as problem:
                reason, then = problem.message, "waiting"
                # At boot the network may not be up yet, so an unknown host is worth a retry.
                if isinstance(problem, Forbidden | BadRequest) and problem.code != "unknown_host":
                    then = "failed"
            except SessionLost:
                reason, then = "The connection ended.", "waiting"
            except TimeoutError:
                limit = f"{self._connect_s:g} seconds (mcp.connect_s)"
                reason, then = f"It did not start and list its tools within {limit}.", "waiting"
            except Exception as error:
                log.warning("the tool server %s failed", self.config.name, exc_info=error)
                reason, then = f"Unexpected error: {type(error).__name__}.", "waiting"
            failures = 1 if self._was_steady(began) else failures + 1
            self._session = None
            await self._pause(self.journal.redact(reason), then, failures)

    def _was_steady(self, began: int) -> bool:
        return self._phase == "ready" and self._now() - max(began, self._since) >= STEADY_MS

    async def _pause(self, reason: str, then: Phase, failures: int) -> None:
        """After a failure, wait for the next attempt: backoff, or until `reconnect` cancels the wait."""
        seconds = backoff.delay(failures)
        if self.login is not None and not self.login.fail():
            needed = LoginNeeded().message
            then, reason = "login", reason if reason == needed else f"The sign-in failed. {reason}"
        self._enter(then, reason, retry=self._now() + int(seconds * 1000) if then == "waiting" else 0)
        self._attempted.set()
        with anyio.CancelScope() as scope:
            self._pause_scope = scope
            try:
                await (self._sleep(seconds) if then == "waiting" else anyio.sleep_forever())
            finally:
                self._pause_scope = None

    async def _attempt(self) -> None:
        """One attempt: connect, list, and serve until the session ends."""
        self._enter("starting")
        with anyio.CancelScope(deadline=anyio.current_time() + self._connect_s) as limit:
            if self.login is not None:
                self.login.begin(limit, self._on_login)
            async with self._open(self._enter) as session:
                self._enter("listing")
                self.listing = await session.listing()
                self.about = session.about
                limit.deadline = float("inf")
                self._session = session
                if self.login is not None:
                    self.login.finish()
                self._closed = anyio.Event()
                self._enter("ready", _tool_count(len(self.listing.tools)))
                self._attempted.set()
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(session.listen)
                    await self._follow(session)
                    tasks.cancel_scope.cancel()
        if limit.cancelled_caught:
            raise TimeoutError

    async def _follow(self, session: OpenSession) -> None:
        listed = 0
        while True:
            await session.news.wait()
            session.news = anyio.Event()
            if session.ended:
                return
            if not session.stale:
                continue
            if self._now() - listed < RELIST_MS:
                # Some servers announce a change each time their lists are read; without a pause that would loop forever.
                await self._sleep(RELIST_MS / 1000)
            with anyio.move_on_after(self._connect_s) as limit:
                self.listing = await session.listing()
            listed = self._now()
            self.journal.add(
                "It announced a change but did not list its tools in time."
                if limit.cancelled_caught
                else "Its lists changed."
            )
            self._on_change()

    def _on_login(self) -> None:
        """The sign-in address is known; the attempt now waits for the user."""
        self._enter("login", "Open the address and sign in.")
        self._attempted.set()

    def _enter(self, phase: Phase, message: str = "", retry: int = 0) -> None:
        if phase == "starting" and self._attempted.is_set():
            self._attempted = anyio.Event()
        if phase != "ready":
            self._closed.set()
        if phase != self._phase or message:
            self.journal.add(f"{phase}: {message}" if message else phase)
        self._phase, self._message, self._retry = phase, message, retry
        self._since = self._now()
        self._on_change()

    def reconnect(self) -> None:
        """Try now: end the backoff, or the current session."""
        if self._session is not None:
            self._session.lost()
        elif self._pause_scope is not None:
            if self._attempted.is_set():
                self._attempted = anyio.Event()
            self._pause_scope.cancel()

    async def reconnect_and_wait(self) -> None:
        """Try now, and wait for the attempt to succeed or fail."""
        self.reconnect()
        if self._session is not None:
            await self._closed.wait()
            self.reconnect()
        if self._phase not in ("off", "ready"):
            await self._attempted.wait()

    async def wait_for_attempt(self) -> None:
        """Wait for the attempt in progress, if any, to succeed or fail."""
        if self._phase in ("idle", "starting", "handshake", "listing"):
            await self._attempted.wait()

    async def session(self) -> OpenSession:
        """The open session, after waiting for at most one attempt. Raises Unavailable."""
        if self._session is not None and not self._session.ended:
            return self._session
        if self._session is not None:
            # It has just ended and `run` is still closing it: wait, or the check below would see the old phase.
            await self._closed.wait()
        if self._phase == "waiting":
            self.reconnect()
            await self._attempted.wait()
        else:
            await self.wait_for_attempt()
        if self._session is None or self._session.ended:
            raise Unavailable(self._unavailable_message(), code="tool_server_unavailable")
        return self._session

    def _unavailable_message(self) -> str:
        name = self.config.name
        match self._phase:
            case "off":
                return (
                    f"The tool server {name} is switched off."
                    if self._off
                    else f"The tool server {name} was removed."
                )
            case "login":
                return f"The tool server {name} requires you to sign in first: open its entry under tool servers."
            case _:
                why = f" {self._message}" if self._message else ""
                return f"The tool server {name} is unavailable.{why}"

    async def call_tool(
        self, tool: str, arguments: Mapping[str, object], context: ToolCallContext, keep: Keep
    ) -> ToolOutcome:
        """Run a tool; every failure is an outcome. A request the server never received is sent once more."""
        for _ in range(2):
            try:
                return await (await self.session()).call_tool(tool, arguments, context, keep)
            except Unavailable as problem:
                return failure(problem.message)
            except SessionLost as lost:
                if not lost.undelivered:
                    return failure(
                        f"The tool server {self.config.name} disconnected while the tool ran. It is unknown whether "
                        "the tool finished its work."
                    )
            except Exception as error:
                # A malformed answer can make the SDK raise anything; it must fail this tool call only.
                log.warning("tool call of %s at %s failed", tool, self.config.name, exc_info=error)
                return failure(f"The tool server {self.config.name} sent an invalid answer.")
        return failure(self._unavailable_message())

    async def request(self, request: Callable[[OpenSession], Awaitable[R]]) -> R:
        """Send a read-only request. Raises Unavailable, also after `REQUEST_SECONDS`."""
        try:
            with anyio.fail_after(REQUEST_SECONDS):
                return await request(await self.session())
        except TimeoutError:
            raise Unavailable(
                f"The tool server {self.config.name} did not answer within {REQUEST_SECONDS:g} seconds.",
                code="tool_server_unavailable",
            ) from None
        except SessionLost:
            raise Unavailable(self._unavailable_message(), code="tool_server_unavailable") from None


def _tool_count(tools: int) -> str:
    return "1 tool." if tools == 1 else f"{tools} tools."
