"""The doors every request and socket passes before anything else sees it.

Owns the checks of Host and Origin, the request's id, the limit on bodies and the headers that guard the page. Plain
ASGI for both kinds of scope. Knows no endpoint, no user and no key.

Why Host and Origin are checked: a page of someone else, opened in the browser of the person at this machine, can send
requests to loopback. Its Origin gives it away; a name that it rebinds to 127.0.0.1 gives itself away in Host.
"""

from __future__ import annotations

import ipaddress
import logging
import re
import secrets
import socket
import time
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duologue import telemetry
from duologue.errors import Forbidden, StartFailed, TooLarge
from duologue.gateway.middleware.forwarded import Proxies
from duologue.gateway.middleware.proxy import ProxyMiddleware, hosts_before
from duologue.http.error_responses import refuse

log = logging.getLogger("duologue.gateway.middleware.host_check")

DEFAULT_PORTS = {"http": 80, "https": 443}
PREFLIGHT_SECONDS = 600
DRAIN_SECONDS = 5
DRAIN_BYTES = 2**20
"""How long, and of how much at least, the rest of a refused body is still taken in."""

_AUTHORITY = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:(?P<port>[0-9]{1,5}))?")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")


class Authority(NamedTuple):
    """A host and port as a URL names them: the name in lower case, without brackets and final dot."""

    name: str
    port: int | None

    @property
    def is_address(self) -> bool:
        try:
            ipaddress.ip_address(self.name)
        except ValueError:
            return False
        return True


class Origin(NamedTuple):
    scheme: str
    name: str
    port: int


def parse_authority(text: str) -> Authority | None:
    """`name`, `name:port`, `[v6]:port`; None for anything else."""
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        return None
    name = match["name"].lower()
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 0 < port < 65536:
        return None
    if name.startswith("["):
        authority = Authority(name[1:-1], port)
        return authority if authority.is_address else None
    return Authority(name.removesuffix("."), port)


def parse_origin(text: str) -> Origin | None:
    """`scheme://name[:port]`, http or https; None for anything else, `null` among it."""
    scheme, _, rest = text.partition("://")
    scheme = scheme.lower()
    authority = parse_authority(rest)
    if scheme not in DEFAULT_PORTS or authority is None:
        return None
    return Origin(scheme, authority.name, authority.port or DEFAULT_PORTS[scheme])


def machine_names() -> frozenset[str]:
    """The names of this machine: `name`, `name.local`, and the full name where it has one."""
    full = socket.gethostname().lower().removesuffix(".")
    short = full.partition(".")[0]
    return frozenset({full, short, f"{short}.local"}) - {"", ".local"}


class AllowedHosts:
    """Who may come in: by which names this server is reached, and which other origins may use it.

    Raises StartFailed for a host name or origin that is none.
    """

    def __init__(self, host_names: Iterable[str] = (), allow_origins: Iterable[str] = ()) -> None:
        self._names = {"localhost"} | machine_names()
        for name in host_names:
            authority = parse_authority(name)
            if authority is None or authority.port is not None:
                raise StartFailed(f"host_names: {name!r} is not a host name.", param="host_names")
            self._names.add(authority.name)
        self._origins: set[Origin] = set()
        for text in allow_origins:
            origin = parse_origin(text.removesuffix("/"))
            if origin is None:
                raise StartFailed(
                    f"allow_origins: {text!r} is not an origin like https://chat.example.org.",
                    param="allow_origins",
                )
            self._origins.add(origin)

    def host(self, scope: Scope) -> Authority:
        """The Host of the request; one that a proxy on this machine told another for must be ours too. Any IP literal
        will do: rebinding needs a name. Raises Forbidden."""
        if before := hosts_before(scope):
            self._known(before)
        return self._known(_headers(scope, b"host"))

    def _known(self, values: list[str]) -> Authority:
        authority = parse_authority(values[0]) if len(values) == 1 else None
        if authority is None:
            raise Forbidden("The request has no valid Host header.", code="host_refused")
        if not authority.is_address and authority.name not in self._names:
            raise Forbidden(
                f"This server does not answer to the name {authority.name}. "
                f"If it is yours, start it with --host-name {authority.name}.",
                code="host_refused",
            )
        return authority

    def origin(self, scope: Scope, host: Authority) -> Origin | None:
        """The foreign origin that may use this server, None for our own page and for no browser. Raises Forbidden."""
        values = _headers(scope, b"origin")
        if not values:
            return None
        origin = parse_origin(values[0]) if len(values) == 1 else None
        scheme = "https" if scope["scheme"] in ("https", "wss") else "http"
        if origin == Origin(scheme, host.name, host.port or DEFAULT_PORTS[scheme]):
            return None
        if origin is not None and origin in self._origins:
            return origin
        if origin is not None and (origin.scheme, origin.name, scheme) == ("https", host.name, "http"):
            raise Forbidden(
                "This page came over https, and its request without it. If a proxy of yours stands between, start the server "
                "with --proxy and the proxy's address, and have it send X-Forwarded-Proto.",
                code="origin_refused",
            )
        shown = values[0][:200] if origin else "of that kind"
        raise Forbidden(
            f"Pages of the origin {shown} may not use this server. If it is yours, "
            "start the server with --allow-origin and that origin.",
            code="origin_refused",
        )


class HostCheck:
    """Refuses what comes under a foreign name or from a foreign page; answers the preflights of allowed origins."""

    def __init__(self, app: ASGIApp, visitors: AllowedHosts) -> None:
        self._app = app
        self._visitors = visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            host = self._visitors.host(scope)
            origin = None if _is_framed(scope) else self._visitors.origin(scope, host)
        except Forbidden as problem:
            log.warning("refused %s: %s", scope["path"], problem)
            await refuse(scope, receive, send, problem)
            return
        scope.setdefault("state", {})["host"] = host
        if origin is None or scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        value = _headers(scope, b"origin")[0].encode("latin-1")
        if scope["method"] == "OPTIONS" and _headers(scope, b"access-control-request-method"):
            await _answer_preflight(scope, value, send)
            return

        async def send_shared(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(b"access-control-allow-origin", value), (b"vary", b"Origin")]
                own.append((b"access-control-expose-headers", b"X-Request-Id"))
                message = _with_headers(message, own)
            await send(message)

        await self._app(scope, receive, send_shared)


FRAMED = "/preview/"
"""Files that a frame of the page loads. It has no origin of its own, and what lies there is nobody's secret."""


def _is_framed(scope: Scope) -> bool:
    reading = scope.get("method") in ("GET", "HEAD") and scope["path"].startswith(FRAMED)
    return reading and _headers(scope, b"origin") == ["null"]


async def _answer_preflight(scope: Scope, origin: bytes, send: Send) -> None:
    wanted = _headers(scope, b"access-control-request-headers")
    headers = [
        (b"access-control-allow-origin", origin),
        (b"access-control-allow-methods", b"GET, POST, PUT, PATCH, DELETE"),
        (b"access-control-allow-headers", ", ".join(wanted).encode("latin-1") or b"content-type"),
        (b"access-control-max-age", str(PREFLIGHT_SECONDS).encode()),
        (b"vary", b"Origin"),
    ]
    if _headers(scope, b"access-control-request-private-network"):
        headers.append((b"access-control-allow-private-network", b"true"))
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


class RequestIds:
    """Gives every request an id: the client's own where it is harmless, else a new one. The outermost door, so that
    each refusal has one too; it also writes the line of the log and counts the request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        given = _headers(scope, b"x-request-id")
        identity = given[0] if len(given) == 1 and _REQUEST_ID.fullmatch(given[0]) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = identity
        token = telemetry.request_id.set(identity)
        start, status = time.perf_counter(), 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] in STARTS:
                status = message.get("status", 101)
                message = _with_headers(message, [(b"x-request-id", identity.encode())])
            elif message["type"] == "websocket.close" and status == 500:
                status = 403
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            _note(scope, status, time.perf_counter() - start)
            telemetry.request_id.reset(token)


STARTS = ("http.response.start", "websocket.http.response.start", "websocket.accept")
QUIET = ("/health", "/ready", "/metrics", "/assets/")


def _note(scope: Scope, status: int, seconds: float) -> None:
    method = scope.get("method", "SOCKET")
    level = logging.DEBUG if scope["path"].startswith(QUIET) and status < 400 else logging.INFO
    log.log(level, "%s %s %d %.0f ms%s", method, scope["path"], status, seconds * 1000, _asker(scope))
    # Only a route's own template may become a label: paths are the clients' to invent, and each would stay for good.
    endpoint = getattr(scope.get("route"), "path", None) or "other"
    telemetry.metrics().request_ended(f"{method} {endpoint}", str(status), seconds)


def _asker(scope: Scope) -> str:
    """Who asked, where it was not this machine."""
    address = (scope.get("client") or ("",))[0]
    try:
        is_here = ipaddress.ip_address(address).is_loopback
    except ValueError:  # a test's client, or none
        is_here = True
    return "" if is_here else f" from {address}"


class BodyLimit:
    """Refuses request bodies of more than `limit` bytes: at once by Content-Length, else while they stream in.

    `others` are paths with a limit of their own: bytes, and the setting that raises it.
    """

    def __init__(
        self,
        app: ASGIApp,
        limit: int,
        setting: str = "limits.body_mb",
        others: Mapping[str, tuple[int, str]] = MappingProxyType({}),
    ) -> None:
        self._app = app
        self._usual = limit, setting
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit, setting = self._others.get(scope["path"], self._usual)
        problem = TooLarge(
            f"The request body is larger than {limit / 2**20:g} MB; the setting {setting} raises the limit."
        )
        announced = _headers(scope, b"content-length")
        if announced and announced[0].isdigit() and int(announced[0]) > limit:
            await self._refuse(scope, receive, send, problem, limit)
            return
        taken = 0
        started = exceeded = False

        async def receive_limited() -> Message:
            nonlocal taken, exceeded
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > limit:
                exceeded = True
                raise problem
            return message

        async def send_unless_exceeded(message: Message) -> None:
            # A framework may turn what `receive` raised into an answer of its own: ours stands instead.
            nonlocal started
            if not exceeded or started:
                started = True
                await send(message)

        try:
            await self._app(scope, receive_limited, send_unless_exceeded)
        except TooLarge as raised:
            if raised is not problem:
                raise
        if exceeded and not started:
            await self._refuse(scope, receive, send, problem, limit)

    async def _refuse(
        self, scope: Scope, receive: Receive, send: Send, problem: TooLarge, limit: int
    ) -> None:
        """Answer, then take in some more of the body: many clients read the answer only after they have sent all,
        and a connection closed in their face would lose it."""

        async def send_and_drain(message: Message) -> None:
            if message["type"] == "http.response.body":
                await send({**message, "more_body": True})
                await _drain(receive, max(limit, DRAIN_BYTES))
                message = {"type": "http.response.body", "body": b""}
            await send(message)

        await refuse(scope, receive, send_and_drain, problem, {"connection": "close"})


async def _drain(receive: Receive, room: int) -> None:
    with anyio.move_on_after(DRAIN_SECONDS):
        while room > 0:
            message = await receive()
            room -= len(message.get("body", b""))
            if message["type"] == "http.disconnect" or not message.get("more_body"):
                return


class SecurityHeaders:
    """Headers for every HTTP answer: a strict content policy, no sniffing, no framing, no referrer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                host = scope.get("state", {}).get("host")  # set further in, once it was accepted
                own = GUARDS | {b"content-security-policy": content_policy(host)}
                given = {name.lower() for name, _ in message.get("headers", ())}
                message = _with_headers(message, [item for item in own.items() if item[0] not in given])
            await send(message)

        await self._app(scope, receive, send_guarded)


GUARDS = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"x-frame-options": b"DENY",
}


def content_policy(host: Authority | None) -> bytes:
    """The Content-Security-Policy: everything from here, nothing inline. Sockets are named by the host that was
    accepted, since not every browser takes 'self' for ws:."""
    sockets = ""
    if host is not None and ":" not in host.name:
        port = f":{host.port}" if host.port else ""
        sockets = f" ws://{host.name}{port} wss://{host.name}{port}"
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; manifest-src 'self'; "
        "img-src 'self' blob: data:; media-src 'self' blob:; worker-src 'self'; "
        f"frame-src 'self'; connect-src 'self'{sockets}; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ).encode()


def with_middleware(
    app: ASGIApp, visitors: AllowedHosts, base: str = "", proxies: Proxies | None = None
) -> ASGIApp:
    """`app` behind the doors, in the one right order: every answer has an id and the headers that guard it, also
    the refusals and the last resort of a framework inside. Host and Origin are those that a believed proxy tells."""
    return RequestIds(SecurityHeaders(ProxyMiddleware(HostCheck(app, visitors), base, proxies or Proxies())))


def _with_headers(message: Message, headers: Iterable[tuple[bytes, bytes]]) -> Message:
    return {**message, "headers": [*message.get("headers", ()), *headers]}


def _headers(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]
