"""A prompt with pictures and sounds: its tokens, the numbers that tell it from others, and what the processor made of the media. Pure.

Made by `media_processor`, read by `row_batch`. The library reads the media of a prompt in one step, from an empty cache; so what a slot has
cached is kept only where all the media of the prompt are in it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, overload


class ProcessedPrompt(Sequence[int]):
    """`tokens` are the model's ids; those among `places` stand for media, whose number `key` is negative and the same for all of them. `inputs`:
    what the model takes besides. As a sequence it is the numbers: ids, and `key` in the places of media."""

    def __init__(
        self, tokens: Sequence[int], places: Collection[int], key: int, inputs: Mapping[str, Any]
    ) -> None:
        self.tokens, self.inputs = tuple(tokens), dict(inputs)
        self.numbers = tuple(key if token in places else token for token in tokens)
        self.whole = max((at + 1 for at, token in enumerate(tokens) if token in places), default=0)
        """The tokens up to the end of the last medium, which are read in one step."""

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[int, ...]: ...
    def __getitem__(self, index: int | slice) -> int | tuple[int, ...]:
        return self.numbers[index]


def readable(prompt: Sequence[int], count: int) -> int:
    """The most of the first `count` tokens behind which reading can go on."""
    return 0 if isinstance(prompt, ProcessedPrompt) and count < prompt.whole else count
