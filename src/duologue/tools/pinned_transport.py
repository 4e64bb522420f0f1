"""Requests that leave this machine on somebody else's word: each goes to the address that was checked for it.

Owns the HTTP transport for servers people add and for the fetch tool. It looks the host up once, connects to exactly
that address, and still asks for the host by name and checks its certificate. Every request passes here, those after
a redirect and those of a login flow too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from duologue.tools.ssrf_guard import AddressGuard

if TYPE_CHECKING:
    import httpx2

HOSTS = 16
"""Hosts one client may keep connections to at a time."""


def checked_transport(addresses: AddressGuard) -> httpx2.AsyncBaseTransport:
    """A transport whose every connection goes to a checked address. It asks no proxy of the environment: what a
    proxy connects to, nobody checked. Requests raise Forbidden or BadRequest as `AddressGuard.check`."""
    import httpx2

    class PinnedTransport(httpx2.AsyncBaseTransport):
        def __init__(self) -> None:
            # By host and address: a connection made for one name must not carry another's requests.
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
