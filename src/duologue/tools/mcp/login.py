"""One user's sign-in to a tool server: from the address to open to the code that comes back.

Owns the wait for the browser and the `state` that matches the response to the request. The SDK's client makes the
OAuth messages.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import anyio
from msgspec import Struct

from duologue.errors import BadRequest, Forbidden, Unavailable

WAIT_SECONDS = 600.0
"""How long a user may take to sign in."""
FINISH_SECONDS = 60.0
"""How long the server may take afterwards: the exchange of the code for tokens, the connection and its lists."""
ADDRESS = 8192
"""Longest address to open."""


class LoginNeeded(Unavailable):
    """The server requires a sign-in."""

    code = "tool_server_login"

    def __init__(self) -> None:
        super().__init__("You need to sign in to this server first.")


class AuthorizationResponse(Struct, frozen=True):
    """The parameters of the redirect from the server's sign-in page."""

    code: str
    state: str
    issuer: str | None = None


class McpLogin:
    """One user's sign-in to one server. Without `interactive`, a server that requires a sign-in raises LoginNeeded
    instead of sending the user to a page they did not request."""

    def __init__(self, user: str, redirect: str, *, interactive: bool) -> None:
        self.user = user
        self.redirect = redirect
        self.address = ""
        self.state = ""
        self._interactive = interactive
        self._requested = False
        self._limit: anyio.CancelScope | None = None
        self._on_address: Callable[[], None] = lambda: None
        self._response: AuthorizationResponse | None = None
        self._received = anyio.Event()

    @property
    def is_under_way(self) -> bool:
        """Whether the user has begun to sign in and neither succeeded nor failed yet."""
        return self._interactive

    def begin(self, limit: anyio.CancelScope, on_address: Callable[[], None]) -> None:
        """Start an attempt within `limit`; `on_address` is called when there is an address to open."""
        self._limit, self._on_address = limit, on_address
        self.address, self._requested, self._response = "", False, None
        self._received = anyio.Event()

    async def open(self, url: str) -> None:
        """Publish `url` for the user to open. Raises LoginNeeded unless the sign-in is interactive, and Forbidden for an
        address that is not one of the web."""
        self._requested = True
        if not self._interactive or self._limit is None:
            raise LoginNeeded
        if not url.startswith(("https://", "http://")) or len(url) > ADDRESS:
            raise Forbidden(
                "The server sends you to an address for signing in that is not one of the web.",
                code="tool_server_refused",
            )
        self.address = url
        # The last one is ours: the server's own address, before it, may hold another.
        self.state = parse_qs(urlsplit(url).query).get("state", [""])[-1]
        self._limit.deadline = anyio.current_time() + WAIT_SECONDS
        self._on_address()

    async def wait_for_response(self) -> AuthorizationResponse:
        """Wait for the browser to return; then the attempt has `FINISH_SECONDS` more."""
        await self._received.wait()
        assert self._response is not None
        assert self._limit is not None
        self.address = ""
        self._limit.deadline = anyio.current_time() + FINISH_SECONDS
        return self._response

    def complete(self, response: AuthorizationResponse) -> None:
        """Accept the browser's response. Raises BadRequest (login_over) for a second response or a wrong state."""
        if self._received.is_set() or not self.state or response.state != self.state:
            raise BadRequest("This sign-in has expired; start again.", code="login_over")
        self._response = response
        self._received.set()

    def finish(self) -> None:
        """The sign-in succeeded. Later attempts are not interactive."""
        self._interactive, self._requested, self.address = False, False, ""

    def fail(self) -> bool:
        """The attempt failed. Returns False when it failed because a sign-in is required."""
        requested, self._interactive, self.address = self._requested, False, ""
        return not requested
