"""The address of a gateway as a joined worker is given it: what is allowed, and the addresses of its sockets and files. Pure.

`duologue worker --join` checks it before anything starts, the joined worker once more for each gateway that it is told of.
"""

from __future__ import annotations

import ipaddress
from typing import NamedTuple
from urllib.parse import urlsplit

from duologue.errors import StartFailed
from duologue.wire.machines.join_protocol import JOIN_PATH

PORTS = {"http": 80, "https": 443}


class GatewayAddress(NamedTuple):
    """`base`: the path that everything is served under, "" or `/talk`."""

    scheme: str
    host: str
    port: int
    base: str = ""

    @property
    def is_encrypted(self) -> bool:
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.base}"

    def url(self, path: str) -> str:
        """The address of a path of the gateway, which begins with a slash."""
        return f"{self}{path}"

    def socket(self, name: str) -> str:
        """The address of the socket `live` or `bulk`."""
        scheme = "wss" if self.is_encrypted else "ws"
        return f"{scheme}://{self.authority}{self.base}{JOIN_PATH}/{name}"


def parse_gateway(text: str, *, insecure_http: bool = False) -> GatewayAddress:
    """The gateway's address. Raises StartFailed if it is not one, and for plain HTTP over a network."""
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        raise _refused(f"{text!r} is not the address of a server.") from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise _refused(f"{text!r} is not the address of a server, which looks like https://gateway:8006.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise _refused(
            "The address of a gateway must not contain a user name, password or parameters. Pass the key with --key-file."
        )
    address = GatewayAddress(
        parts.scheme, parts.hostname, port or PORTS[parts.scheme], parts.path.rstrip("/")
    )
    if not address.is_encrypted and not insecure_http and not is_loopback(address.host):
        raise _refused(
            f"{address} is plain HTTP: anyone in between could read the key and all messages. Start the gateway with "
            "--tls and join https://, or pass --insecure-http in a network that you trust."
        )
    return address


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _refused(sentence: str) -> StartFailed:
    return StartFailed(sentence, param="join")
