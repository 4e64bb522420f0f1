"""Which tokens' logprobs belong to which delta of the content.

Pure: pieces and positions in. Knows no engine, and nothing of what lies between the two.
"""

from __future__ import annotations

from duologue.engines.contracts import Piece
from duologue.values.events import TokenLogprob


class Alignment:
    """Which tokens' logprobs belong to a content delta: those whose text begins inside its raw characters."""

    def __init__(self) -> None:
        self._position = 0
        self._waiting: list[tuple[int, TokenLogprob]] = []

    def add(self, piece: Piece) -> None:
        self._waiting.extend((self._position, entry) for entry in piece.logprobs)
        self._position += len(piece.text)

    def take(self, start: int, length: int) -> tuple[TokenLogprob, ...]:
        taken = tuple(entry for at, entry in self._waiting if start <= at < start + length)
        self._waiting = [(at, entry) for at, entry in self._waiting if at >= start + length]
        return taken
