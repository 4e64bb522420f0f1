"""The id of every request, its line in the log, and its count in the metrics.

Owns `scope["state"]["request_id"]`, the context variable of telemetry for the length of the request, and the X-Request-Id of
the answer. The outermost middleware.
"""

from __future__ import annotations

import ipaddress
import logging
import re
import secrets
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duologue import telemetry
from duologue.gateway.middleware.headers import header_values, with_headers
from duologue.http.error_responses import ERROR_CODE, is_anthropic

log = logging.getLogger(__name__)

STARTS = ("http.response.start", "websocket.http.response.start", "websocket.accept")
QUIET = ("/health", "/ready", "/metrics", "/assets/")
"""Paths that are logged at debug level: probes and files."""

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")


class RequestId:
    """Gives every request an id: the client's own if it is well-formed, else a new one. The outermost middleware, so that
    refusals have an id too. It also logs each request and counts it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        values = header_values(scope, b"x-request-id")
        well_formed = len(values) == 1 and _REQUEST_ID.fullmatch(values[0])
        id = values[0] if well_formed else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = id
        token = telemetry.request_id.set(id)
        start, status = time.perf_counter(), 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] in STARTS:
                status = message.get("status", 101)
                names = [b"x-request-id"]
                if is_anthropic(scope["path"], scope["headers"]):
                    names.append(b"request-id")  # where clients of that API look for it
                message = with_headers(message, [(name, id.encode()) for name in names])
            elif message["type"] == "websocket.close" and status == 500:
                status = 403  # closed before it was accepted
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            _record(scope, status, time.perf_counter() - start)
            telemetry.request_id.reset(token)


def _record(scope: Scope, status: int, seconds: float) -> None:
    method = scope.get("method", "SOCKET")
    level = logging.DEBUG if scope["path"].startswith(QUIET) and status < 400 else logging.INFO
    log.log(level, "%s %s %d %.0f ms%s", method, scope["path"], status, seconds * 1000, _origin_suffix(scope))
    # Only a route's template may become a label: clients can invent paths, and every label stays in memory for ever.
    endpoint = getattr(scope.get("route"), "path", None) or "other"
    code = str(scope.get("state", {}).get(ERROR_CODE, ""))
    telemetry.metrics().request_ended(f"{method} {endpoint}", str(status), seconds, code)


def _origin_suffix(scope: Scope) -> str:
    """The client's address for the log line; empty for this machine."""
    address = (scope.get("client") or ("",))[0]
    try:
        is_here = ipaddress.ip_address(address).is_loopback
    except ValueError:  # a test's client, or no address
        is_here = True
    return "" if is_here else f" from {address}"
