"""The "mhm" and "right" that somebody says to let the other go on.

Owns the judgement over words; how long they took is judged in `interruption.py`.
"""

from __future__ import annotations

from duologue.turns.words import little_words, words_of

LONGEST = 3
"""Words; more is a turn, whatever they are."""


def is_backchannel(text: str, language: str) -> bool:
    """Whether these words only say that somebody listens. No words say nothing, and are none."""
    words = words_of(text)
    if not words or len(words) > LONGEST:
        return False
    little = little_words(language)
    return " ".join(words) in little.backchannel_phrases or all(word in little.backchannel for word in words)


def takes_the_turn(text: str, language: str) -> bool:
    """Whether these words begin as somebody does who wants the other to stop."""
    words, little = words_of(text), little_words(language)
    return bool(words) and (words[0] in little.stop or " ".join(words[:2]) in little.stop_phrases)


def says_nothing(text: str, language: str) -> bool:
    """Whether this is a single word that nobody says alone, such as an article: what a recogniser makes of an "uh"."""
    words = words_of(text)
    return len(words) == 1 and words[0] in little_words(language).dangling


def begins_a_question(text: str, language: str) -> bool:
    """Whether these words begin as a question or a wish does, and as nothing else."""
    return " ".join(words_of(text)[:2]) in little_words(language).openings
