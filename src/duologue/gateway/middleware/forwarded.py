"""What a proxy reports about the request it forwards: client address, scheme, host and path prefix.

Owns the reading of `X-Forwarded-For`, `-Proto`, `-Host` and `-Prefix`, and of `Forwarded` (RFC 7239) if none of those is sent,
and the decision which of them to trust. Any client can send these headers, so an entry counts only if a trusted proxy wrote
it: lists are read from their end, where the nearest proxy appends, up to the first address that is not a trusted proxy.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from duologue.errors import StartFailed

HEADERS = ("x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-prefix", "forwarded")
HOPS = 32
"""Entries of a list that are read. Real chains of proxies are much shorter."""

_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+")
_PAIR = re.compile(r'\s*([A-Za-z]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s";,]*)\s*(;|,|$)')

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class ForwardedInfo(Struct, frozen=True):
    """What is known of a request from trusted proxies; "" where nothing is reported."""

    client: str = ""
    scheme: str = ""
    host: str = ""
    prefix: str = ""


class _Hop(Struct, frozen=True):
    """What one proxy reported about the peer that connected to it."""

    client: str = ""
    scheme: str = ""
    host: str = ""


class Proxies:
    """The trusted proxies. Raises StartFailed for an entry that is neither an address nor a network."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._networks: list[Network] = []
        for entry in entries:
            try:
                self._networks.append(ipaddress.ip_network(entry.strip(), strict=False))
            except ValueError:
                raise StartFailed(
                    f"proxies: {entry!r} is neither an address nor a network like 127.0.0.1 or 10.0.0.0/8.",
                    param="proxies",
                ) from None

    def __bool__(self) -> bool:
        return bool(self._networks)

    def trusts(self, peer: str) -> bool:
        """Whether the peer of a connection is a trusted proxy."""
        address = _address(peer)
        return address is not None and any(address in network for network in self._networks)

    def read(self, headers: Mapping[str, Sequence[str]], peer: str) -> ForwardedInfo:
        """What the headers of a request from `peer` report. Names are in lower case; repeated headers form one list."""
        if not self.trusts(peer):
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
        place, client = self._client([hop.client for hop in hops])
        hop = hops[min(place, len(hops) - 1)] if hops else _Hop()
        prefixes = [entry.rstrip("/") for entry in lists["x-forwarded-prefix"]]
        prefix = prefixes[-1 - min(place, len(prefixes) - 1)] if prefixes else ""
        scheme = hop.scheme.lower()
        return ForwardedInfo(
            client,
            scheme if scheme in ("http", "https") else "",
            hop.host,
            prefix if _PREFIX.fullmatch(prefix) and ".." not in prefix else "",
        )

    def _client(self, clients: Sequence[str]) -> tuple[int, str]:
        """The client's position in the list and its address: the first that is not a trusted proxy, else the farthest proxy."""
        best = 0, ""
        for place, text in enumerate(clients):
            address = _address(text)
            if address is None:  # missing, or hidden by the proxy: nothing beyond it can be trusted
                return (place, best[1]) if text else best
            best = place, str(address)
            if not self.trusts(str(address)):
                return best
        return best


def is_local(peer: str) -> bool:
    """Whether a connection comes from this machine."""
    address = _address(peer)
    return address is not None and address.is_loopback


def _hops_of_lists(clients: list[str], schemes: list[str], hosts: list[str]) -> list[_Hop]:
    """The nearest proxy first. Most proxies append to X-Forwarded-For only and overwrite the other headers, so a single
    entry of those counts for every hop."""

    def at(entries: list[str], place: int) -> str:
        return entries[-1 - min(place, len(entries) - 1)] if entries else ""

    count = len(clients) or (1 if schemes or hosts else 0)
    return [
        _Hop(clients[-1 - place] if clients else "", at(schemes, place), at(hosts, place))
        for place in range(min(count, HOPS))
    ]


def _hops_of_pairs(values: Sequence[str]) -> list[_Hop]:
    """The hops of `for=1.2.3.4;proto=https, for="[::1]"`, the nearest proxy first; none if the header is malformed."""
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
    result = [_Hop(hop.get("for", ""), hop.get("proto", ""), hop.get("host", "")) for hop in hops if hop]
    return result[::-1][:HOPS]


def _split(values: Sequence[str]) -> list[str]:
    return [entry for value in values for part in value.split(",") if (entry := part.strip())]


def _address(text: str) -> Address | None:
    """The address of `1.2.3.4:80` or `[::1]:80`; an IPv4-mapped IPv6 address becomes IPv4. None for anything else."""
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
