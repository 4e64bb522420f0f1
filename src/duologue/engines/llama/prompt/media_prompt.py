"""A prompt with pictures and sounds: its pieces, the tokens they take, and how it is written into a request.

Made by `media_tokenizer`, taken by `engine`. Pure. The library takes such a prompt only as text with a marker for each medium, and
the files beside it. Here a medium is as many equal negative numbers as it takes tokens, which come from a digest of its bytes:
so prompts with and without media are compared, remembered and measured alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, overload

from msgspec import Struct

ENDING = "\n"
"""Follows a medium that would end the prompt: the library ends its process over a prompt whose last piece is a sound."""


class TextPiece(Struct, frozen=True):
    """Text whose tokens do not depend on what is around it."""

    text: str
    tokens: tuple[int, ...]


class MediumPiece(Struct, frozen=True):
    """A picture or sound: its file as base64, `size` tokens, and the negative number that stands for each of them."""

    file: str
    id: int
    size: int

    @property
    def tokens(self) -> tuple[int, ...]:
        return (self.id,) * self.size


class MediaPrompt(Sequence[int]):
    """A prompt; its last piece is text. `leading` are the tokens that the library itself puts before the first one, `marker` is
    what stands for a medium in the text of a request."""

    def __init__(
        self, pieces: Sequence[TextPiece | MediumPiece], leading: tuple[int, ...], marker: str
    ) -> None:
        assert isinstance(pieces[-1], TextPiece), "a prompt ends with text"
        self.pieces = tuple(pieces)
        self._leading, self._marker = leading, marker
        self.tokens: tuple[int, ...] = (*leading, *(token for piece in pieces for token in piece.tokens))
        self._ends = tuple(accumulate((len(piece.tokens) for piece in pieces), initial=len(leading)))[1:]

    def __len__(self) -> int:
        return len(self.tokens)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[int, ...]: ...
    def __getitem__(self, index: int | slice) -> int | tuple[int, ...]:
        return self.tokens[index]

    def first(self, count: int) -> MediaPrompt | tuple[int, ...]:
        """The longest part of at most `count` tokens that can be read before the rest: whole pieces and text at the end, or the
        tokens before the first medium."""
        text_end = next(
            start
            for start, piece in zip((len(self._leading), *self._ends), self.pieces, strict=False)
            if isinstance(piece, MediumPiece)
        )
        if count <= text_end:
            return self.tokens[:count]
        fitting = [
            at + 1
            for at, (end, piece) in enumerate(zip(self._ends, self.pieces, strict=True))
            if end <= count and isinstance(piece, TextPiece)
        ]
        if not fitting or self._ends[fitting[-1] - 1] <= text_end:
            return self.tokens[:text_end]
        return MediaPrompt(self.pieces[: fitting[-1]], self._leading, self._marker)

    def body(self) -> dict[str, Any]:
        """The prompt of a request."""
        text = "".join(
            piece.text.replace(self._marker, self._marker.replace("_", " "))
            if isinstance(piece, TextPiece)
            else self._marker
            for piece in self.pieces
        )
        media = [piece.file for piece in self.pieces if isinstance(piece, MediumPiece)]
        return {"prompt_string": text, "multimodal_data": media}


def as_prompt(tokens: Sequence[int]) -> MediaPrompt | tuple[int, ...]:
    """A prompt as the engine keeps it."""
    return tokens if isinstance(tokens, MediaPrompt) else tuple(tokens)


def plain_tokens(prompt: MediaPrompt | tuple[int, ...]) -> tuple[int, ...]:
    """The tokens of a prompt, to compare and to remember."""
    return prompt.tokens if isinstance(prompt, MediaPrompt) else prompt
