"""A recording that a clip moves its lips to: any sound file, as 16-bit mono at 24 kHz. Runs in decoder processes, for
`gateway.avatars.clip_routes`."""

from __future__ import annotations

from duologue.decoder.job import decoder_job
from duologue.errors import TooLarge
from duologue.media import recordings, sniff, wav
from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE

LONGEST = 600
"""Seconds."""


@decoder_job(seconds=60, cpu_seconds=60, memory_mb=1024, result_mb=64, preload=("av", "PIL.Image"))
def read_clip_sound(data: bytes) -> bytes:
    """The sound. Raises as `media.recordings`; TooLarge (`clip_too_long`) where it is too long."""
    kind = "audio/wav" if wav.is_wav(data) else sniff.kind(data[: sniff.HEAD])
    sound = bytearray()
    for piece in recordings.pieces(data, kind, SPOKEN_RATE):
        sound += piece
        if len(sound) > LONGEST * SPOKEN_RATE * SAMPLE_BYTES:
            raise TooLarge(
                f"The recording is longer than {LONGEST // 60} minutes. Make several clips of shorter ones.",
                code="clip_too_long",
            )
    return bytes(sound)
