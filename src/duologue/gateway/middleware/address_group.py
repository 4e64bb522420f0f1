"""Which addresses one client can choose from: pure. Connections and wrong keys are counted by such a group."""

from __future__ import annotations

import ipaddress


def address_group(address: str) -> str:
    """An IPv4 address alone, or the /64 of an IPv6 address, which is what one subscriber has; "" for what is neither."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
