"""The last minute of the caller's sound, and what of it a model has not heard.

`native_call.py` adds what arrives, and notes what the model was passed. Pure; positions are samples (16 kHz) since the call began.
"""

from __future__ import annotations

from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, samples

KEPT = 60 * HEARD_RATE
"""Samples that are kept: a minute."""
AGAIN = 30 * HEARD_RATE
"""Samples that a model is passed again at most; older ones are left out."""


class CallerSound:
    """Sound by its position."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self.end = 0
        """The position of the end of all sound so far."""
        self._missed: tuple[int, int] | None = None
        """What the model was not passed, without a gap."""

    def add(self, pcm: bytes) -> None:
        """The next sound."""
        self._kept += pcm
        self.end += samples(pcm)
        # Not at every piece: each time moves a minute of sound in memory.
        if len(self._kept) > (KEPT + HEARD_RATE) * SAMPLE_BYTES:
            del self._kept[: len(self._kept) - KEPT * SAMPLE_BYTES]

    def between(self, since: int, until: int) -> bytes:
        """The sound between two positions, the last minute of it at most."""
        start = self.end - len(self._kept) // SAMPLE_BYTES
        since, until = max(since, start, until - KEPT), min(until, self.end)
        return bytes(self._kept[max(0, since - start) * SAMPLE_BYTES : max(0, until - start) * SAMPLE_BYTES])

    def miss(self, since: int, until: int) -> None:
        """The model was not passed the sound between these positions."""
        first = self._missed[0] if self._missed is not None and self._missed[1] == since else since
        self._missed = (first, until)

    def forget(self, before: int) -> None:
        """What was missed before this position does not matter."""
        if self._missed is not None:
            since, until = self._missed
            self._missed = (max(since, before), until) if before < until else None

    def again(self, fewest: int, most: int) -> list[bytes]:
        """What was missed, in pieces that the model takes, each as long as the others; the first may begin a little earlier. Nothing is
        missed afterwards."""
        if self._missed is None:
            return []
        (since, until), self._missed = self._missed, None
        missing = min(until - since, AGAIN)
        parts = max(1, -(-missing // most))
        size = min(most, max(fewest, -(-missing // parts)))
        pcm = self.between(until - parts * size, until)
        pcm = bytes(parts * size * SAMPLE_BYTES - len(pcm)) + pcm
        step = size * SAMPLE_BYTES
        return [pcm[at : at + step] for at in range(0, len(pcm), step)]
