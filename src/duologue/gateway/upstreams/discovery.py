"""Looks for model servers at their usual addresses on this machine, all at once and for a short time.

Used by `service` when an admin opens *Connect a server*. The addresses come from the settings and never from a client.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from urllib.parse import urlsplit

import anyio
from msgspec import Struct

from duologue.errors import Problem
from duologue.gateway.upstreams.providers import PORTS, title_of
from duologue.gateway.upstreams.upstream_client import REFUSED, UpstreamClient
from duologue.values.requests import UpstreamModel

SECONDS = 2.0
"""Time limit of one address: a server on the same machine answers at once."""


class FoundServer(Struct, frozen=True):
    """A server that answers. `needs_key`: it does not list its models without one."""

    kind: str
    title: str
    url: str
    models: tuple[UpstreamModel, ...] = ()
    needs_key: bool = False


async def find_servers(addresses: Sequence[str]) -> list[FoundServer]:
    """The servers that answer, in the order of the addresses."""
    found: dict[str, FoundServer] = {}

    async def look(address: str) -> None:
        if (server := await _look(address)) is not None:
            found[address] = server

    async with anyio.create_task_group() as tasks:
        for address in addresses:
            tasks.start_soon(look, address)
    return [found[address] for address in addresses if address in found]


async def _look(address: str) -> FoundServer | None:
    client = UpstreamClient(address, seconds=SECONDS)
    kind = PORTS.get(urlsplit(client.url).port or 0, "other")
    try:
        listed = await client.models(detailed=False)
    except Problem as problem:
        # A port of this list may be anything: what asks for a key must at least say so as such a server does.
        needs_key = problem.code == REFUSED and client.explained
        return (
            FoundServer(kind, title_of(kind) or client.host, client.url, needs_key=True)
            if needs_key
            else None
        )
    kind = listed.kind or kind
    return FoundServer(kind, title_of(kind) or client.host, client.url, listed.models)


def without_own(addresses: Iterable[str], ports: Collection[int]) -> list[str]:
    """The addresses less those of this server's own ports."""
    return [address for address in addresses if urlsplit(address).port not in ports]
