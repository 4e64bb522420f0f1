"""Detects text that repeats itself endlessly.

sessions/chat/chat.py uses it inside tool calls: models that are small, or constrained by a grammar, may write the
same few characters until their reply is cut off.
"""

from __future__ import annotations

STRETCH = 2048
"""Characters at the end that must consist of one repeated piece. Tables, indentation and drawings repeat less."""
LONGEST = 96
"""Characters of the repeated piece, at most."""
CHECK_EVERY = 256
"""New characters between two checks."""


class RepetitionDetector:
    """Takes text as it is written, and checks its end now and then."""

    def __init__(self) -> None:
        self._end = ""
        self._new = 0

    def feed(self, text: str) -> bool:
        """Whether the text repeats itself by now."""
        self._end = (self._end + text)[-STRETCH:]
        self._new += len(text)
        if self._new < CHECK_EVERY or len(self._end) < STRETCH:
            return False
        self._new = 0
        # A text repeats every `length` characters if it equals itself shifted by that many.
        return any(self._end[length:] == self._end[:-length] for length in range(1, LONGEST + 1))
