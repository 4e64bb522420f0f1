"""Whether recognised words are our own, picked up by the caller's microphone.

Compares words only; `reply_state.py` knows which words were playing at the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from duologue.turns.words import words_of

MIN_SIMILARITY = 0.6
"""Share of the recognised words that must be ours, in order: a recogniser mishears a quiet echo."""
SAME_WORD = 0.75
"""Two words with this ratio of equal letters are the same word, misheard."""


def similarity(text: str, own: Sequence[str]) -> float:
    """Share of the words of `text` that occur in `own`, in order: 0 to 1. `own` are the words as spoken, oldest first."""
    words = words_of(text)
    ours = words_of(" ".join(own))
    if not words or not ours:
        return 0.0
    # Longest common subsequence, one row at a time.
    row = [0] * (len(ours) + 1)
    for word in words:
        diagonal = 0
        for at, other in enumerate(ours, 1):
            above = row[at]
            row[at] = diagonal + 1 if _same(word, other) else max(above, row[at - 1])
            diagonal = above
    return row[-1] / len(words)


def is_echo(text: str, own: Sequence[str]) -> bool:
    """Whether enough of the words are ours."""
    return similarity(text, own) >= MIN_SIMILARITY


def _same(word: str, other: str) -> bool:
    if word == other:
        return True
    if min(len(word), len(other)) < 4:
        # Short words resemble each other too easily: "the" and "then".
        return False
    return SequenceMatcher(None, word, other, autojunk=False).ratio() >= SAME_WORD
