"""The client of a server that an operator named. It refuses a connection to an address at which a cloud keeps the credentials of a machine.

Used by `upstream_connection` and `speech_client`. The gateway checks a server when an admin connects it and pins the address it checked;
the worker connects again and again by itself, and the name may lead elsewhere by then. So the address is looked at when the
connection is there, before a key or a word is sent over it. An address that is written as one is what somebody meant.
"""

from __future__ import annotations

import ipaddress
from typing import Any

import httpx

from duologue.errors import Forbidden
from duologue.public_address import is_metadata

CONNECTED = "connection.connect_tcp.complete"
"""httpcore's name for the moment at which a connection is there."""


def server_client(key: str, timeout: httpx.Timeout, connections: int) -> httpx.AsyncClient:
    """A client with the server's key, if it has one, and at most so many connections."""
    return httpx.AsyncClient(
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=timeout,
        limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
        # The environment's proxies and .netrc are for other things than a server the operator named.
        trust_env=False,
        event_hooks={"request": [refuse_credentials_address]},
    )


async def refuse_credentials_address(request: httpx.Request) -> None:
    """A hook for the requests of a client: the request raises Forbidden (`private_address`) if its host's name leads to such
    an address."""
    host = request.url.host
    if _is_address(host):
        return

    async def look(event: str, info: dict[str, Any]) -> None:
        if event != CONNECTED:
            return
        stream = info["return_value"]
        peer = stream.get_extra_info("server_addr")
        address = ipaddress.ip_address(str(peer[0]).partition("%")[0])
        if is_metadata(address):
            await stream.aclose()
            raise Forbidden(
                f"{host} leads to {address}, where clouds keep credentials. Give the address of a model server.",
                code="private_address",
            )

    request.extensions["trace"] = look


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return False
    return True
