"""The order of the middleware that every request and every answer passes. `server` puts it around the application."""

from __future__ import annotations

from starlette.types import ASGIApp

from duologue.gateway.middleware.forwarded import Proxies
from duologue.gateway.middleware.host_check import AllowedHosts, HostCheck
from duologue.gateway.middleware.proxy import ProxyMiddleware
from duologue.gateway.middleware.request_id import RequestId
from duologue.gateway.middleware.security_headers import SecurityHeaders
from duologue.gateway.middleware.traced_requests import TracedRequests
from duologue.tracing import spans


def with_middleware(
    app: ASGIApp,
    hosts: AllowedHosts,
    base: str = "",
    proxies: Proxies | None = None,
    *,
    trust_traces: bool = False,
) -> ASGIApp:
    """`app` behind the middleware. `trust_traces`: where this process traces, whether clients may name the trace of a request. The order matters: refusals and crashes further in must have an id and the security headers
    too, and Host and Origin are checked as a trusted proxy reports them."""
    inner: ASGIApp = SecurityHeaders(ProxyMiddleware(HostCheck(app, hosts), base, proxies or Proxies()))
    return RequestId(TracedRequests(inner, trust=trust_traces) if spans.is_on() else inner)
