"""Refuses requests that another site's page sends to this server through the browser of a person who can reach it.

Owns the check of Host and Origin, and CORS for allowed origins. A foreign page gives itself away by its Origin; a page that
rebinds its own name to 127.0.0.1 (DNS rebinding) gives itself away by its Host. Sets `scope["state"]["host"]`.
"""

from __future__ import annotations

import ipaddress
import logging
import re
import socket
from collections.abc import Iterable
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duologue.errors import Forbidden, StartFailed
from duologue.gateway.middleware.headers import header_values, with_headers
from duologue.gateway.middleware.proxy import original_hosts
from duologue.http.error_responses import refuse
from duologue.queue_ticket import LOADED_HEADER, TICKET_HEADER, WAITED_HEADER

log = logging.getLogger(__name__)

DEFAULT_PORTS = {"http": 80, "https": 443}
PREFLIGHT_SECONDS = 600

_AUTHORITY = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:(?P<port>[0-9]{1,5}))?")


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
    """The host names this server answers to, and the foreign origins whose pages may use it.

    Raises StartFailed for an entry that is not a host name or not an origin.
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
        """The Host of the request. If a proxy on this machine replaced it, the original must be allowed too. Any IP literal
        is allowed: DNS rebinding needs a name. Raises Forbidden."""
        if original := original_hosts(scope):
            self._check(original)
        return self._check(header_values(scope, b"host"))

    def _check(self, values: list[str]) -> Authority:
        authority = parse_authority(values[0]) if len(values) == 1 else None
        if authority is None:
            raise Forbidden("The request has no valid Host header.", code="host_refused")
        if not authority.is_address and authority.name not in self._names:
            raise Forbidden(
                f"This server does not answer to the name {authority.name}. "
                f"If the name is yours, start the server with --host-name {authority.name}.",
                code="host_refused",
            )
        return authority

    def origin(self, scope: Scope, host: Authority) -> Origin | None:
        """The allowed foreign origin; None for this server's own page and for clients that send no Origin. Raises Forbidden."""
        values = header_values(scope, b"origin")
        if not values:
            if _is_cross_site(scope):
                raise Forbidden(
                    "Pages of other sites may link to this server, but not load anything from it.",
                    code="origin_refused",
                )
            return None
        origin = parse_origin(values[0]) if len(values) == 1 else None
        scheme = "https" if scope["scheme"] in ("https", "wss") else "http"
        if origin == Origin(scheme, host.name, host.port or DEFAULT_PORTS[scheme]):
            return None
        if origin is not None and origin in self._origins:
            return origin
        if origin is not None and (origin.scheme, origin.name, scheme) == ("https", host.name, "http"):
            raise Forbidden(
                "This page was loaded over https, but its request arrived over http. If you run a proxy in between, start "
                "the server with --proxy and the proxy's address, and have the proxy send X-Forwarded-Proto.",
                code="origin_refused",
            )
        shown = values[0][:200] if origin else "of this kind"
        raise Forbidden(
            f"Pages from the origin {shown} may not use this server. If the origin is yours, "
            "start the server with --allow-origin and that origin.",
            code="origin_refused",
        )


class HostCheck:
    """Refuses requests to a foreign host name or from a foreign page, and answers the preflights of allowed origins."""

    def __init__(self, app: ASGIApp, allowed: AllowedHosts) -> None:
        self._app = app
        self._allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            host = self._allowed.host(scope)
            origin = None if _is_preview_file(scope) else self._allowed.origin(scope, host)
        except Forbidden as problem:
            log.warning("refused %s: %s", scope["path"], problem)
            await refuse(scope, receive, send, problem)
            return
        scope.setdefault("state", {})["host"] = host
        if origin is None or scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        value = header_values(scope, b"origin")[0].encode("latin-1")
        if scope["method"] == "OPTIONS" and header_values(scope, b"access-control-request-method"):
            await _answer_preflight(scope, value, send)
            return

        async def send_with_cors(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(b"access-control-allow-origin", value), (b"vary", b"Origin")]
                own.append((b"access-control-expose-headers", EXPOSED.encode()))
                message = with_headers(message, own)
            await send(message)

        await self._app(scope, receive, send_with_cors)


EXPOSED = f"X-Request-Id, Retry-After, {TICKET_HEADER}, {WAITED_HEADER}, {LOADED_HEADER}"
"""Headers of answers that pages of other origins may read."""
PREVIEW_PATH = "/preview/"
"""Files that the page's sandboxed frame loads. Such a frame has the origin `null`, and these files are public."""


def _is_preview_file(scope: Scope) -> bool:
    is_read = scope.get("method") in ("GET", "HEAD") and scope["path"].startswith(PREVIEW_PATH)
    return is_read and header_values(scope, b"origin") in (["null"], [])


def _is_cross_site(scope: Scope) -> bool:
    """Whether a browser says that another site's page causes a request without an Origin, and not by a link that a person
    follows: an image, a script, a frame. Links must work, among them those that lead back from a sign-in."""
    if header_values(scope, b"sec-fetch-site") != ["cross-site"]:
        return False
    # A service worker passes a followed link on with the mode `same-origin` and no destination.
    is_link = header_values(scope, b"sec-fetch-mode") in (["navigate"], ["same-origin"])
    is_page = header_values(scope, b"sec-fetch-dest") in (["document"], ["empty"], [])
    return not (is_link and is_page and scope.get("method") in ("GET", "HEAD"))


async def _answer_preflight(scope: Scope, origin: bytes, send: Send) -> None:
    requested = header_values(scope, b"access-control-request-headers")
    headers = [
        (b"access-control-allow-origin", origin),
        (b"access-control-allow-methods", b"GET, POST, PUT, PATCH, DELETE"),
        (b"access-control-allow-headers", ", ".join(requested).encode("latin-1") or b"content-type"),
        (b"access-control-max-age", str(PREFLIGHT_SECONDS).encode()),
        (b"vary", b"Origin"),
    ]
    if header_values(scope, b"access-control-request-private-network"):
        headers.append((b"access-control-allow-private-network", b"true"))
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
