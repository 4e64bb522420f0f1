"""The waveform of a recording: the loudest sample of each side in every 50 ms, computed while it is written. Pure.

Used by `writer`, which appends the bytes to a file, and by the routes, which reduce them to what a screen shows.
"""

from __future__ import annotations

from array import array

from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE

BIN_MS = 50
"""Milliseconds of one pair of bytes: the caller's peak, and the reply's; 255 is the loudest there is."""
HEARD_BIN, SPOKEN_BIN = HEARD_RATE * BIN_MS // 1000, SPOKEN_RATE * BIN_MS // 1000


class PeakMeter:
    """Feed it both sides' sound, of the same length."""

    def __init__(self) -> None:
        self._caller, self._reply = bytearray(), bytearray()

    def feed(self, caller: bytes, reply: bytes) -> bytes:
        """The pairs that these complete."""
        self._caller += caller
        self._reply += reply
        pairs = bytearray()
        while len(self._caller) >= HEARD_BIN * SAMPLE_BYTES and len(self._reply) >= SPOKEN_BIN * SAMPLE_BYTES:
            for side, size in ((self._caller, HEARD_BIN), (self._reply, SPOKEN_BIN)):
                pairs.append(_peak(side[: size * SAMPLE_BYTES]))
                del side[: size * SAMPLE_BYTES]
        return bytes(pairs)

    def finish(self) -> bytes:
        """The last pair, of what is left."""
        if not self._caller and not self._reply:
            return b""
        return bytes((_peak(self._caller), _peak(self._reply)))


def _peak(pcm: bytearray) -> int:
    values = array("h", bytes(pcm))
    return min(255, max(max(values), -min(values)) >> 7) if values else 0


def duration_ms(pairs: bytes) -> int:
    """How long the recording is, by its waveform."""
    return len(pairs) // 2 * BIN_MS


def reduced(pairs: bytes, most: int) -> tuple[list[int], list[int]]:
    """Both sides in at most so many bins, the loudest of each."""
    return _fewer(pairs[0::2], most), _fewer(pairs[1::2], most)


def _fewer(side: bytes, most: int) -> list[int]:
    if len(side) <= most:
        return list(side)
    return [
        max(side[number * len(side) // most : (number + 1) * len(side) // most]) for number in range(most)
    ]
