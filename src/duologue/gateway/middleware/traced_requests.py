"""The span of every request: its route, its status, and the error it was answered with.

Directly inside the middleware of ids, and only where tracing is on. A client's own trace is continued if the settings trust clients;
otherwise each request begins a new one, so that strangers decide nothing about what is recorded.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duologue.gateway.middleware.headers import header_values
from duologue.gateway.middleware.request_id import QUIET, STARTS
from duologue.http.error_responses import ERROR_CODE
from duologue.tracing import attributes, spans

TRACEPARENT = b"traceparent"


class TracedRequests:
    """Traces requests and sockets, but no probes and files. `trust`: whether a client may name the trace."""

    def __init__(self, app: ASGIApp, *, trust: bool) -> None:
        self._app, self._trust = app, trust

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or scope["path"].startswith(QUIET):
            await self._app(scope, receive, send)
            return
        method, status = str(scope.get("method", "GET")), 500

        async def send_noting_status(message: Message) -> None:
            nonlocal status
            if message["type"] in STARTS:
                status = message.get("status", 101)
            elif message["type"] == "websocket.close" and status == 500:
                status = 403
            await send(message)

        with spans.span(method, kind="server", remote=self._remote(scope)) as span:
            if not span.recording:
                await self._app(scope, receive, send)
                return
            try:
                await self._app(scope, receive, send_noting_status)
            finally:
                _describe(span, scope, method, status)

    def _remote(self, scope: Scope) -> str:
        """The client's place in a trace, as far as it may name one."""
        values = header_values(scope, TRACEPARENT) if self._trust else []
        return values[0] if len(values) == 1 else ""


def _describe(span: spans.TraceSpan, scope: Scope, method: str, status: int) -> None:
    # The template alone: a path may have names that people gave.
    route = getattr(scope.get("route"), "path", None) or "other"
    state = scope.get("state", {})
    span.rename(f"{method} {route}")
    span.set(
        {
            attributes.HTTP_METHOD: method,
            attributes.HTTP_ROUTE: route,
            attributes.HTTP_STATUS: status,
            attributes.REQUEST_ID: str(state.get("request_id", "")),
        }
    )
    if status >= 500:
        span.fail(str(state.get(ERROR_CODE, status)))
    elif ERROR_CODE in state:
        # A mistake of the client is no failure of the server, by the conventions.
        span.set({spans.ERROR_TYPE: str(state[ERROR_CODE])})
