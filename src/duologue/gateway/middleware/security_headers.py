"""The security headers of every HTTP answer, refusals included."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duologue.gateway.middleware.headers import with_headers
from duologue.gateway.middleware.host_check import Authority

HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"x-frame-options": b"DENY",
}


class SecurityHeaders:
    """Adds a strict content policy, and forbids sniffing, framing and foreign referrers. A header the endpoint set stays."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                host = scope.get("state", {}).get(
                    "host"
                )  # set by HostCheck, further in, once it has accepted the request
                headers = HEADERS | {b"content-security-policy": content_policy(host)}
                present = {name.lower() for name, _ in message.get("headers", ())}
                message = with_headers(message, [item for item in headers.items() if item[0] not in present])
            await send(message)

        await self._app(scope, receive, send_with_headers)


def content_policy(host: Authority | None) -> bytes:
    """The Content-Security-Policy: everything from this server, nothing inline. Sockets are named by the accepted host,
    because not every browser includes ws: in 'self'."""
    sockets = ""
    if host is not None and ":" not in host.name:
        port = f":{host.port}" if host.port else ""
        sockets = f" ws://{host.name}{port} wss://{host.name}{port}"
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; manifest-src 'self'; "
        "img-src 'self' blob: data:; media-src 'self' blob:; worker-src 'self'; "
        f"frame-src 'self'; connect-src 'self'{sockets}; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ).encode()
