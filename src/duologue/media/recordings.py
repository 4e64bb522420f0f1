"""Sound that is compressed (MP3, OGG, FLAC, M4A), made into what a model takes, by FFmpeg through PyAV.

An extra of the package: without it the sentence says how to get it. Knows no file on disk and no model. Everything here
blocks: call it in `media.lane`.
"""

from __future__ import annotations

import io

from duologue.errors import BadRequest, TooLarge, Unsupported
from duologue.media.sound import MINUTES, RATE, Sound

# Only these readers, chosen by what the bytes are: left to guess, FFmpeg would take a playlist that names other files.
FORMATS = {"audio/mpeg": "mp3", "audio/flac": "flac", "audio/ogg": "ogg", "audio/mp4": "mov"}
MOST = MINUTES * 60 * RATE
"""Samples a recording may have."""


def heard(data: bytes, mime: str) -> Sound:
    """The sound of a file of one of the FORMATS.

    Raises Unsupported for another kind or without PyAV, BadRequest for a broken file, TooLarge for more than half an hour.
    """
    if mime not in FORMATS:
        raise Unsupported(
            "Sound of this kind cannot be read. WAV, MP3, OGG, FLAC and M4A can.", code="sound_unsupported"
        )
    try:
        import av
    except ImportError:
        raise Unsupported(
            "Only WAV sound can be read here. For MP3, OGG, FLAC and M4A the server needs one more package: "
            "pip install 'duologue[voice]'.",
            code="sound_unsupported",
        ) from None
    samples = bytearray()
    try:
        with av.open(io.BytesIO(data), mode="r", format=FORMATS[mime]) as file:
            resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
            for frame in file.decode(audio=0):
                for piece in resampler.resample(frame):
                    samples += bytes(piece.planes[0])[: piece.samples * 4]
                if len(samples) > MOST * 4:
                    raise TooLarge(
                        f"Sound of more than {MINUTES} minutes cannot be attached.", code="sound_too_long"
                    )
            for piece in resampler.resample(None):
                samples += bytes(piece.planes[0])[: piece.samples * 4]
    except (av.FFmpegError, IndexError, ValueError):
        raise BadRequest("The sound file is broken or holds no sound.", code="sound_unreadable") from None
    if not samples:
        raise BadRequest("The sound file is broken or holds no sound.", code="sound_unreadable")
    return Sound(bytes(samples))
