"""Whether a process that ended is started again, and after which pause. Pure: the time is an argument.

`parent` asks it about the gateway; the gateway's `workers/keeper.py` uses the same pauses and words for its workers.
"""

from __future__ import annotations

import signal
from typing import NamedTuple

STEADY = 30.0
"""Seconds after which a gateway that was started counts as steady: its next end is not one in a row of quick ends."""


class Restart(NamedTuple):
    """Start it again after `pause` seconds."""

    pause: float


class End(NamedTuple):
    """Do not start it again, and end as it did: with this exit code, or by this signal if it is negative."""

    code: int


class RestartPolicy:
    """Whether a gateway that ended is started again. Times are seconds of a clock that never goes back."""

    def __init__(self) -> None:
        self.restarts = 0
        self._quick_ends = 0
        self._has_served = False
        self._ready_at: float | None = None

    def launched(self) -> None:
        """A process is started, or an attempt made; it is not ready yet."""
        self._ready_at = None

    def ready(self, at: float) -> None:
        """The process answers requests."""
        self._has_served = True
        self._ready_at = at

    def ended(self, code: int, at: float, *, stopping: bool, watched: bool = True) -> Restart | End:
        """The process ended with this exit code; negative: by this signal. `stopping`: someone asked for it. `watched`: the
        gateway is to be started again at all.

        Exit code 0 is not unexpected: someone stopped the gateway itself. A gateway that was never ready would fail in the same
        way again; one that was ready before is tried for ever, because the cause may pass.
        """
        if stopping or not watched or not self._has_served or code == 0:
            return End(code)
        is_quick = self._ready_at is None or at - self._ready_at < STEADY
        self._quick_ends = self._quick_ends + 1 if is_quick else 1
        self.restarts += 1
        return Restart(backoff(self._quick_ends))


def backoff(failures: int) -> float:
    """Seconds to wait before the next start, after this many quick ends in a row: 0, 0.5, 1, 2, ... 30."""
    return 0.0 if failures <= 1 else min(30.0, 0.5 * 2.0 ** (min(failures, 60) - 2))


def ending(code: int | None) -> str:
    """How a process ended, for the log."""
    if code is None:
        return "it was still running"
    if code >= 0:
        return f"exit code {code}"
    return f"signal {-code}, {signal.strsignal(-code) or 'unknown'}"
