"""The pictures and sounds of a request as a library's processor takes them: decoded, at the rate that a model hears, and what tells them apart.

Used by the engines that write a token at a time themselves. Blocks.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from typing import Any

from duologue.errors import BadRequest
from duologue.resampler import Resampler
from duologue.values.audio import HEARD_RATE, from_float32, to_float32
from duologue.values.messages import AudioPart, ImagePart

FLOAT = 4
"""Bytes of a float32 sample."""
LEAST_RATE, MOST_RATE = 1_000, 384_000
"""Hz of a sound."""
FORMATS = ("PNG", "JPEG", "GIF", "WEBP")


def open_picture(part: ImagePart) -> Any:
    """A picture of Pillow, decoded. Raises BadRequest (`image_unreadable`)."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(part.data), formats=FORMATS)
            picture.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Warning):
        raise BadRequest(
            "A picture is damaged or too large, and cannot be read.",
            code="image_unreadable",
            param="messages",
        ) from None
    return picture


def heard_sound(part: AudioPart) -> AudioPart:
    """A sound at 16 kHz. Raises BadRequest (`sound_unreadable`)."""
    if not LEAST_RATE <= part.rate <= MOST_RATE or len(part.data) < FLOAT:
        raise BadRequest("A sound is empty or cannot be read.", code="sound_unreadable", param="messages")
    if part.rate == HEARD_RATE:
        return part
    resampler = Resampler(part.rate, HEARD_RATE)
    return AudioPart(to_float32(resampler.feed(from_float32(part.data)) + resampler.finish()))


def samples_of(part: AudioPart) -> Any:
    """The samples of a sound, [samples] float32 from -1 to 1. A sample of 1e38, which is no sound, would make every number of a model NaN."""
    import numpy

    values = numpy.frombuffer(part.data[: len(part.data) // FLOAT * FLOAT], "<f4")
    return numpy.clip(numpy.nan_to_num(values, posinf=0.0, neginf=0.0), -1.0, 1.0)


def medium_key(*parts: ImagePart | AudioPart) -> int:
    """The negative number of one or several media, from their bytes."""
    digest = hashlib.sha256()
    for part in parts:
        rate = part.rate.to_bytes(4, "big") if isinstance(part, AudioPart) else b""
        digest.update(rate + part.data if len(parts) == 1 else hashlib.sha256(rate + part.data).digest())
    return -1 - int.from_bytes(digest.digest()[:8], "big")
