"""A recording of a voice to speak with: any sound file, or samples of a request, as 16-bit mono at 16 kHz.

Owns how long such a recording may be, and that something is to be heard in it. Runs in decoder processes, for
`gateway.speech.voice_library` and `voice_choice`.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable

from duologue.decoder.job import decoder_job
from duologue.errors import BadRequest, TooLarge
from duologue.media import recordings, sniff, wav
from duologue.resampler import available
from duologue.values.audio import SAMPLE_BYTES, from_float32, samples

RATE = wav.RATE
SHORTEST, LONGEST = 1, 30
"""Seconds of a recording."""
WINDOW = RATE // 10
"""Samples whose loudness is measured at a time."""
LOUD = 10 ** (-45 / 20) * 32768
"""The root mean square of a window in which somebody may speak: -45 dBFS, above the noise of a cheap microphone."""
LOUD_WINDOWS = 5
"""Windows, half a second in all, that must be as loud."""


@decoder_job(seconds=60, cpu_seconds=60, memory_mb=1024, preload=("av", "PIL.Image"))
def read_voice_sample(data: bytes) -> bytes:
    """The recording of a file of any known format. Raises as `media.recordings`; BadRequest or TooLarge where it is too short,
    too long or silent."""
    if not wav.is_wav(data):
        return _checked(recordings.pieces(data, sniff.kind(data[: sniff.HEAD])))
    plain = wav.read_unchanged(data)
    if plain is not None:
        return _checked((plain,))
    if available():
        return _checked(recordings.pieces(data, "audio/wav"))
    return _checked(from_float32(piece) for piece in wav.pieces(data))


@decoder_job(seconds=60, cpu_seconds=60, memory_mb=1024, preload=("av",))
def voice_sample_of(floats: bytes, rate: int) -> bytes:
    """The recording of float32 mono samples at `rate` Hz. Raises as `read_voice_sample`."""
    # A tenth more than the longest: what is refused need not be resampled.
    return _checked((from_float32(wav.at_rate(floats[: 4 * rate * LONGEST * 11 // 10], rate)),))


def _checked(pieces: Iterable[bytes]) -> bytes:
    sound = bytearray()
    for piece in pieces:
        sound += piece
        if len(sound) > 2 * LONGEST * RATE + RATE:
            raise TooLarge(
                f"The recording is longer than {LONGEST} seconds. Choose the {LONGEST} seconds in which the voice is clearest.",
                code="voice_sample_long",
            )
    if len(sound) // SAMPLE_BYTES < SHORTEST * RATE:
        raise BadRequest(
            "The recording is shorter than a second. Record about ten seconds of clear speech.",
            code="voice_sample_short",
        )
    pcm = bytes(sound[: 2 * LONGEST * RATE])
    if _loud_windows(pcm) < LOUD_WINDOWS:
        raise BadRequest(
            "Nothing can be heard in the recording. Check the microphone, and record again a little louder.",
            code="voice_sample_silent",
        )
    return pcm


def _loud_windows(pcm: bytes) -> int:
    values = array("h", pcm[: samples(pcm) * 2])
    if sys.byteorder == "big":
        values.byteswap()
    count = 0
    for start in range(0, len(values) - WINDOW + 1, WINDOW):
        window = values[start : start + WINDOW]
        mean = sum(window) / WINDOW
        power = sum(value * value for value in window) / WINDOW - mean * mean
        count += power >= LOUD * LOUD
    return count
