"""The way in: what stands between the client and this server is taken off a request before anything looks at it.

Owns what a believed proxy says (`forwarded`) becoming the request's scheme, host and client, and the base path
(`strip_base_path`) coming off its address. What is left is a request as it would have come without either. `base_of` says what
was taken off, for those who name an address of ours. Knows no endpoint and no user.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from duologue.errors import NotFound
from duologue.gateway.middleware.base_path import Elsewhere, Inside, strip_base_path
from duologue.gateway.middleware.forwarded import HEADERS, ForwardedInfo, Proxies, is_here
from duologue.http.error_responses import refuse
from duologue.wire.validation_errors import shortened

SOCKET_SCHEMES = {"http": "ws", "https": "wss"}


class ProxyMiddleware:
    """`app` under `base`, behind `proxies`. The scope is changed where it stands: the doors outside look at it after."""

    def __init__(self, app: ASGIApp, base: str, proxies: Proxies) -> None:
        self._app = app
        self._base = base
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        claim = self._claim(scope)
        _believe(scope, claim)
        found = strip_base_path(scope["path"], self._base, claim.prefix)
        if isinstance(found, Inside):
            scope["path"] = found.path
            scope.setdefault("state", {})["base_path"] = found.base
            # Not `root_path`: routers would take it off the address once more.
            scope["app_root_path"] = found.base
            await self._app(scope, receive, send)
        elif isinstance(found, Elsewhere) and _may_follow(scope, found):
            await _send_elsewhere(scope, send, found.location)
        else:
            sentence = (
                f"There is nothing at {shortened(scope['path'])}: this server answers under {self._base}/"
            )
            await refuse(scope, receive, send, NotFound(f"{sentence} (the setting base_path)."))

    def _claim(self, scope: Scope) -> ForwardedInfo:
        peer = scope.get("client")
        if not self._proxies or not peer:
            return ForwardedInfo()
        said: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            if (lower := name.decode("latin-1").lower()) in HEADERS:
                said.setdefault(lower, []).append(value.decode("latin-1"))
        return self._proxies.claim(said, peer[0])


def base_of(scope: Scope) -> str:
    """What stands before every address of ours, as this request's client sees it; "" or "/x"."""
    return str(scope.get("state", {}).get("base_path", ""))


def hosts_before(scope: Scope) -> list[str]:
    """The Host that a request came with before another was believed, where it came from this machine. A browser here
    has the address of a proxy here, and its pages could say all that the proxy says, but not by which name they came."""
    return list(scope.get("state", {}).get("hosts_before", ()))


def _believe(scope: Scope, claim: ForwardedInfo) -> None:
    if claim.host and is_here(scope["client"][0]):
        came = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        scope.setdefault("state", {})["hosts_before"] = came
    if claim.client:
        scope["client"] = (claim.client, 0)
    if claim.scheme:
        scope["scheme"] = SOCKET_SCHEMES[claim.scheme] if scope["type"] == "websocket" else claim.scheme
    if claim.host:
        others = [(name, value) for name, value in scope["headers"] if name != b"host"]
        scope["headers"] = [(b"host", claim.host.encode("latin-1")), *others]


def _may_follow(scope: Scope, found: Elsewhere) -> bool:
    if scope.get("method") not in ("GET", "HEAD"):
        return False
    accepts = b"".join(value for name, value in scope["headers"] if name == b"accept")
    return not found.only_for_browsers or b"text/html" in accepts


async def _send_elsewhere(scope: Scope, send: Send, location: str) -> None:
    query = scope.get("query_string", b"")
    where = location.encode() + (b"?" + query if query else b"")
    headers = [(b"location", where), (b"cache-control", b"no-cache"), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 308, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
