"""Ports for the servers that tests start."""

from __future__ import annotations

import itertools
import os
import random
import socket
from collections.abc import Iterator
from functools import cache

# Below every system's range of ephemeral ports (32768 on Linux, 49152 elsewhere), above the registered services most
# machines run. A port out of that range can be taken, between looking and binding, by any outgoing connection of
# another test: that once failed a run whose code was sound.
PORTS = range(10_000, 22_000)
SHARES = 16
"""Test processes side by side that never get the same port: between looking and binding is the start of a server, in which another
process would find it free too."""


@cache
def _own() -> Iterator[int]:
    """Those of this test process, each once: one that was given for a server that has not started yet looks free."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % SHARES
    share = PORTS[number::SHARES]
    return itertools.cycle(random.sample(share, len(share)))


def free_port() -> int:
    """A loopback port nobody listens on, and none an outgoing connection is given."""
    for port in itertools.islice(_own(), 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("a hundred ports in a row are taken")
