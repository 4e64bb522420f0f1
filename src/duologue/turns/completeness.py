"""How likely it is that the words of a turn so far are complete.

`endpoint.py` turns the answer into a pause. Judges by words alone: what leaves a sentence open, what is a whole turn, what
has the shape of a whole sentence. The word lists are in `words.py`.
"""

from __future__ import annotations

import re
from itertools import pairwise

from duologue.turns.words import TurnLexicon, lexicon_of, words_of

_CLOSED = re.compile(r"[.!。！][\"'”’)\]]*$")
_ASKED = re.compile(r"[?？][\"'”’)\]]*$")
_CUT = re.compile(r"(?:[,;:،、，–—-]|\.\.\.|…)\s*$")
_DIGITS = re.compile(r"\d+")

WHOLE = 0.87
"""Completeness of what is whole by its shape: a short question about a person, a sum, a request that ends in "please"."""
Words = tuple[str, ...]


def completeness(text: str, language: str = "") -> float:
    """Probability that nothing follows these words, 0 to 1. 0.5 for no words, and for words without any indication."""
    text = text.strip()
    words = words_of(text)
    if not words:
        return 0.5
    if _CUT.search(text):
        return 0.1
    if _ASKED.search(text):
        return 0.95
    lexicon = lexicon_of(language)
    if words[-1] in lexicon.fillers:
        return 0.0
    if _is_answer(words, lexicon):
        return 0.95
    words = _after_greeting(words, lexicon)
    if _is_answer(words, lexicon):
        return 0.95
    if _is_whole(words, lexicon):
        return WHOLE
    if _dangles(words, lexicon):
        return 0.1 if len(words) > 1 else 0.3
    if words[-1] in lexicon.leaning and not (
        words[0] in lexicon.question_words and words[-1] in lexicon.tails
    ):
        return 0.3
    if _is_number(words[-1], lexicon):
        # A caller who spells out a number pauses between its parts, and no word tells which part is the last.
        return 0.3 if all(_is_number(word, lexicon) for word in words) else 0.45
    if _CLOSED.search(text):
        return 0.9
    return _by_shape(words, lexicon)


def _by_shape(words: Words, lexicon: TurnLexicon) -> float:
    if words[0] in lexicon.asking:
        return 0.7 if len(words) > 2 else 0.4
    if words[0] in lexicon.joining:
        # "because the weather", "if it rains": a clause that leans on another.
        return 0.5 if len(words) > 3 else 0.4
    return 0.6 if len(words) > 2 else 0.5


def _after_greeting(words: Words, lexicon: TurnLexicon) -> Words:
    """The words after a greeting, which says nothing about them. A greeting alone is returned as it is."""
    for count in (2, 1):
        if len(words) > count and " ".join(words[:count]) in lexicon.greetings:
            return words[count:]
    return words


def _is_answer(words: Words, lexicon: TurnLexicon) -> bool:
    whole = " ".join(words)
    return whole in lexicon.answers or (len(words) == 2 and all(word in lexicon.answers for word in words))


def _is_whole(words: Words, lexicon: TurnLexicon) -> bool:
    """Whether this is a complete sentence of a kind that hardly ever continues."""
    if len(words) > 2 and (words[-1] in lexicon.closing or " ".join(words[-2:]) in lexicon.closing):
        return True
    return (
        _is_sum(words, lexicon)
        or _asks_about_person(words, lexicon)
        or _asks_indirectly(words, lexicon)
        or _gives_name(words, lexicon)
    )


def _is_sum(words: Words, lexicon: TurnLexicon) -> bool:
    """ "What is seven plus five", "twelve times twelve"."""
    numbers = [_is_number(word, lexicon) and word not in lexicon.operators for word in words]
    operators = [at for at, word in enumerate(words) if word in lexicon.operators]
    return bool(operators) and numbers[-1] and operators[-1] > 0 and numbers[operators[-1] - 1]


def _asks_about_person(words: Words, lexicon: TurnLexicon) -> bool:
    """ "How old are you", "what do you mean", "where are you from", "what is your name": a question word, perhaps another
    word, a verb and a pronoun, and what such a question ends in."""
    if words[0] not in lexicon.question_words:
        return False
    for at in (1, 2):
        verb, rest = words[at : at + 1], words[at + 1 :]
        if not verb or not rest:
            continue
        if verb[0] in lexicon.being and _ends(rest, lexicon.persons, lexicon.tails):
            return True
        if (
            verb[0] in lexicon.being
            and len(rest) == 2
            and rest[0] in lexicon.owners
            and rest[1] in lexicon.owned
        ):
            return True
        if (
            verb[0] in lexicon.auxiliaries
            and rest[0] in lexicon.persons
            and _ends(rest[1:], lexicon.verbs, lexicon.tails)
        ):
            return True
        if verb[0] in lexicon.verbs - lexicon.auxiliaries and _ends(rest, lexicon.persons, lexicon.tails):
            return True
    return False


def _asks_indirectly(words: Words, lexicon: TurnLexicon) -> bool:
    """ "Can you tell me what time it is", "I don't know who you are": the verb is at the end, after its subject."""
    if words[-1] not in lexicon.being | lexicon.doing:
        return False
    return any(
        word in lexicon.question_words and before in lexicon.telling for before, word in pairwise(words[:-2])
    )


def _ends(words: Words, first: frozenset[str], tails: frozenset[str]) -> bool:
    """Whether these are one of `first`, then only `tails`."""
    return bool(words) and words[0] in first and all(word in tails for word in words[1:])


def _gives_name(words: Words, lexicon: TurnLexicon) -> bool:
    """ "My name is Anna"."""
    return len(words) == 4 and " ".join(words[:3]) in lexicon.introductions and not _dangles(words, lexicon)


def _dangles(words: Words, lexicon: TurnLexicon) -> bool:
    if words[-1] in lexicon.dangling:
        return True
    return any(" ".join(words[-count:]) in lexicon.dangling_phrases for count in (2, 3))


def _is_number(word: str, lexicon: TurnLexicon) -> bool:
    return bool(_DIGITS.fullmatch(word)) or word in lexicon.numbers
