"""Texts and media to prompts of an omni model: tokenized, measured, with the model's markers around each medium.

Made once for a loaded model; `engine` and `held_call` read with it. Blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duologue.engines.decoding.request_media import medium_key
from duologue.engines.qwen_omni.prompt.media_reader import MediaReader
from duologue.engines.qwen_omni.prompt.omni_prompt import OmniPrompt, PromptMedium, PromptPiece, PromptText
from duologue.errors import StartFailed
from duologue.values.messages import AudioPart, ImagePart

MARKERS = ("vision_bos_token", "vision_eos_token", "audio_bos_token", "audio_eos_token")
PLACEHOLDERS = ("image_token", "audio_token")


class PromptReader:
    """`tokenizer` is the library's, with the media's tokens by name. Raises StartFailed where it has none."""

    def __init__(self, tokenizer: Any, media: MediaReader) -> None:
        self._tokenizer, self._media = tokenizer, media
        numbers = {name: self._number(name) for name in (*MARKERS, *PLACEHOLDERS)}
        self._picture, self._sound = numbers["image_token"], numbers["audio_token"]
        self._around_picture = numbers["vision_bos_token"], numbers["vision_eos_token"]
        self._around_sound = numbers["audio_bos_token"], numbers["audio_eos_token"]

    def tokens(self, text: str) -> tuple[int, ...]:
        """The tokens of a text, control tokens parsed."""
        return tuple(self._tokenizer.encode(text, add_special_tokens=False)) if text else ()

    def prompt(self, parts: Sequence[str | ImagePart | AudioPart]) -> OmniPrompt:
        """A prompt of these texts and media. Raises BadRequest for a medium that cannot be read."""
        pieces: list[PromptPiece] = []
        for part in parts:
            pieces += self.pieces(part)
        return OmniPrompt(pieces)

    def pieces(self, part: str | ImagePart | AudioPart) -> tuple[PromptPiece, ...]:
        """A text, or a medium with its markers around."""
        if isinstance(part, str):
            tokens = self.tokens(part)
            return (PromptText(tokens),) if tokens else ()
        if isinstance(part, ImagePart):
            rows, columns = grid = self._media.picture_grid(part)
            medium = PromptMedium(part, medium_key(part), rows * columns, self._picture, grid)
            begin, end = self._around_picture
        else:
            part = self._media.heard(part)
            medium = PromptMedium(part, medium_key(part), self._media.sound_tokens(part), self._sound)
            begin, end = self._around_sound
        return PromptText((begin,)), medium, PromptText((end,))

    def _number(self, name: str) -> int:
        token = getattr(self._tokenizer, name, None)
        number = self._tokenizer.convert_tokens_to_ids(token) if token else None
        if number is None:
            raise StartFailed(
                f"The tokenizer of the model does not say which token is its {name}, so it is not one of Qwen2.5-Omni or Qwen3-Omni. "
                "Fetch its folder again.",
                param="model",
            )
        return int(number)
