"""Pictures and sounds to what goes into the thinker: the two encoders of the model.

Called by `thinker`, in the engine's thread. Blocks.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from duologue.engines.qwen_omni.prompt.media_reader import MediaReader
from duologue.engines.qwen_omni.prompt.omni_prompt import PromptMedium
from duologue.errors import EngineFailed
from duologue.values.messages import ImagePart


class EncodedMedium(Struct, frozen=True):
    """`embeddings`: [tokens, width]. `layers`: for a picture of Qwen3-Omni what is added behind each of the thinker's first layers,
    [tokens, width] each."""

    embeddings: Any
    layers: tuple[Any, ...] = ()


class MediaEncoder:
    """`thinker` is the library's; its encoders are on `device`."""

    def __init__(self, thinker: Any, reader: MediaReader, device: Any) -> None:
        self._thinker, self._reader, self._device = thinker, reader, device

    def encode(self, medium: PromptMedium) -> EncodedMedium:
        """What the network makes of a medium: as many tokens as it was measured for."""
        encoded = self._picture(medium) if isinstance(medium.part, ImagePart) else self._sound(medium)
        if encoded.embeddings.shape[0] != medium.size:
            raise EngineFailed(
                f"The model makes {encoded.embeddings.shape[0]} tokens of a picture or sound that was measured as {medium.size}. "
                "Its folder may mix files of two versions; fetch it again."
            )
        return encoded

    def _picture(self, medium: PromptMedium) -> EncodedMedium:
        pixels, grid = self._reader.picture_features(medium.part)  # type: ignore[arg-type]
        output = self._thinker.get_image_features(
            pixels.to(self._device), grid.to(self._device), return_dict=True
        )
        layers = getattr(output, "deepstack_features", None) or ()
        return EncodedMedium(output.pooler_output[0], tuple(layer[0] for layer in layers))

    def _sound(self, medium: PromptMedium) -> EncodedMedium:
        features, mask = self._reader.sound_features(medium.part)  # type: ignore[arg-type]
        output = self._thinker.get_audio_features(
            features.to(self._device), mask.to(self._device), return_dict=True
        )
        return EncodedMedium(output.last_hidden_state.reshape(-1, output.last_hidden_state.shape[-1]))
