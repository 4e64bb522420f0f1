"""Assigns the logprobs of tokens to the deltas of the content.

`chat.py` uses it. Tokens and deltas have different boundaries, because the text between them is split into channels.
"""

from __future__ import annotations

from duologue.engines.contracts import Piece
from duologue.values.events import TokenLogprob


class LogprobAlignment:
    """Gives a content delta the logprobs of the tokens whose text begins inside its raw characters."""

    def __init__(self) -> None:
        self._position = 0
        self._waiting: list[tuple[int, TokenLogprob]] = []

    def add(self, piece: Piece) -> None:
        """Add the next generated piece."""
        self._waiting.extend((self._position, entry) for entry in piece.logprobs)
        self._position += len(piece.text)

    def take(self, start: int, length: int) -> tuple[TokenLogprob, ...]:
        """The logprobs of the tokens that begin in these characters of the raw text; each is returned once."""
        taken = tuple(entry for at, entry in self._waiting if start <= at < start + length)
        self._waiting = [(at, entry) for at, entry in self._waiting if at >= start + length]
        return taken
