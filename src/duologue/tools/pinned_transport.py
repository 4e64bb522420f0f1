"""HTTP transport that connects only to addresses the SSRF guard has checked.

Used for servers added over the API and by the fetch tool. It resolves the host once and connects to exactly that
address, so a second DNS answer cannot redirect the connection; Host, SNI and the certificate check still use the name.
Redirects and the requests of a login flow pass through it too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from duologue.tools.ssrf_guard import AddressGuard

if TYPE_CHECKING:
    import httpx2

HOSTS = 16
"""Hosts a client keeps connections to at a time."""


def checked_transport(addresses: AddressGuard) -> httpx2.AsyncBaseTransport:
    """A transport whose connections all go to checked addresses. Ignores proxies of the environment: a proxy would
    resolve the name itself, unchecked. Requests raise Forbidden or BadRequest as `AddressGuard.check`."""
    import httpx2

    class PinnedTransport(httpx2.AsyncBaseTransport):
        def __init__(self) -> None:
            # Keyed by host and address: a connection verified for one name must not carry requests for another.
            self._by_host: dict[tuple[str, str], httpx2.AsyncHTTPTransport] = {}

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            host = request.url.host
            port = request.url.port or (443 if request.url.scheme == "https" else 80)
            address = await addresses.check(host, port)
            inner = self._by_host.get((host, address))
            if inner is None:
                if len(self._by_host) >= HOSTS:
                    await self._by_host.pop(next(iter(self._by_host))).aclose()
                inner = self._by_host[host, address] = httpx2.AsyncHTTPTransport(trust_env=False)
            pinned = httpx2.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=request.headers,
                stream=request.stream,
                extensions=dict(request.extensions) | {"sni_hostname": host},
            )
            return await inner.handle_async_request(pinned)

        async def aclose(self) -> None:
            while self._by_host:
                _, inner = self._by_host.popitem()
                await inner.aclose()

    return PinnedTransport()
