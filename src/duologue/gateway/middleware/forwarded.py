"""What a proxy says of the request it passes on: who asked, over which scheme, by which name, under which prefix.

Owns the reading of `X-Forwarded-For`, `-Proto`, `-Host` and `-Prefix`, and of `Forwarded` (RFC 7239) where none of
those is there, and whom to believe. Anybody can write these headers, so each word counts only as far as a believed
proxy wrote it: the lists are read from their end, where the nearest proxy adds, and not beyond the first address that
is no proxy of ours. Knows no socket and no ASGI.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from duologue.errors import StartFailed

HEADERS = ("x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-prefix", "forwarded")
HOPS = 32
"""Proxies in a row that are looked at; longer lists are not ours."""

_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+")
_PAIR = re.compile(r'\s*([A-Za-z]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s";,]*)\s*(;|,|$)')

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class ForwardedInfo(Struct, frozen=True):
    """What is believed of a request; "" where nothing is said."""

    client: str = ""
    scheme: str = ""
    host: str = ""
    prefix: str = ""


class _Hop(Struct, frozen=True):
    """What one proxy wrote of whoever asked it."""

    client: str = ""
    scheme: str = ""
    host: str = ""


class Proxies:
    """The proxies that are believed. Raises StartFailed for an entry that is no address and no network."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._networks: list[Network] = []
        for entry in entries:
            try:
                self._networks.append(ipaddress.ip_network(entry.strip(), strict=False))
            except ValueError:
                raise StartFailed(
                    f"proxies: {entry!r} is no address and no network, such as 127.0.0.1 or 10.0.0.0/8.",
                    param="proxies",
                ) from None

    def __bool__(self) -> bool:
        return bool(self._networks)

    def believe(self, peer: str) -> bool:
        """Whether what the peer of a connection says of others counts."""
        address = _address(peer)
        return address is not None and any(address in network for network in self._networks)

    def claim(self, headers: Mapping[str, Sequence[str]], peer: str) -> ForwardedInfo:
        """What the headers say of a request that came from `peer`. They go by their names in lower case; a header that
        came several times is one list."""
        if not self.believe(peer):
            return ForwardedInfo()
        lists = {name: _split(headers.get(name, ())) for name in HEADERS[:4]}
        if any(lists.values()):
            hops = _hops_of_lists(
                lists["x-forwarded-for"], lists["x-forwarded-proto"], lists["x-forwarded-host"]
            )
        else:
            hops = _hops_of_pairs(headers.get("forwarded", ()))
        if not hops and not lists["x-forwarded-prefix"]:
            return ForwardedInfo()
        place, client = self._asker([hop.client for hop in hops])
        told = hops[min(place, len(hops) - 1)] if hops else _Hop()
        prefixes = [entry.rstrip("/") for entry in lists["x-forwarded-prefix"]]
        prefix = prefixes[-1 - min(place, len(prefixes) - 1)] if prefixes else ""
        scheme = told.scheme.lower()
        return ForwardedInfo(
            client,
            scheme if scheme in ("http", "https") else "",
            told.host,
            prefix if _PREFIX.fullmatch(prefix) and ".." not in prefix else "",
        )

    def _asker(self, clients: Sequence[str]) -> tuple[int, str]:
        """How far from the end of the list whoever asked stands, and the address: the first that is no proxy of ours,
        else the farthest proxy."""
        best = 0, ""
        for place, text in enumerate(clients):
            address = _address(text)
            if address is None:  # left out, or hidden by the proxy: nothing beyond it is known
                return (place, best[1]) if text else best
            best = place, str(address)
            if not self.believe(str(address)):
                return best
        return best


def is_here(peer: str) -> bool:
    """Whether a connection comes from this machine."""
    address = _address(peer)
    return address is not None and address.is_loopback


def _hops_of_lists(clients: list[str], schemes: list[str], hosts: list[str]) -> list[_Hop]:
    """The nearest proxy first. Most proxies add to the first list only, and say the others anew: such a one entry holds
    for every hop."""

    def at(entries: list[str], place: int) -> str:
        return entries[-1 - min(place, len(entries) - 1)] if entries else ""

    count = len(clients) or (1 if schemes or hosts else 0)
    return [
        _Hop(clients[-1 - place] if clients else "", at(schemes, place), at(hosts, place))
        for place in range(min(count, HOPS))
    ]


def _hops_of_pairs(values: Sequence[str]) -> list[_Hop]:
    """`for=1.2.3.4;proto=https, for="[::1]"`, the nearest proxy first. One that is garbled says nothing."""
    text, at = ",".join(values), 0
    hops: list[dict[str, str]] = [{}]
    while at < len(text):
        match = _PAIR.match(text, at)
        if match is None:
            return []
        name, value, end = match.groups()
        hops[-1][name.lower()] = re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
        if end == ",":
            hops.append({})
        at = match.end()
    found = [_Hop(hop.get("for", ""), hop.get("proto", ""), hop.get("host", "")) for hop in hops if hop]
    return found[::-1][:HOPS]


def _split(values: Sequence[str]) -> list[str]:
    return [entry for value in values for part in value.split(",") if (entry := part.strip())]


def _address(text: str) -> Address | None:
    """An address, with or without a port and brackets; one of IPv4 in the clothes of IPv6 is the former."""
    bare = text.strip()
    if bare.startswith("["):
        bare = bare[1:].partition("]")[0]
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
