"""Whether what was heard is what we were saying ourselves.

Owns the comparison of words; what was being said then, the playout knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from duologue.turns.words import words_of

ALIKE = 0.6
"""Of the heard words, so many are ours, in our order: a recogniser mishears a quiet echo."""
NEARLY = 0.75
"""Two words so alike, letter by letter, are the same one misheard."""


def likeness(heard: str, own: Sequence[str]) -> float:
    """How many of the heard words are our own, in order: 0 to 1. `own` are the words as they sounded, oldest first."""
    words = words_of(heard)
    ours = words_of(" ".join(own))
    if not words or not ours:
        return 0.0
    row = [0] * (len(ours) + 1)
    for word in words:
        diagonal = 0
        for at, other in enumerate(ours, 1):
            above = row[at]
            row[at] = diagonal + 1 if _same(word, other) else max(above, row[at - 1])
            diagonal = above
    return row[-1] / len(words)


def is_echo(heard: str, own: Sequence[str]) -> bool:
    """Whether the heard words are ours."""
    return likeness(heard, own) >= ALIKE


def _same(word: str, other: str) -> bool:
    if word == other:
        return True
    if min(len(word), len(other)) < 4:
        return False
    return SequenceMatcher(None, word, other, autojunk=False).ratio() >= NEARLY
