"""Authentication of every request, and the rules about which addresses a server may listen on without a key.

Owns the user in `scope["state"]`: `user` (the id; empty on an open path), `name`, `role`, `key` (its id, "" for a login), and `keyed`: whether a key was used.
Without a key (loopback only) everyone is the admin `local`, and Authorization is ignored, because SDKs always send one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import ipaddress
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial

import anyio
from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duologue import caller
from duologue.config import Settings
from duologue.errors import Forbidden, Problem, StartFailed, Unauthorized
from duologue.gateway.auth.guessing import GuessGuard
from duologue.gateway.auth.keys import (
    HOW_TO_MAKE_A_KEY,
    LOCAL,
    ONLY_JOINS,
    WORKER,
    Keys,
    User,
    read_key,
    short_key,
    wall_clock,
)
from duologue.gateway.auth.sessions import LoginSessions
from duologue.gateway.middleware.admin_act import mark
from duologue.http.error_responses import refuse

OPEN_PATHS = frozenset({"/health", "/v1/health", "/ready", "/api/mcp/oauth/callback"})
"""The callback is open because a browser that returns from another site's sign-in page sends no SameSite cookie; a secret in the
URL protects that route."""
LOGIN_PATH = "/api/session"
SUBPROTOCOL = "duologue"
KEY_SUBPROTOCOL = "duologue.key."
JOIN_PREFIX = "/join/"
"""What only workers on other machines may request, and nothing else."""
NEEDS_WORKER_KEY = "Only workers on other machines may join here, with a key of the role worker. Make one: `duologue key add NAME --role worker`."
HOW_TO_SEND = "Send it as `Authorization: Bearer KEY`, or log in on the page."
REVOKED = 1008
"""The WebSocket close code for a policy violation."""
CLOSED = "The key was revoked, or its user may do less than before."


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server bound to `host`."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check_start(host: str, *, has_key: bool, insecure_http: bool, tls: bool = False) -> None:
    """Check whether a server may listen on `host`. Raises StartFailed that says what is missing."""
    if is_loopback(host):
        return
    where = host or "every address"
    if not has_key:
        raise StartFailed(
            f"Other machines can reach {where}, so the server needs a key. {HOW_TO_MAKE_A_KEY}", param="key"
        )
    if not insecure_http and not tls:
        raise StartFailed(
            f"On {where} the key and all text would be sent unencrypted. Use --tls, or put a proxy with HTTPS in front "
            "and listen on 127.0.0.1, or use --insecure-http if the network is trusted.",
            param="insecure_http",
        )


def check_key(settings: Settings) -> str:
    """A warning about the key of the settings, "" without one. Raises StartFailed where it is too short for the address, or cannot
    be read."""
    secret = settings.key.get_secret_value() if settings.key else None
    remote = not all(is_loopback(host) for host in settings.compat.hosts(settings.host))
    return short_key(read_key(secret, settings.key_file), remote=remote)


def has_key(settings: Settings) -> bool:
    """Whether a server with these settings requires a key. Reads the database; call it before the event loop runs. Raises
    StartFailed when the key or the database cannot be read."""
    secret = settings.key.get_secret_value() if settings.key else None
    if read_key(secret, settings.key_file) is not None:
        return True
    from duologue.store.users import closed

    url = settings.database_url
    return anyio.run(partial(closed, url, settings.data, now=wall_clock))


def admin(request: Request) -> None:
    """A dependency of routes for admins, which makes a request that changes something one for the audit log. Raises Forbidden."""
    mark(request.scope)
    if request.scope["state"]["role"] != "admin":
        raise Forbidden("Only an admin can do this.", code="admin_needed")


def keyed_admin(request: Request) -> None:
    """A dependency of routes for admins who used a key, not for everyone who can reach a server without one. Raises
    Forbidden."""
    admin(request)
    if request.scope["state"].get("keyed") is not True:
        raise Forbidden(
            "Only an admin with a key can do this, and this server has no key yet. Create the first one on its "
            "machine: `duologue key add NAME`.",
            code="key_needed",
        )


def cookie_name(port: int, database: str | None = None) -> str:
    """The session cookie of the server on `port`. Browsers share cookies between ports, so the port is in the name; for gateways that share a
    `database` its name is, as a login at one holds at all."""
    if database:
        name = database.rpartition("@")[2].partition("/")[2]
        return f"duologue_session_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return f"duologue_session_{port}"


class Authentication:
    """Accepts requests with a valid key or session, and sets their user.

    Open to everyone are only `open_files` (the page's own files), OPEN_PATHS and the login. A browser that navigates to any other
    path without a session is shown `login_page`, if there is one.
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
        guessing: GuessGuard | None = None,
    ) -> None:
        self._app = app
        self._keys = keys
        self._logins = logins
        self._cookie = cookie
        self._open_files = open_files
        self._login_page = login_page
        self._now = now
        self._guessing = guessing or GuessGuard()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        keys = _presented_keys(scope)
        if scope["type"] == "websocket":
            send = _choosing_subprotocol(scope, send)
        await self._keys.refresh()
        user = self._user(scope, keys)
        if user is None and (keys or read_cookie(scope, self._cookie)) and await self._keys.look_again():
            user = self._user(scope, keys)
        if user is None and not self._is_open(scope):
            await self._reject(scope, receive, send, keys)
            return
        if user is not None and (refusal := misplaced(user.role, scope["path"])) is not None:
            await refuse(scope, receive, send, refusal)
            return
        state = scope.setdefault("state", {})
        state["user"], state["role"], state["name"], key = user or User("", "")
        state["key"] = key
        caller.key_id.set(key)
        state["keyed"] = user is not None and self._keys.required
        if user is None or self._keys.users is None:
            await self._app(scope, receive, send)
            return
        guard = _Guard(self._keys, send, lambda: _still_allowed(self._user(scope, keys), user))
        try:
            await self._app(scope, guard.receiving(scope, receive), guard.send)
        except (OSError, ClientDisconnect):
            if not guard.ended:
                raise
        if guard.ended and scope["type"] == "websocket":
            with suppress(OSError, RuntimeError):  # the client may have left at the same moment
                await send({"type": "websocket.close", "code": REVOKED, "reason": CLOSED})

    def _user(self, scope: Scope, keys: list[str]) -> User | None:
        if not self._keys.required and not (keys and self._keys.place_of(keys[0])):
            return LOCAL
        if keys:  # a key takes precedence over a session, even a wrong key
            return self._keys.user(keys[0], self._now())
        token = read_cookie(scope, self._cookie)
        user = self._logins.user(token, self._now()) if token else None
        if user is not None and token:
            self._logins.note_seen(token, self._now(), scope["client"][0] if scope.get("client") else "")
        return user

    def _is_open(self, scope: Scope) -> bool:
        if scope["type"] != "http":
            return False
        path = scope["path"]
        if scope["method"] == "POST":
            return bool(path == LOGIN_PATH)
        return scope["method"] in ("GET", "HEAD") and (path in OPEN_PATHS or path in self._open_files)

    async def _reject(self, scope: Scope, receive: Receive, send: Send, keys: list[str]) -> None:
        page = self._login_page
        navigating = scope.get("method") == "GET" and "text/html" in _header(scope, b"accept")
        if page is not None and navigating and not keys:
            await page(scope, receive, send)
            return
        problem: Problem = Unauthorized(f"This server needs a key. {HOW_TO_SEND}")
        if guess := keys[0] if keys else read_cookie(scope, self._cookie):
            address = scope["client"][0] if scope.get("client") else ""
            refusal = await self._guessing.refusal(address, guess)
            if not isinstance(refusal, Unauthorized):
                problem = refusal
            elif keys:
                problem = Unauthorized(f"{refusal.message} {HOW_TO_SEND}")
        await refuse(scope, receive, send, problem)


def misplaced(role: str, path: str) -> Forbidden | None:
    """Why this role may not request this path: workers may only join, and only they may."""
    if (role == WORKER) is path.startswith(JOIN_PREFIX):
        return None
    if role == WORKER:
        return Forbidden(ONLY_JOINS, code="worker_key")
    return Forbidden(NEEDS_WORKER_KEY, code="worker_key_needed")


def _still_allowed(now: User | None, before: User) -> bool:
    """Whether a user is still accepted, as the same user, and still an admin if they were one."""
    return now is not None and now.id == before.id and now.role in ("admin", before.role)


class _Guard:
    """Ends open sockets and streams whose key or login has become invalid, or whose user is no longer an admin: a socket at its next
    message, a stream at its next chunk."""

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
            if message["type"] == "websocket.receive" and not await self._is_valid():
                return {"type": "websocket.disconnect", "code": REVOKED, "reason": CLOSED}
            return message

        return receive_valid

    async def send(self, message: Message) -> None:
        kind = message["type"]
        continues = kind == "websocket.send" or (kind == "http.response.body" and message.get("more_body"))
        if continues and not await self._is_valid():
            raise OSError("the key was revoked")  # as a server reports a disconnected client
        if not (self.ended and kind == "websocket.close"):
            await self._send(message)

    async def _is_valid(self) -> bool:
        await self._keys.refresh()
        # Called for thousands of chunks a second; the answer can only change with a new register.
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
    """The keys of a request, the one that counts first."""
    keys = []
    scheme, _, credentials = _header(scope, b"authorization").partition(" ")
    if scheme.lower() == "bearer" and credentials.strip():
        keys.append(credentials.strip())
    if key := _header(scope, b"x-api-key").strip():
        keys.append(key)
    for offered in scope.get("subprotocols", ()):
        if offered.startswith(KEY_SUBPROTOCOL):
            keys.append(_decoded(offered.removeprefix(KEY_SUBPROTOCOL)))
    return keys


def _decoded(text: str) -> str:
    """The key in base64url, with or without padding; "", which is never valid, if it is malformed."""
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""


def _choosing_subprotocol(scope: Scope, send: Send) -> Send:
    """Hide the key's subprotocol from the application and choose one of the others: a browser that offers subprotocols rejects a
    socket that selects none."""
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
    """The text of a header; repeated headers are joined as cookies are."""
    return "; ".join(value.decode("latin-1") for key, value in scope["headers"] if key == name)
