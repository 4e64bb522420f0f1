"""Pictures and sounds as the encoders of an omni model take them: decoded, measured, and as the library's features.

Used by `prompt_reader`, which measures, and `media_encoder`, which reads. Owns the limits on what one picture may cost. Features are
made only when a medium is really read: most turns find theirs in the cache.
"""

from __future__ import annotations

from typing import Any

from duologue.engines.decoding.request_media import FLOAT, heard_sound, open_picture, samples_of
from duologue.engines.qwen_omni.prompt.media_sizes import LEAST_SAMPLES, SoundSize
from duologue.errors import BadRequest
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, to_float32
from duologue.values.messages import AudioPart, ImagePart

NARROWEST = 1 / 200
"""Width to height, or the other way round, of the thinnest picture that these models take."""


class MediaReader:
    """`pictures` and `sounds` are the library's processors; `fit` its rule for the size of a picture; `pixels`: the most of one
    picture."""

    def __init__(self, pictures: Any, sounds: Any, fit: Any, sound_size: SoundSize, pixels: int) -> None:
        self._pictures, self._sounds, self._fit = pictures, sounds, fit
        self._sound_size = sound_size
        size = pictures.size
        self._least, self._most = size["shortest_edge"], max(size["shortest_edge"], pixels)
        self._patch, self._merge = pictures.patch_size, pictures.merge_size

    def picture_grid(self, part: ImagePart) -> tuple[int, int]:
        """Rows and columns of tokens of a picture. Raises BadRequest (`image_unreadable`)."""
        width, height = open_picture(part).size
        if not NARROWEST < width / height < 1 / NARROWEST:
            raise _unreadable("A picture is far longer than wide, so the model cannot see it.")
        factor = self._patch * self._merge
        rows, columns = self._fit(height, width, factor=factor, min_pixels=self._least, max_pixels=self._most)
        return rows // factor, columns // factor

    def picture_features(self, part: ImagePart) -> tuple[Any, Any]:
        """The patches of a picture, [patches, values], and the grid that they are of, [1, 3]."""
        picture = open_picture(part).convert("RGB")
        features = self._pictures(
            images=[picture],
            size={"shortest_edge": self._least, "longest_edge": self._most},
            return_tensors="pt",
        )
        return features["pixel_values"], features["image_grid_thw"]

    def heard(self, part: AudioPart) -> AudioPart:
        """A sound at the rate that the model hears. Raises BadRequest (`sound_unreadable`)."""
        return heard_sound(part)

    def sound_tokens(self, part: AudioPart) -> int:
        """Tokens of a sound from `heard`."""
        return self._sound_size(len(part.data) // FLOAT)

    def sound_features(self, part: AudioPart) -> tuple[Any, Any]:
        """The spectrogram of a sound, [1, bands, frames], and which frames are sound, [1, frames]. As long as the sound: the library's
        own processor pads every sound to five minutes."""
        import numpy

        values = samples_of(part)
        if len(values) < LEAST_SAMPLES:
            values = numpy.pad(values, (0, LEAST_SAMPLES - len(values)))
        features = self._sounds(
            values,
            sampling_rate=HEARD_RATE,
            padding="longest",
            truncation=False,
            return_attention_mask=True,
            return_tensors="pt",
        )
        return features["input_features"], features["attention_mask"]


def as_sound(pcm: bytes) -> AudioPart:
    """A caller's sound, 16-bit at 16 kHz, as a medium."""
    return AudioPart(to_float32(pcm[: len(pcm) // SAMPLE_BYTES * SAMPLE_BYTES]))


def _unreadable(message: str) -> BadRequest:
    return BadRequest(message, code="image_unreadable", param="messages")
