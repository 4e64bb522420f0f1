"""How near an address is to this machine, which decides whether a redirect to it is followed. Pure. Used by `http`."""

from __future__ import annotations

import ipaddress
from enum import IntEnum

from duologue.public_address import is_public


class Reach(IntEnum):
    """A redirect may lead as near as the address that was asked for, and no nearer."""

    PUBLIC = 0
    NETWORK = 1
    """Every address that is not public."""
    MACHINE = 2


def reach_of(host: str) -> Reach | None:
    """The reach of an address, or of the name localhost; None for other names, which only connecting tells."""
    if host.rstrip(".").lower() == "localhost":
        return Reach.MACHINE
    try:
        address = ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_loopback or address.is_unspecified:
        return Reach.MACHINE
    return Reach.PUBLIC if is_public(address) else Reach.NETWORK
