"""Backchannels: the "mhm" and "right" that tell a speaker to continue.

`interruption.py` asks these questions about the words of an overlap; it judges the durations itself.
"""

from __future__ import annotations

from duologue.turns.words import lexicon_of, words_of

LONGEST = 3
"""Words of a backchannel at most; more words are a turn, whatever they are."""


def is_backchannel(text: str, language: str) -> bool:
    """Whether these words only signal attention. False for no words."""
    words = words_of(text)
    if not words or len(words) > LONGEST:
        return False
    lexicon = lexicon_of(language)
    return " ".join(words) in lexicon.backchannel_phrases or all(
        word in lexicon.backchannel for word in words
    )


def takes_turn(text: str, language: str) -> bool:
    """Whether these words begin like a request to stop talking ("wait", "hold on")."""
    words, lexicon = words_of(text), lexicon_of(language)
    return bool(words) and (words[0] in lexicon.stop or " ".join(words[:2]) in lexicon.stop_phrases)


def is_stray_word(text: str, language: str) -> bool:
    """Whether this is one word that is never said alone, such as an article: recognisers turn an "uh" into those."""
    words = words_of(text)
    return len(words) == 1 and words[0] in lexicon_of(language).dangling


def begins_question(text: str, language: str) -> bool:
    """Whether the first two words can only begin a question or a request."""
    return " ".join(words_of(text)[:2]) in lexicon_of(language).openings
