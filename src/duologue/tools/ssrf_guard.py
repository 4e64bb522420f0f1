"""Decides which addresses tools may reach (protection against server-side request forgery).

A URL from a model or a user must not give access to this machine's network. `choose_address` is pure; `AddressGuard`
resolves the host and applies it. Callers connect to the returned address and never resolve again: a name can point
elsewhere a moment later (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Sequence

from duologue.errors import BadRequest, Forbidden
from duologue.public_address import Address, Network, is_metadata, is_public

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class AllowList:
    """The private hosts, addresses and networks tools may reach, from the setting `tools.private_addresses`. A network does not
    allow the addresses in it at which clouds keep credentials; each of them must be named.

    Raises BadRequest for an entry that is none of these."""

    def __init__(self, entries: Sequence[str] = ()) -> None:
        self._hosts: set[str] = set()
        self._networks: list[Network] = []
        for entry in entries:
            try:
                self._networks.append(ipaddress.ip_network(entry.strip("[]"), strict=False))
            except ValueError:
                if "/" in entry or not entry.strip():
                    raise BadRequest(
                        f"tools.private_addresses: {entry!r} is not a host, address or network.",
                        param="tools.private_addresses",
                    ) from None
                self._hosts.add(plain_host(entry))

    def host(self, host: str) -> bool:
        return plain_host(host) in self._hosts

    def address(self, address: Address) -> bool:
        one = is_metadata(address)
        return any(
            address in network and (not one or network.num_addresses == 1)
            for network in self._networks
            if network.version == address.version
        )


def plain_host(host: str) -> str:
    """Normalize a host for comparison: lower case, without brackets, trailing dot and zone."""
    return host.strip("[]").rstrip(".").partition("%")[0].lower()


def is_metadata_host(host: str) -> bool:
    """Whether a host is written as an address at which clouds keep credentials. Names are only known when they are resolved."""
    try:
        return is_metadata(ipaddress.ip_address(plain_host(host)))
    except ValueError:
        return False


def choose_address(host: str, addresses: Sequence[str], allowed: AllowList) -> str:
    """The address to connect to for `host`, which has `addresses`.

    All of them must be allowed: a name that mixes public and private addresses is an attack or a mistake. Raises
    Forbidden (private_address), or BadRequest (unknown_host) when `addresses` is empty.
    """
    if not addresses:
        raise BadRequest(f"The host {host} could not be resolved.", code="unknown_host")
    if not allowed.host(host):
        for text in addresses:
            address = ipaddress.ip_address(text.partition("%")[0])
            if not is_public(address) and not allowed.address(address):
                raise Forbidden(
                    f"{host} is {address}, an address of a private network, and nothing is fetched from there. The "
                    "setting tools.private_addresses can allow it.",
                    code="private_address",
                )
    return addresses[0]


async def resolve_host(host: str, port: int) -> list[str]:
    """Resolve `host` with the system's resolver; an empty list when the name is unknown."""
    import socket

    import anyio

    try:
        with anyio.fail_after(10):
            entries = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError):
        return []
    return [str(entry[4][0]) for entry in entries]


class AddressGuard:
    """Resolves hosts and checks their addresses. `resolve` takes a host and a port."""

    def __init__(self, allowed: AllowList, resolve: Resolve = resolve_host) -> None:
        self._allowed = allowed
        self._resolve = resolve

    async def check(self, host: str, port: int) -> str:
        """The address to connect to. Raises Forbidden or BadRequest, as `choose_address`."""
        host = plain_host(host)
        try:
            return choose_address(host, [str(ipaddress.ip_address(host))], self._allowed)
        except ValueError:
            return choose_address(host, await self._resolve(host, port), self._allowed)
