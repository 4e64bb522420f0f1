"""Tells systemd how the server is: ready, stopping, alive. The messages of sd_notify(3), over the socket that the unit gets.

`parent` calls it. Nothing is said where no service manager listens: the unit has another type than `notify`, or there is none.

With `WatchdogSec=` in the unit, systemd restarts a service that has not said for so long that it is alive. The parent says so
in the name of the gateway: when the gateway has, or while there is none that is ready. A gateway that hangs is therefore found out.
"""

from __future__ import annotations

import socket
from collections.abc import MutableMapping
from contextlib import suppress

SOCKET = "NOTIFY_SOCKET"
WATCHDOG = "WATCHDOG_USEC"
PINGS = 4
"""Messages in the time after which systemd gives up; it advises two."""


class ServiceNotifier:
    """One service manager, or none: `address` is its socket, "" without one. `patience`: the seconds after which it takes silence for
    a hang; 0 without a watchdog. Times are seconds of a clock that never goes back."""

    def __init__(self, address: str, patience: float) -> None:
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._every = patience / PINGS if address else 0.0
        self._next = 0.0
        self._is_gateway_ready = False

    @staticmethod
    def from_environment(environ: MutableMapping[str, str]) -> ServiceNotifier:
        """That of the variables, which are removed: the gateway and what it starts are not to speak for the service."""
        address, microseconds = environ.pop(SOCKET, ""), environ.pop(WATCHDOG, "")
        environ.pop("WATCHDOG_PID", None)
        return ServiceNotifier(address, int(microseconds) / 1e6 if microseconds.isdecimal() else 0.0)

    def starting(self) -> None:
        """A gateway is started, or an attempt made; it cannot say yet that it is alive."""
        self._is_gateway_ready = False

    def ready(self) -> None:
        """The gateway answers requests."""
        self._is_gateway_ready = True
        self._say("READY=1\nSTATUS=Answering requests.")

    def alive(self) -> None:
        """The gateway says that it is alive."""
        if self._every:
            self._say("WATCHDOG=1")

    def restarting(self, reason: str) -> None:
        """The gateway ended for this reason, and is started again."""
        self._is_gateway_ready = False
        self._say(f"STATUS=Restarting: {reason}.")

    def stopping(self) -> None:
        """The server was asked to stop."""
        self._say("STOPPING=1\nSTATUS=Stopping.")

    def wait(self, now: float) -> float | None:
        """Say that the service is alive if that is due and there is no gateway to say it. Returns the seconds until this should be
        called again; None: never."""
        if not self._every or self._is_gateway_ready:
            return None
        if now >= self._next:
            self._next = now + self._every
            self._say("WATCHDOG=1")
        return self._next - now

    def _say(self, message: str) -> None:
        if not self._address:
            return
        # A manager that cannot be reached is no reason to stop serving.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
            end.sendto(message.encode(), socket.MSG_DONTWAIT, self._address)
