"""Undoes what stands between the client and this server, before any other check of the request.

Puts what a trusted proxy reports (`forwarded`) into the request's scheme, host and client, and strips the base path from its
path (`strip_base_path`). The rest of the gateway sees the request as if it had come directly. `base_of` gives the stripped
path to code that builds URLs or cookies.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from duologue.errors import NotFound
from duologue.gateway.middleware.base_path import Elsewhere, Inside, strip_base_path
from duologue.gateway.middleware.forwarded import HEADERS, ForwardedInfo, Proxies, is_local
from duologue.http.error_responses import refuse
from duologue.wire.validation_errors import shortened

SOCKET_SCHEMES = {"http": "ws", "https": "wss"}


class ProxyMiddleware:
    """`app` under `base`, behind `proxies`. Changes the scope in place, because the outer middleware logs it afterwards."""

    def __init__(self, app: ASGIApp, base: str, proxies: Proxies) -> None:
        self._app = app
        self._base = base
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        forwarded = self._forwarded(scope)
        _apply(scope, forwarded)
        place = strip_base_path(scope["path"], self._base, forwarded.prefix)
        if isinstance(place, Inside):
            scope["path"] = place.path
            scope.setdefault("state", {})["base_path"] = place.base
            # Not `root_path`: routers would strip it from the path a second time.
            scope["app_root_path"] = place.base
            await self._app(scope, receive, send)
        elif isinstance(place, Elsewhere) and _may_redirect(scope, place):
            await _redirect(scope, send, place.location)
        else:
            sentence = (
                f"There is nothing at {shortened(scope['path'])}: this server answers under {self._base}/"
            )
            await refuse(scope, receive, send, NotFound(f"{sentence} (the setting base_path)."))

    def _forwarded(self, scope: Scope) -> ForwardedInfo:
        peer = scope.get("client")
        if not self._proxies or not peer:
            return ForwardedInfo()
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            if (lower := name.decode("latin-1").lower()) in HEADERS:
                headers.setdefault(lower, []).append(value.decode("latin-1"))
        return self._proxies.read(headers, peer[0])


def base_of(scope: Scope) -> str:
    """The path prefix of this server's URLs, as this request's client sees them; "" or "/x"."""
    return str(scope.get("state", {}).get("base_path", ""))


def original_hosts(scope: Scope) -> list[str]:
    """The Host values of a request from this machine before a forwarded host replaced them.

    A browser on this machine has the same address as a proxy on it, so a page in it can forge every forwarded header. It
    cannot forge Host, which therefore stays part of the check.
    """
    return list(scope.get("state", {}).get("original_hosts", ()))


def _apply(scope: Scope, forwarded: ForwardedInfo) -> None:
    if forwarded.host and is_local(scope["client"][0]):
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        scope.setdefault("state", {})["original_hosts"] = hosts
    if forwarded.client:
        scope["client"] = (forwarded.client, 0)
    if forwarded.scheme:
        scope["scheme"] = (
            SOCKET_SCHEMES[forwarded.scheme] if scope["type"] == "websocket" else forwarded.scheme
        )
    if forwarded.host:
        others = [(name, value) for name, value in scope["headers"] if name != b"host"]
        scope["headers"] = [(b"host", forwarded.host.encode("latin-1")), *others]


def _may_redirect(scope: Scope, place: Elsewhere) -> bool:
    if scope.get("method") not in ("GET", "HEAD"):
        return False
    accepts = b"".join(value for name, value in scope["headers"] if name == b"accept")
    return not place.browsers_only or b"text/html" in accepts


async def _redirect(scope: Scope, send: Send, location: str) -> None:
    query = scope.get("query_string", b"")
    where = location.encode() + (b"?" + query if query else b"")
    headers = [(b"location", where), (b"cache-control", b"no-cache"), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 308, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
