"""Ports for the servers that tests start."""

from __future__ import annotations

import random
import socket

# Below every system's range of ephemeral ports (32768 on Linux, 49152 elsewhere), above the registered services most
# machines run. A port out of that range can be taken, between looking and binding, by any outgoing connection of
# another test: that once failed a run whose code was sound.
PORTS = range(10_000, 22_000)


def free_port() -> int:
    """A loopback port nobody listens on, and none an outgoing connection is given."""
    for port in random.sample(PORTS, 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("a hundred ports in a row are taken")
