"""Which internet addresses are public, and at which clouds keep the credentials of a machine. Pure.

Tools and downloads follow addresses that come from outside, and must not be led into this machine's network. An admin may
name private addresses; those of credentials are not meant by a whole network.
"""

from __future__ import annotations

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# NAT64 and 6to4: global by the registries, but both embed an IPv4 address that a translator may reach.
TRANSLATED = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("2002::/16"))
GLOBAL = ipaddress.IPv6Network("2000::/3")
"""All unicast addresses of IPv6 that were ever handed out."""
# Which of these `is_global` knows depends on the version of Python.
RESERVED: tuple[Network, ...] = (
    ipaddress.IPv4Network("192.0.0.0/24"),
    ipaddress.IPv4Network("192.88.99.0/24"),  # relays of 6to4
    ipaddress.IPv6Network("2001::/23"),  # Teredo, benchmarks, ORCHID
    ipaddress.IPv6Network("2001:db8::/32"),
    ipaddress.IPv6Network("3fff::/20"),
)
ISATAP = (0x00005EFE, 0x02005EFE)
"""The middle of an address that ends in the IPv4 address of a tunnel."""

METADATA: tuple[Network, ...] = (
    ipaddress.IPv4Network(
        "169.254.0.0/16"
    ),  # nearly all clouds; link-local addresses have no other use for servers
    ipaddress.IPv4Network("100.100.100.200/32"),  # Alibaba
    ipaddress.IPv4Network("168.63.129.16/32"),  # Azure, a public address
    ipaddress.IPv6Network("fd00:ec2::/32"),  # Amazon: ::254, and ::23 for containers
    ipaddress.IPv6Network("fd20:ce::254/128"),  # Google
    ipaddress.IPv6Network("fd00:42::42/128"),  # Scaleway
)
"""Where machines in a cloud read the credentials that it gave them."""
METADATA_IPV4 = int(ipaddress.IPv4Address("169.254.169.254"))


def is_metadata(address: Address) -> bool:
    """Whether a cloud keeps credentials at an address. The end of an IPv6 address may be an IPv4 address: mapped, translated
    by NAT64 under any prefix, or of a cloud that chose it so (OpenStack's fe80::a9fe:a9fe)."""
    if any(address in network for network in METADATA if network.version == address.version):
        return True
    if isinstance(address, ipaddress.IPv4Address):
        return False
    if int(address) & 0xFFFFFFFF == METADATA_IPV4:
        return True
    embedded = [address.ipv4_mapped, address.sixtofour]
    if address in TRANSLATED[0]:
        embedded.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return any(inner is not None and is_metadata(inner) for inner in embedded)


def is_public(address: Address) -> bool:
    """Whether an address is public, including any IPv4 address embedded in it."""
    if is_metadata(address) or any(
        address in network for network in RESERVED if network.version == address.version
    ):
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        for network, shift in zip(TRANSLATED, (0, 80), strict=True):
            if address in network:
                return is_public(ipaddress.IPv4Address((int(address) >> shift) & 0xFFFFFFFF))
        if address not in GLOBAL:
            return False
        if (int(address) >> 32) & 0xFFFFFFFF in ISATAP:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)
