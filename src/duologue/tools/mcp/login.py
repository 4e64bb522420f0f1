"""Signing in at a tool server: one person's way through it, from the address to open to the code that comes back.

Owns the waiting and the state that ties an answer to its question. Knows no OAuth message: the SDK's client makes
those.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import anyio
from msgspec import Struct

from duologue.errors import BadRequest, Unavailable

WAIT_SECONDS = 600.0
"""How long a person may take to sign in."""


class LoginNeeded(Unavailable):
    """The server lets nobody in who has not signed in there."""

    code = "tool_server_login"

    def __init__(self) -> None:
        super().__init__("It wants you to sign in there first.")


class AuthorizationResponse(Struct, frozen=True):
    """What the server's sign-in page sent the browser back with."""

    code: str
    state: str
    issuer: str | None = None


class McpLogin:
    """One person's signing in at one server. Only a person who asked for it is sent anywhere: without
    `interactive`, a server that wants a sign-in is left at that."""

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

    def begin(self, limit: anyio.CancelScope, on_address: Callable[[], None]) -> None:
        """A try begins, within `limit`; `on_address` is called when there is an address to open."""
        self._limit, self._on_address = limit, on_address
        self.address, self._requested, self._response = "", False, None
        self._received = anyio.Event()

    async def open(self, url: str) -> None:
        """The server wants a person to open `url`. Raises LoginNeeded when none asked to sign in."""
        self._requested = True
        if not self._interactive or self._limit is None:
            raise LoginNeeded
        self.address = url
        self.state = parse_qs(urlsplit(url).query).get("state", [""])[0]
        self._limit.deadline = anyio.current_time() + WAIT_SECONDS
        self._on_address()

    async def wait_for_response(self) -> AuthorizationResponse:
        """What came back, once it has. From here on the clock of the try runs again."""
        await self._received.wait()
        assert self._response is not None
        assert self._limit is not None
        self.address = ""
        self._limit.deadline = anyio.current_time() + 60.0
        return self._response

    def complete(self, response: AuthorizationResponse) -> None:
        """The browser came back. Raises BadRequest when that was before: an answer counts once."""
        if self._received.is_set() or not self.state or response.state != self.state:
            raise BadRequest("This sign-in is over; begin again.", code="login_over")
        self._response = response
        self._received.set()

    def finish(self) -> None:
        """Signed in: from now on nobody is sent anywhere without asking for it again."""
        self._interactive, self._requested, self.address = False, False, ""

    def fail(self) -> bool:
        """A try has failed: whether it failed for another reason than that a person has to sign in."""
        requested, self._interactive, self.address = self._requested, False, ""
        return not requested
