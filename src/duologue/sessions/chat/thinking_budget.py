"""How long a model may think before it answers, and what closes a thought that is longer.

Pure: text and counts in. Knows no engine.
"""

from __future__ import annotations

from duologue.values.requests import Effort

THOUGHT_TOKENS: dict[Effort, int] = {"low": 512, "medium": 2048, "high": 8192}
"""How long a model may think, by the effort asked for."""
BEHIND_THOUGHT = "\n\n"
"""What models are used to between a thought and the answer; the answer is said without it."""
MOST_CLOSINGS = 8
"""Thoughts of one reply that are closed for being too long."""


class ThinkingBudget:
    """How many tokens a reply may think (None: as many as it likes), and what it has written so far."""

    def __init__(self, tokens: int | None, end: str) -> None:
        self.end = end
        self._tokens = tokens
        self._closings = 0
        self._written: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._written)

    def reached(self, text: str, thought: int) -> bool:
        """Take what was written; whether the tokens thought are as many as there may be."""
        if self._tokens is None:
            return False
        self._written.append(text)
        return thought >= self._tokens

    def closed(self, closing: str) -> None:
        """The thought was closed with these words. A model that begins another one every time is let go in the end."""
        self._written.append(closing)
        self._closings += 1
        if self._closings >= MOST_CLOSINGS:
            self._tokens = None
