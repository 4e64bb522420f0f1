"""Who is asking: the rules about where a server may listen without one, and the check of every request.

Owns the user in `scope["state"]`: `user` (the id; empty on an open address), `name`, `role`, and `keyed`: whether a key
was used, which the keyless `local` never did. Knows no endpoint beyond the ones that are open, and no page. With no
key (loopback only) everyone is `local`, an admin, and whatever Authorization says is ignored: SDKs always send one.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial

import anyio
from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duologue.config import Settings
from duologue.errors import Forbidden, StartFailed, Unauthorized
from duologue.gateway.auth.keys import HOW_TO_MAKE_A_KEY, LOCAL, Keys, User, read_key, wall_clock
from duologue.gateway.auth.sessions import LoginSessions
from duologue.http.error_responses import refuse

OPEN_PATHS = frozenset({"/health", "/ready", "/api/mcp/oauth/callback"})
"""Where a browser comes back to from a foreign sign-in page it brings no cookie of ours; a secret in the address guards
that route."""
LOGIN_PATH = "/api/session"
SUBPROTOCOL = "duologue"
KEY_SUBPROTOCOL = "duologue.key."
REVOKED = 1008
"""The code a socket is closed with: against the rules."""
CLOSED = "The key was revoked, or its user may do less than before."


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server bound to `host`."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check_start(host: str, *, has_key: bool, insecure_http: bool, tls: bool = False) -> None:
    """Whether a server may listen on `host`. Raises StartFailed that says what is missing."""
    if is_loopback(host):
        return
    where = host or "every address"
    if not has_key:
        raise StartFailed(
            f"Other machines can reach {where}, so the server needs a key. {HOW_TO_MAKE_A_KEY}", param="key"
        )
    if not insecure_http and not tls:
        raise StartFailed(
            f"On {where} the key and every word would travel unencrypted. Say --tls, or put a proxy with HTTPS in "
            "front and listen on 127.0.0.1, or say --insecure-http if the network is trusted.",
            param="insecure_http",
        )


def has_key(settings: Settings) -> bool:
    """Whether a server of these settings would ask for a key. Looks into the database; call it before the event loop
    runs. Raises StartFailed when the settings' key or the database cannot be read."""
    secret = settings.key.get_secret_value() if settings.key else None
    if read_key(secret, settings.key_file) is not None:
        return True
    from duologue.store.users import closed

    url = settings.database.get_secret_value() if settings.database else None
    return anyio.run(partial(closed, url, settings.data, now=wall_clock))


def admin(request: Request) -> None:
    """A dependency of routes for admins. Raises Forbidden."""
    if request.scope["state"]["role"] != "admin":
        raise Forbidden("Only an admin may do that.", code="admin_needed")


def keyed_admin(request: Request) -> None:
    """A dependency of routes for admins who used a key: not for whoever happens to reach a keyless server. Raises
    Forbidden."""
    admin(request)
    if request.scope["state"].get("keyed") is not True:
        raise Forbidden(
            "Only an admin who used a key may do that, and this server has no key yet. Make the first one on its own "
            "machine: `duologue key add NAME`.",
            code="key_needed",
        )


def cookie_name(port: int) -> str:
    """The session cookie of the server on `port`: browsers do not keep cookies of different ports apart."""
    return f"duologue_session_{port}"


class Authentication:
    """Lets in who has a key or a session, and says who it is.

    Everything is closed but `open_files` (the page's own files), `/health`, `/ready` and the login. A browser that
    opens any other address without a session is shown `login_page`, where there is one.
    """

    def __init__(
        self,
        app: ASGIApp,
        keys: Keys,
        logins: LoginSessions,
        *,
        cookie: str,
        open_files: Collection[str] = (),
        login_page: ASGIApp | None = None,
        now: Callable[[], int] = wall_clock,
    ) -> None:
        self._app = app
        self._keys = keys
        self._logins = logins
        self._cookie = cookie
        self._open_files = open_files
        self._login_page = login_page
        self._now = now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        keys = _presented_keys(scope)
        if scope["type"] == "websocket":
            send = _choosing_subprotocol(scope, send)
        await self._keys.refresh()
        user = self._user(scope, keys)
        if user is None and not self._is_open(scope):
            await self._turn_away(scope, receive, send, wrong=bool(keys))
            return
        state = scope.setdefault("state", {})
        state["user"], state["role"], state["name"] = user or User("", "")
        state["keyed"] = user is not None and self._keys.required
        if user is None or self._keys.users is None:
            await self._app(scope, receive, send)
            return
        guard = _Guard(self._keys, send, lambda: _may_as_much(self._user(scope, keys), user))
        try:
            await self._app(scope, guard.receiving(scope, receive), guard.send)
        except (OSError, ClientDisconnect):
            if not guard.ended:
                raise
        if guard.ended and scope["type"] == "websocket":
            with suppress(OSError, RuntimeError):  # the client may have left at the same moment
                await send({"type": "websocket.close", "code": REVOKED, "reason": CLOSED})

    def _user(self, scope: Scope, keys: list[str]) -> User | None:
        if not self._keys.required:
            return LOCAL
        if keys:  # a key that was brought decides, right or wrong
            return self._keys.user(keys[0], self._now())
        token = read_cookie(scope, self._cookie)
        return self._logins.user(token, self._now()) if token else None

    def _is_open(self, scope: Scope) -> bool:
        if scope["type"] != "http":
            return False
        path = scope["path"]
        if scope["method"] == "POST":
            return bool(path == LOGIN_PATH)
        return scope["method"] in ("GET", "HEAD") and (path in OPEN_PATHS or path in self._open_files)

    async def _turn_away(self, scope: Scope, receive: Receive, send: Send, *, wrong: bool) -> None:
        page = self._login_page
        navigating = scope.get("method") == "GET" and "text/html" in _header(scope, b"accept")
        if page is not None and navigating and not wrong:
            await page(scope, receive, send)
            return
        sentence = "The key is wrong." if wrong else "This server needs a key."
        how = " Send it as `Authorization: Bearer KEY`, or log in on the page."
        await refuse(scope, receive, send, Unauthorized(sentence + how))


def _may_as_much(now: User | None, before: User) -> bool:
    """Whether who asked is still let in, as the same user, and is still an admin if they were one."""
    return now is not None and now.id == before.id and now.role in ("admin", before.role)


class _Guard:
    """Ends what is still open when its key or login is not valid any more, or its user no admin any more: a socket with
    its next message, a stream with its next piece."""

    def __init__(self, keys: Keys, send: Send, valid: Callable[[], bool]) -> None:
        self._keys = keys
        self._send = send
        self._valid = valid
        self._seen = keys.register
        self.ended = False

    def receiving(self, scope: Scope, receive: Receive) -> Receive:
        if scope["type"] != "websocket":
            return receive

        async def receive_valid() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and not await self._holds():
                return {"type": "websocket.disconnect", "code": REVOKED, "reason": CLOSED}
            return message

        return receive_valid

    async def send(self, message: Message) -> None:
        kind = message["type"]
        going_on = kind == "websocket.send" or (kind == "http.response.body" and message.get("more_body"))
        if going_on and not await self._holds():
            raise OSError("the key was revoked")  # what a server says of a client that has left
        if not (self.ended and kind == "websocket.close"):
            await self._send(message)

    async def _holds(self) -> bool:
        await self._keys.refresh()
        # Thousands of pieces a second come by; only a new table can tell anything new.
        if not self.ended and self._seen is not self._keys.register:
            self._seen = self._keys.register
            self.ended = not self._valid()
        return not self.ended


def read_cookie(scope: Scope, name: str) -> str | None:
    """The value of a cookie; None without one."""
    for pair in _header(scope, b"cookie").split(";"):
        key, separator, value = pair.strip().partition("=")
        if separator and key == name:
            return value
    return None


def _presented_keys(scope: Scope) -> list[str]:
    """The keys a request brings, the strongest claim first."""
    found = []
    scheme, _, credentials = _header(scope, b"authorization").partition(" ")
    if scheme.lower() == "bearer" and credentials.strip():
        found.append(credentials.strip())
    if key := _header(scope, b"x-api-key").strip():
        found.append(key)
    for offered in scope.get("subprotocols", ()):
        if offered.startswith(KEY_SUBPROTOCOL):
            found.append(_decoded(offered.removeprefix(KEY_SUBPROTOCOL)))
    return found


def _decoded(text: str) -> str:
    """The key in base64url, with or without padding; garbage gives a key nobody has."""
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""


def _choosing_subprotocol(scope: Scope, send: Send) -> Send:
    """Hide the key's subprotocol from the application, and answer for it: a browser that offered subprotocols takes
    no socket that chose none."""
    offered = list(scope.get("subprotocols", ()))
    scope["subprotocols"] = [name for name in offered if not name.startswith(KEY_SUBPROTOCOL)]
    choice = SUBPROTOCOL if SUBPROTOCOL in offered else next(iter(offered), None)
    if len(scope["subprotocols"]) == len(offered):
        return send

    async def send_chosen(message: Message) -> None:
        if message["type"] == "websocket.accept" and not message.get("subprotocol"):
            message = {**message, "subprotocol": choice}
        await send(message)

    return send_chosen


def _header(scope: Scope, name: bytes) -> str:
    """A header's text; several of one name are joined as cookies are."""
    return "; ".join(value.decode("latin-1") for key, value in scope["headers"] if key == name)
