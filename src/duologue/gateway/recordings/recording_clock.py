"""The one clock of a recording: the samples of the caller's microphone, and time itself where none arrive. Pure.

A caller's sound is the best clock there is: what the client plays, reports and says is in step with it, however late the
network is. Only a microphone that stops for longer than a moment is replaced by the time that passes. Used by `timeline`.
"""

from __future__ import annotations

from duologue.values.audio import HEARD_RATE

GAP = 1.0
"""Seconds without sound after which silence takes its place."""
LONG_CHUNK = HEARD_RATE // 4
"""Samples of a chunk from which on time is counted within it too: clients of the duplex socket send a second at once."""


class RecordingClock:
    """`at` is in seconds of any origin and never falls; positions are samples at 16 kHz from the beginning."""

    def __init__(self, at: float) -> None:
        self._heard_at = at
        self._end = 0
        self._chunk: int | None = None
        """Samples of the last chunk; None before the first."""
        self._reached = 0

    def hear(self, samples: int, at: float) -> int:
        """A chunk of the caller's sound arrived. Gives where it begins; the clock then stands at its end."""
        start = self._end
        passed = round((at - self._heard_at) * HEARD_RATE)
        if passed - samples > GAP * HEARD_RATE:
            start = max(start, start + passed - samples, self._reached - samples)
        self._heard_at, self._chunk, self._end = at, samples, start + samples
        self._reached = max(self._reached, self._end)
        return start

    def position(self, at: float) -> int:
        """Where the clock stands. It never falls."""
        passed = round((at - self._heard_at) * HEARD_RATE)
        silent = self._chunk is None or passed > GAP * HEARD_RATE
        if silent or (self._chunk or 0) >= LONG_CHUNK:
            self._reached = max(self._reached, self._end + max(0, passed))
        return self._reached
