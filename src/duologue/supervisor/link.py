"""The socket between the gateway and the parent that watches it: what each tells the other, and how.

`parent` holds one end; `gateway/server.py` has the other as a `SupervisorLink`. The gateway sends a line of JSON when it listens
(with the listening socket itself, which the parent keeps for the next gateway) and one when it answers requests. The parent says
everything in the environment, and nothing later: its end closes when it dies, however it dies.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, MutableMapping
from contextlib import suppress
from typing import Any, NamedTuple

VARIABLE = "DUOLOGUE_SUPERVISOR"
"""The environment variable in which a gateway finds its end."""
MESSAGE_BYTES = 4096


class GatewayRestarts(NamedTuple):
    """How often the gateway was started again, how it ended the last time, and when (seconds since 1970)."""

    number: int = 0
    reason: str = ""
    at: float = 0.0


class Launch(NamedTuple):
    """What a gateway is started with: its end of the link; the socket its predecessor listened on, and for which host."""

    link: int
    listener: int | None = None
    host: str = ""
    restarts: GatewayRestarts = GatewayRestarts()

    def encode(self) -> str:
        return json.dumps([self.link, self.listener, self.host, list(self.restarts)])

    @staticmethod
    def decode(text: str) -> Launch:
        link, listener, host, restarts = json.loads(text)
        return Launch(link, listener, host, GatewayRestarts(*restarts))


class SupervisorLink:
    """The gateway's end."""

    def __init__(self, launch: Launch) -> None:
        self.parent = os.getppid()
        self.restarts = launch.restarts
        self.host = launch.host
        self.listener = None if launch.listener is None else socket.socket(fileno=launch.listener)
        self.socket = socket.socket(fileno=launch.link)
        for descriptor in (launch.link, launch.listener):
            if descriptor is not None:
                os.set_inheritable(descriptor, False)

    @staticmethod
    def from_environment(environ: MutableMapping[str, str]) -> SupervisorLink | None:
        """The link that the variable describes, which is removed; None without a supervisor."""
        text = environ.pop(VARIABLE, None)
        return None if text is None else SupervisorLink(Launch.decode(text))

    def listening(self, listener: socket.socket, host: str, log: tuple[str, str], drain: float = 0.0) -> None:
        """The gateway listens for `host`, logs with this level and format, and gives running work `drain` seconds when it is stopped."""
        self._send({"host": host, "log": list(log), "drain": drain}, listener.fileno())

    def ready(self) -> None:
        """The gateway answers requests."""
        self._send({"ready": True})

    def alive(self) -> None:
        """The gateway's event loop turns. Does not wait for a parent that does not read."""
        with suppress(OSError):
            self.socket.send(_line({"alive": True}), socket.MSG_DONTWAIT)

    def unwatched(self) -> None:
        """The settings say that the gateway is not to be started again."""
        self._send({"watched": False})

    def is_closed(self) -> bool:
        """Whether the parent is gone. Called when the socket is readable."""
        try:
            return not self.socket.recv(1)
        except OSError:
            return True

    def _send(self, message: dict[str, Any], *descriptors: int) -> None:
        # Without the parent there is nobody to tell, and the gateway is about to stop.
        with suppress(OSError):
            socket.send_fds(self.socket, [_line(message)], descriptors)


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


class GatewayMessages:
    """The parent's end: what a gateway has said, as far as it has arrived. Never waits."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._end = end
        self._rest = b""
        self._listener: socket.socket | None = None
        self.is_open = True

    def take_listener(self) -> socket.socket | None:
        """The listening socket that came, once."""
        listener, self._listener = self._listener, None
        return listener

    def fileno(self) -> int:
        return self._end.fileno()

    def read(self) -> Iterator[dict[str, Any]]:
        """The messages that have arrived since the last time."""
        while self.is_open:
            try:
                data, descriptors, _, _ = socket.recv_fds(self._end, MESSAGE_BYTES, 1)
            except BlockingIOError:
                return
            except OSError:
                data, descriptors = b"", []
            for descriptor in descriptors:
                os.set_inheritable(descriptor, False)
                self._listener = socket.socket(fileno=descriptor)
            self.is_open = bool(data)
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                yield json.loads(line)
