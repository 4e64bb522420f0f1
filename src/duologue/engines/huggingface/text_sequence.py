"""One sequence of a model: its tokens that have been read, and where their keys are.

A slot of the engine has one. All changes are made in the engine's thread, by `row_batch`.
"""

from __future__ import annotations

from typing import Any


class TextSequence:
    """`cache` is the library's; while the sequence is written together with others, the batch has its layers."""

    def __init__(self, cache: Any) -> None:
        self.cache = cache
        self.numbers: list[int] = []
        """The tokens in the cache."""
        self.ahead = 0
        """How far the positions behind its media are from the numbers of the tokens: some models give a picture fewer positions than tokens."""
        self.lost = False
        """A step failed with it, so nobody knows what its cache has."""

    def __len__(self) -> int:
        return len(self.numbers)
