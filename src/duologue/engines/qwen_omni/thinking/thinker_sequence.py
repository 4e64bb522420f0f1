"""One sequence of the thinker: its cache of keys and values, and what is known of each token in it.

A slot of the engine has one, and so has a duplex session. Rolling back and taking out the oldest keep the positions of what is left. All
calls are made in the engine's thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from duologue.engines.qwen_omni.thinker_trace import ThinkerTrace


class ThinkerSequence:
    """`cache` is the library's, with full layers only, so that it can be cropped. `trace` is kept for models that speak."""

    def __init__(self, cache: Any, *, traced: bool) -> None:
        self.cache = cache
        self.trace: ThinkerTrace | None = ThinkerTrace() if traced else None
        self.numbers: list[int] = []
        """Of each token its id, or the key of the medium that it is of."""
        self._nexts: list[int] = []
        """Of each token the position that would have followed it."""

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def next_position(self) -> int:
        """Where the next token stands."""
        return self._nexts[-1] if self._nexts else 0

    def added(self, numbers: Sequence[int], nexts: Iterable[int]) -> None:
        """These tokens were read into the cache; `nexts` as in `next_position`, of each."""
        self.numbers.extend(numbers)
        self._nexts.extend(nexts)
        assert len(self.numbers) == len(self._nexts) == self.cache.get_seq_length()

    def crop(self, length: int) -> None:
        """Keep the first `length` tokens."""
        if (extra := len(self) - length) <= 0:
            return
        if length == 0:
            self.cache.reset()  # an empty one would keep the memory that it was cut from
        else:
            self.cache.crop(-extra)
        del self.numbers[length:], self._nexts[length:]
        if self.trace is not None:
            self.trace.crop(length)

    def remove(self, start: int, end: int, concatenate: Any) -> None:
        """Take out the tokens from `start` to before `end`; the others keep their positions. `concatenate` is the library's."""
        for layer in self.cache.layers:
            layer.keys = concatenate([layer.keys[..., :start, :], layer.keys[..., end:, :]], -2)
            layer.values = concatenate([layer.values[..., :start, :], layer.values[..., end:, :]], -2)
        del self.numbers[start:end], self._nexts[start:end]
        if self.trace is not None:
            self.trace.remove(start, end)
