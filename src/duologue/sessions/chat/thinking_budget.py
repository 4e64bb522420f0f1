"""How long a model may think before it answers, and the text that closes a longer thought."""

from __future__ import annotations

from duologue.values.requests import Effort

THINKING_TOKENS: dict[Effort, int] = {"low": 512, "medium": 2048, "high": 8192}
"""Tokens of thought by the requested effort."""
THOUGHT_SEPARATOR = "\n\n"
"""What models write between a thought and the answer; it is not part of the answer."""
MAX_CLOSINGS = 8
"""Thoughts of one reply that are closed for being too long."""


class ThinkingBudget:
    """How many tokens a reply may think (None: unlimited), and the text it has written so far."""

    def __init__(self, tokens: int | None, end: str) -> None:
        self.end = end
        self._tokens = tokens
        self._closings = 0
        self._written: list[str] = []

    @property
    def text(self) -> str:
        """The text written so far, including closed thoughts."""
        return "".join(self._written)

    def reached(self, text: str, thought: int) -> bool:
        """Add what was written; whether the tokens of thought have reached the limit."""
        self._written.append(text)
        return self._tokens is not None and thought >= self._tokens

    def closed(self, closing: str) -> None:
        """The thought was closed with this text. A model that starts another one every time is eventually left
        alone."""
        self._written.append(closing)
        self._closings += 1
        if self._closings >= MAX_CLOSINGS:
            self._tokens = None
