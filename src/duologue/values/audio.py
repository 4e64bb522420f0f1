"""Audio samples: the two sample rates of the server, and the conversion between 16-bit and float32.

Inside the server audio is little-endian 16-bit mono; dialects with float32 convert at the edge. Used wherever audio passes.
"""

from __future__ import annotations

import math
import struct
import sys
from array import array

HEARD_RATE = 16_000
"""Hz of audio from callers, everywhere inside the server."""
SPOKEN_RATE = 24_000
"""Hz of spoken replies, everywhere inside the server."""
SAMPLE_BYTES = 2
PIECE = 2**18
"""Bytes of float32 samples that are looked at in one go."""
LOUDEST = 32767 / 32768


def samples(pcm: bytes) -> int:
    """How many whole 16-bit samples these bytes contain."""
    return len(pcm) // SAMPLE_BYTES


def to_float32(pcm: bytes) -> bytes:
    """16-bit samples as little-endian float32 in -1..1."""
    return _little(
        array("f", [value / 32768.0 for value in _little(array("h", pcm[: samples(pcm) * 2]))])
    ).tobytes()


def from_float32(data: bytes) -> bytes:
    """Little-endian float32 samples as 16-bit ones. Values beyond -1..1 are clipped, NaN becomes silence, and an incomplete
    sample at the end is dropped."""
    floats = _little(array("f", data[: len(data) // 4 * 4]))
    total = sum(floats)
    if floats and total - total == 0.0 and min(floats) >= -1.0 and max(floats) <= LOUDEST:
        # The usual case, several times as fast: every sample is finite and none is clipped. An infinity or NaN would be in the sum.
        whole = array("h", map(round, [value * 32768.0 for value in floats]))
    else:
        whole = array("h", [_whole(value) for value in floats])
    return _little(whole).tobytes()


def is_finite(samples: bytes | bytearray) -> bool:
    """Whether float32 samples are all numbers: a sum is none where one of them is not. In pieces, between which other threads run."""
    end = len(samples) // 4 * 4
    for start in range(0, end, PIECE):
        values = array("f")
        values.frombytes(samples[start : min(end, start + PIECE)])
        if not math.isfinite(sum(_little(values))):
            return False
    return True


def wav_header(rate: int, size: int | None = None) -> bytes:
    """The header of a WAV file of 16-bit mono samples, `size` bytes of them at `rate` Hz. None: the size is not known
    yet, and the header holds the largest one, so that readers take all that follows."""
    room, data = (0xFFFFFFFF, 0xFFFFFFFF) if size is None else (size + 36, size)
    form = struct.pack("<IHHIIHH", 16, 1, 1, rate, rate * SAMPLE_BYTES, SAMPLE_BYTES, 8 * SAMPLE_BYTES)
    return b"RIFF" + struct.pack("<I", room) + b"WAVEfmt " + form + b"data" + struct.pack("<I", data)


def _whole(value: float) -> int:
    if value != value:
        return 0
    return round(max(-32768.0, min(32767.0, value * 32768.0)))


def _little(values: array[int] | array[float]) -> array[int] | array[float]:
    if sys.byteorder == "big":
        values.byteswap()
    return values
