"""A text that goes round in circles, told by its end.

Pure. Models that are small, or held to a grammar, may write the same few characters until their reply is cut.
"""

from __future__ import annotations

STRETCH = 2048
"""Characters at the end that must all be the same piece again and again. Tables, indents and drawings have less of that."""
LONGEST = 96
"""Characters of the piece, at most."""
_EVERY = 256


class Repetition:
    """Hears a text as it is written, and looks at its end now and then."""

    def __init__(self) -> None:
        self._end = ""
        self._new = 0

    def feed(self, text: str) -> bool:
        """Whether the text goes round in circles by now."""
        self._end = (self._end + text)[-STRETCH:]
        self._new += len(text)
        if self._new < _EVERY or len(self._end) < STRETCH:
            return False
        self._new = 0
        return any(self._end[length:] == self._end[:-length] for length in range(1, LONGEST + 1))
