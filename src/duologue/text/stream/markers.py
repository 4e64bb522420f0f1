"""A fixed set of marker words, searched for in text that arrives in pieces.

Answers the two questions of every stream parser: where is the next marker, and how much of the end may still become
one. Markers are short and come from us or a model file, never from a user, so the work per piece is bounded by their
length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


class Markers:
    """Non-empty words. Where two begin at the same place, the longer one wins."""

    __slots__ = ("_first_characters", "_longest", "pattern", "words")

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(sorted({word for word in words if word}, key=lambda word: (-len(word), word)))
        self.pattern = re.compile("|".join(map(re.escape, self.words)) or NEVER)
        self._first_characters = frozenset(word[0] for word in self.words)
        self._longest = max(map(len, self.words), default=0)

    @property
    def first_characters(self) -> str:
        """The characters a marker can begin with."""
        return "".join(sorted(self._first_characters))

    def at(self, text: str, index: int) -> str | None:
        """The marker at `index`, if there is a complete one."""
        match = self.pattern.match(text, index)
        return match[0] if match else None

    def begins(self, text: str, index: int) -> bool:
        """Whether the text from `index` to its end may still become a marker."""
        if len(text) - index >= self._longest:
            return False
        tail = text[index:]
        return any(len(word) > len(tail) and word.startswith(tail) for word in self.words)

    def hold(self, text: str) -> int:
        """Where the longest end of `text` begins that may still become a marker; the length of `text` if none may."""
        # A marker that begins earlier than its length before the end would be complete already.
        first_characters = self._first_characters
        for index in range(max(0, len(text) - self._longest + 1), len(text)):
            if text[index] in first_characters and self.begins(text, index):
                return index
        return len(text)


NEVER = r"(?!)"
"""A pattern that matches nothing."""
