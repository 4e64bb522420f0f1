"""Who is asking: the key, the rules about where a server may listen without one, and the check of every request.

Owns the user and role in `scope["state"]`. Knows no endpoint beyond the ones that are open, and no page. With no key
(loopback only) everyone is `local`, an admin, and whatever Authorization says is ignored: SDKs always send one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import ipaddress
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duologue.errors import Busy, StartFailed, Unauthorized
from duologue.gateway.logins import Logins
from duologue.gateway.problems import refuse

OPEN_PATHS = frozenset({"/health", "/ready"})
LOGIN_PATH = "/api/session"
SUBPROTOCOL = "duologue"
KEY_SUBPROTOCOL = "duologue.key."
HOW_TO_MAKE_A_KEY = (
    'Make one with `python3 -c "import secrets; print(secrets.token_urlsafe(32))" > duologue.key` '
    "and give it by --key-file duologue.key, or by the environment variable DUOLOGUE_KEY."
)

_KEY = re.compile(r"[\x21-\x7e]{1,1024}")


class User(NamedTuple):
    name: str
    role: str


LOCAL = User("local", "admin")


class Keys:
    """The keys that open this server: hashed, compared in constant time. In this version one, of the user `local`."""

    def __init__(self, key: str | None) -> None:
        self._salt = secrets.token_bytes(16)
        self._digest = self._hash(key) if key else None

    @property
    def required(self) -> bool:
        return self._digest is not None

    def user(self, candidate: str) -> User | None:
        """Whose key this is; None for a wrong one."""
        known = self._digest is not None and hmac.compare_digest(self._hash(candidate), self._digest)
        return LOCAL if known else None

    def _hash(self, key: str) -> bytes:
        # Keys are long and random, so one keyed hash does: a slow one would make every request slow.
        return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), key=self._salt).digest()


def read_key(key: str | None, key_file: Path | None) -> str | None:
    """The key this server was given, or None. Raises StartFailed for a file that holds none."""
    if key and key_file:
        raise StartFailed(
            "There is a key and a key file: give one of DUOLOGUE_KEY and --key-file.", param="key"
        )
    source = "The key"
    if key_file is not None:
        source = f"The key file {key_file}"
        try:
            key = key_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise StartFailed(f"{source} cannot be read: {reason}.", param="key_file") from None
        if not key:
            raise StartFailed(f"{source} is empty. {HOW_TO_MAKE_A_KEY}", param="key_file")
    if key and not _KEY.fullmatch(key):
        raise StartFailed(
            f"{source} must be one line of up to 1024 letters, digits and signs, without spaces."
        )
    return key or None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server bound to `host`."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check_start(host: str, *, has_key: bool, insecure_http: bool) -> None:
    """Whether a server may listen on `host`. Raises StartFailed that says what is missing."""
    if is_loopback(host):
        return
    where = host or "every address"
    if not has_key:
        raise StartFailed(
            f"Other machines can reach {where}, so the server needs a key. {HOW_TO_MAKE_A_KEY}", param="key"
        )
    if not insecure_http:
        raise StartFailed(
            f"On {where} the key and every word would travel unencrypted. Put a proxy with HTTPS in front and "
            "listen on 127.0.0.1, or say --insecure-http if the network is trusted.",
            param="insecure_http",
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
        logins: Logins,
        *,
        cookie: str,
        open_files: Collection[str] = (),
        login_page: ASGIApp | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._keys = keys
        self._logins = logins
        self._cookie = cookie
        self._open_files = open_files
        self._login_page = login_page
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        keys = _presented_keys(scope)
        if scope["type"] == "websocket":
            send = _choosing_subprotocol(scope, send)
        user = self._user(scope, keys)
        if user is None and not self._is_open(scope):
            await self._turn_away(scope, receive, send, wrong=bool(keys))
            return
        state = scope.setdefault("state", {})
        state["user"], state["role"] = user or ("", "")
        await self._app(scope, receive, send)

    def _user(self, scope: Scope, keys: list[str]) -> User | None:
        if not self._keys.required:
            return LOCAL
        if keys:  # a key that was brought decides, right or wrong
            return self._keys.user(keys[0])
        token = read_cookie(scope, self._cookie)
        name = self._logins.user(token, self._clock()) if token else None
        return LOCAL if name == LOCAL.name else None

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


class SocketLimit:
    """Refuses a user's socket when `limit` of theirs are open."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        user = scope["state"]["user"]
        if self._open[user] >= self._limit:
            sentence = (
                f"{self._limit} sockets are open already; the setting limits.sockets_per_user allows more."
            )
            await refuse(scope, receive, send, Busy(sentence, code="too_many_sockets"))
            return
        self._open[user] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[user] -= 1
            if not self._open[user]:
                del self._open[user]


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
