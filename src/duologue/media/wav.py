"""WAV files as models take sound: mono float32 at 16 kHz.

Reads WAV of every common kind and mixes channels. Other sample rates need PyAV (`resampler`).
Attachments, the OpenAI dialect and long recordings are read through it, in decoder processes.

Samples are mixed as a picture one pixel high, in 32-bit floats: Pillow converts and averages them in C, without holding
up the event loop's thread. Python's own arithmetic would take half a second for each second of sound. Only mixing is
done this way: Pillow's filters are too short for a change of rate (9 kHz came back as 7 kHz at -10.8 dB).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from duologue.decoder.job import decoder_job
from duologue.errors import BadRequest, TooLarge, Unsupported
from duologue.resampler import Resampler, available, resampled
from duologue.values.audio import from_float32, is_finite

if TYPE_CHECKING:
    from PIL import Image

RATE = 16_000
MINUTES = 30
"""Longer sound is no attachment: as samples it would take more than 115 MB."""
PIECE = 30
"""Seconds that are mixed at a time: a picture of more would take memory for the whole recording at once."""

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
# (kind, bits) -> Pillow's name of the samples and the factor that brings them to -1..1.
_SAMPLES = {
    (_PCM, 8): ("F;8", 1 / 128),
    (_PCM, 16): ("F;16S", 1 / 32_768),
    (_PCM, 24): ("F;32S", 1 / 2_147_483_648),
    (_PCM, 32): ("F;32S", 1 / 2_147_483_648),
    (_FLOAT, 32): ("F;32F", 1.0),
    (_FLOAT, 64): ("F;64F", 1.0),
}


class Sound(Struct, frozen=True):
    """Mono sound: little-endian float32 at `RATE` Hz."""

    samples: bytes

    @property
    def duration(self) -> int:
        """Milliseconds."""
        return len(self.samples) // 4 * 1000 // RATE


class _Wave(Struct, frozen=True):
    """A WAV file's header, and where its samples are."""

    kind: int
    bits: int
    channels: int
    rate: int
    start: int
    size: int

    @property
    def frame(self) -> int:
        return self.channels * self.bits // 8


def is_wav(data: bytes) -> bool:
    return data[:4] == b"RIFF" and data[8:12] == b"WAVE"


def duration(head: bytes, size: int) -> int:
    """Milliseconds of a WAV file of `size` bytes that begins with `head`; 0 where that cannot be told."""
    try:
        wave = _header(head, size)
    except (BadRequest, Unsupported):
        return 0
    return wave.size // wave.frame * 1000 // wave.rate


def read_unchanged(data: bytes) -> bytes | None:
    """The samples of a WAV file that needs no change to be 16-bit mono at RATE; None for any other. Raises as `read_wav`."""
    wave = _header(data, len(data))
    if (wave.kind, wave.bits, wave.channels, wave.rate) != (_PCM, 16, 1, RATE):
        return None
    if not wave.size // 2:
        raise BadRequest("The WAV file holds no sound.", code="sound_unreadable")
    return data[wave.start : wave.start + wave.size // 2 * 2]


def pieces(data: bytes) -> Iterator[bytes]:
    """The sound of a WAV file of any length as float32 mono at RATE, half a minute at a time. Raises as `read_wav`."""
    wave = _header(data, len(data))
    frames = wave.size // wave.frame
    if not frames:
        raise BadRequest("The WAV file holds no sound.", code="sound_unreadable")
    _check_rate(wave.rate)
    return _pieces(data, wave, frames)


@decoder_job(seconds=60, cpu_seconds=60, memory_mb=1024, result_mb=128, preload=("av",))
def to_16_bit(samples: bytes, rate: int) -> bytes:
    """Float32 mono samples at `rate` Hz as 16-bit samples at RATE. Raises as `at_rate`."""
    return from_float32(at_rate(samples, rate))


@decoder_job(seconds=60, cpu_seconds=60, memory_mb=1024, result_mb=128, preload=("av",))
def at_rate(samples: bytes, rate: int) -> bytes:
    """Float32 mono samples at `rate` Hz as the same sound at RATE. Raises Unsupported where the rate cannot be changed."""
    if not samples:
        return samples
    _check_rate(rate)
    return resampled(samples, rate, RATE, "flt")


def read_wav(data: bytes) -> Sound:
    """The sound of a WAV file: 8 to 32 bits, whole numbers or floats, any rate and channels.

    Raises BadRequest for a broken file, Unsupported for a compressed one or a rate that cannot be changed, TooLarge for
    more than half an hour.
    """
    wave = _header(data, len(data))
    frames = wave.size // wave.frame
    if not frames:
        raise BadRequest("The WAV file holds no sound.", code="sound_unreadable")
    if frames > MINUTES * 60 * wave.rate:
        raise TooLarge(f"Sound of more than {MINUTES} minutes cannot be attached.", code="sound_too_long")
    _check_rate(wave.rate)
    samples = b"".join(_pieces(data, wave, frames))
    if not samples:
        # A frame or two at a high rate are less than one sample.
        raise BadRequest("The WAV file holds no sound.", code="sound_unreadable")
    check_finite(samples)
    return Sound(samples)


def check_finite(samples: bytes | bytearray) -> None:
    """Raises BadRequest (`sound_unreadable`) for float32 samples that are no numbers."""
    if not is_finite(samples):
        raise BadRequest("The sound has samples that are no numbers.", code="sound_unreadable")


def _pieces(data: bytes, wave: _Wave, frames: int) -> Iterator[bytes]:
    """The sound at RATE, piece by piece."""
    resampler = Resampler(wave.rate, RATE, "flt")
    for first in range(0, frames, PIECE * wave.rate):
        last = min(frames, first + PIECE * wave.rate)
        row = _mono(data[wave.start + first * wave.frame : wave.start + last * wave.frame], wave)
        yield resampler.feed(row.tobytes("raw", "F;32F"))
    yield resampler.finish()


def _check_rate(rate: int) -> None:
    if rate != RATE and not available():
        raise Unsupported(
            f"Sound at {rate:,} Hz needs one more package on the server: pip install 'duologue[voice]'. "
            f"Sound at {RATE:,} Hz needs none.",
            code="sound_unsupported",
        )


def _mono(samples: bytes, wave: _Wave) -> Image.Image:
    """Interleaved samples as one row, its channels mixed."""
    from PIL import Image

    if wave.bits == 24:
        # As 32 bits, the lowest of them zero.
        wide = bytearray(len(samples) // 3 * 4)
        for byte in range(3):
            wide[byte + 1 :: 4] = samples[byte::3]
        samples = bytes(wide)
    mode, factor = _SAMPLES[wave.kind, wave.bits]
    offset = -128.0 if wave.bits == 8 else 0.0
    count = len(samples) // (4 if wave.bits == 24 else wave.bits // 8)
    row = Image.frombytes("F", (count, 1), samples, "raw", mode)
    if factor != 1.0 or offset:
        row = row.point(lambda value: value * factor + offset * factor)
    return row if wave.channels == 1 else row.reduce((wave.channels, 1))


def _header(data: bytes, size: int) -> _Wave:
    """Raises BadRequest where there is none, Unsupported for samples that are compressed."""
    if not is_wav(data):
        raise BadRequest("The file is not a WAV file.", code="sound_unreadable")
    kind = bits = channels = rate = 0
    at = 12
    while at + 8 <= len(data):
        name, length = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        if name == b"fmt " and length >= 16:
            kind, channels = (int.from_bytes(data[at + 8 + n : at + 10 + n], "little") for n in (0, 2))
            rate = int.from_bytes(data[at + 12 : at + 16], "little")
            bits = int.from_bytes(data[at + 22 : at + 24], "little")
            if kind == _EXTENSIBLE and length >= 26:
                kind = int.from_bytes(data[at + 32 : at + 34], "little")
        elif name == b"data":
            if not channels or not rate:
                break
            if (kind, bits) not in _SAMPLES:
                raise Unsupported(
                    "The WAV file is compressed; save it as plain PCM of 8 to 32 bits.",
                    code="sound_unsupported",
                )
            # A recorder that was cut off leaves a length of 0 or all ones.
            room = max(0, size - at - 8)
            return _Wave(kind, bits, channels, rate, at + 8, min(length, room) or room)
        at += 8 + length + (length & 1)
    raise BadRequest("The WAV file is broken: it has no samples.", code="sound_unreadable")
