"""A prompt with pictures and sounds as the thinker reads it: pieces, and a number for each of its tokens.

Made by `prompt_reader`, read by `thinker`. A token of text is its id; a medium is as many equal negative numbers as it takes tokens, from a
digest of its bytes: so prompts with and without media are compared and remembered alike. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import overload

from msgspec import Struct

from duologue.engines.qwen_omni.prompt.rope_positions import RopePositions, line_positions, picture_positions
from duologue.values.messages import AudioPart, ImagePart


class PromptText(Struct, frozen=True):
    """Tokens of text, control tokens among them."""

    tokens: tuple[int, ...]

    def positions(self, start: int) -> RopePositions:
        """Where its tokens stand if the first one is at `start`."""
        return line_positions(start, len(self.tokens))


class PromptMedium(Struct, frozen=True):
    """A picture of `grid` rows and columns of tokens, or a sound of `size` tokens (`grid` None). `key` is negative; `placeholder` is
    the token that stands for each of its tokens."""

    part: ImagePart | AudioPart
    key: int
    size: int
    placeholder: int
    grid: tuple[int, int] | None = None

    @property
    def tokens(self) -> tuple[int, ...]:
        """The number of each of its tokens."""
        return (self.key,) * self.size

    def positions(self, start: int) -> RopePositions:
        """Where its tokens stand if the first one is at `start`."""
        return line_positions(start, self.size) if self.grid is None else picture_positions(start, *self.grid)


PromptPiece = PromptText | PromptMedium


class OmniPrompt(Sequence[int]):
    """A prompt. As a sequence it is the numbers of its tokens."""

    def __init__(self, pieces: Sequence[PromptPiece]) -> None:
        self.pieces = tuple(pieces)
        self.tokens: tuple[int, ...] = tuple(token for piece in pieces for token in piece.tokens)
        self._ends = tuple(accumulate(len(piece.tokens) for piece in pieces))

    def __len__(self) -> int:
        return len(self.tokens)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[int, ...]: ...
    def __getitem__(self, index: int | slice) -> int | tuple[int, ...]:
        return self.tokens[index]

    def readable(self, count: int) -> int:
        """The most tokens, up to `count`, behind which reading can go on: not within a medium."""
        start = 0
        for piece, end in zip(self.pieces, self._ends, strict=True):
            if end > count:
                return start if isinstance(piece, PromptMedium) else count
            start = end
        return len(self)

    def after(self, count: int) -> Iterator[PromptPiece]:
        """The pieces behind the first `count` tokens, a number from `readable`."""
        start = 0
        for piece, end in zip(self.pieces, self._ends, strict=True):
            if end > count:
                if isinstance(piece, PromptText) and start < count:
                    piece = PromptText(piece.tokens[count - start :])
                yield piece
            start = end


def as_omni_prompt(tokens: Sequence[int]) -> OmniPrompt:
    """A prompt as the engine keeps it."""
    return tokens if isinstance(tokens, OmniPrompt) else OmniPrompt((PromptText(tuple(tokens)),))


def reading_steps(pieces: Iterator[PromptPiece], most: int) -> Iterator[tuple[PromptPiece, ...]]:
    """The pieces in steps of at most `most` tokens: others get their turn after each. Texts are cut, media are not; a medium that is
    larger has a step of its own."""
    step: list[PromptPiece] = []
    room = most
    for piece in pieces:
        while isinstance(piece, PromptText) and len(piece.tokens) > room:
            if room:
                step.append(PromptText(piece.tokens[:room]))
                piece = PromptText(piece.tokens[room:])
            yield tuple(step)
            step, room = [], most
        if len(piece.tokens) > room and step:
            yield tuple(step)
            step, room = [], most
        step.append(piece)
        room = max(0, room - len(piece.tokens))
    if step:
        yield tuple(step)


def common_beginning(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with."""
    return next(
        (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
        min(len(one), len(other)),
    )
