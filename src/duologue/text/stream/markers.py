"""A fixed set of marker words, searched for in text that arrives in pieces.

Answers the two questions of every stream parser: where is the next marker, and how much of the end may still become
one. Markers are short and come from us or a model file, never from a user, so the work per piece is bounded by their
length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

NEVER = r"(?!)"
"""A pattern that matches nothing."""


class Markers:
    """Non-empty words. Where two begin at the same place, the longer one wins."""

    __slots__ = ("_beginnings", "_find_first", "_first_characters", "_longest", "pattern", "words")

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(sorted({word for word in words if word}, key=lambda word: (-len(word), word)))
        self.pattern = re.compile("|".join(map(re.escape, self.words)) or NEVER)
        self._first_characters = frozenset(word[0] for word in self.words)
        first_characters = re.escape("".join(sorted(self._first_characters)))
        self._find_first = re.compile(f"[{first_characters}]" if first_characters else NEVER).search
        self._longest = max(map(len, self.words), default=0)
        self._beginnings = frozenset(word[:size] for word in self.words for size in range(len(word)))

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
        return len(text) - index < self._longest and text[index:] in self._beginnings

    def hold(self, text: str) -> int:
        """Where the longest end of `text` begins that may still become a marker; the length of `text` if none may."""
        # A marker that begins earlier than its length before the end would be complete already.
        first = self._find_first(text, max(0, len(text) - self._longest + 1))
        while first is not None:
            index = first.start()
            if self.begins(text, index):
                return index
            first = self._find_first(text, index + 1)
        return len(text)
