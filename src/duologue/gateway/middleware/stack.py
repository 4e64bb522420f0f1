"""The order of the middleware that every request and every answer passes. `server` puts it around the application."""

from __future__ import annotations

from starlette.types import ASGIApp

from duologue.gateway.middleware.forwarded import Proxies
from duologue.gateway.middleware.host_check import AllowedHosts, HostCheck
from duologue.gateway.middleware.proxy import ProxyMiddleware
from duologue.gateway.middleware.request_id import RequestId
from duologue.gateway.middleware.security_headers import SecurityHeaders


def with_middleware(
    app: ASGIApp, hosts: AllowedHosts, base: str = "", proxies: Proxies | None = None
) -> ASGIApp:
    """`app` behind the middleware. The order matters: refusals and crashes further in must have an id and the security headers
    too, and Host and Origin are checked as a trusted proxy reports them."""
    return RequestId(SecurityHeaders(ProxyMiddleware(HostCheck(app, hosts), base, proxies or Proxies())))
