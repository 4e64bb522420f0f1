"""How likely nothing follows the words of a turn so far.

Owns the judgement over words: what dangles, what is a whole turn, what has the shape of a whole sentence. Knows no pause;
`endpoint.py` makes one of it. The words themselves are `words.py`'s.
"""

from __future__ import annotations

import re
from itertools import pairwise

from duologue.turns.words import LittleWords, little_words, words_of

_CLOSED = re.compile(r"[.!。！][\"'”’)\]]*$")
_ASKED = re.compile(r"[?？][\"'”’)\]]*$")
_CUT = re.compile(r"(?:[,;:،、，–—-]|\.\.\.|…)\s*$")
_DIGITS = re.compile(r"\d+")

WHOLE = 0.87
"""Of what is whole by its shape: a short question about you, a sum, a wish that ends in "please"."""
Words = tuple[str, ...]


def completeness(text: str, language: str = "") -> float:
    """How likely nothing follows these words, 0 to 1. Without words, and for words that tell nothing, it is a half."""
    text = text.strip()
    words = words_of(text)
    if not words:
        return 0.5
    if _CUT.search(text):
        return 0.1
    if _ASKED.search(text):
        return 0.95
    little = little_words(language)
    if words[-1] in little.fillers:
        return 0.0
    if _is_answer(words, little):
        return 0.95
    words = _after_greeting(words, little)
    if _is_answer(words, little):
        return 0.95
    if _is_whole(words, little):
        return WHOLE
    if _dangles(words, little):
        return 0.1 if len(words) > 1 else 0.3
    if words[-1] in little.leaning and not (words[0] in little.question_words and words[-1] in little.tails):
        return 0.3
    if _is_number(words[-1], little):
        # Somebody who spells a number out stops between its parts, and no word tells which is the last.
        return 0.3 if all(_is_number(word, little) for word in words) else 0.45
    if _CLOSED.search(text):
        return 0.9
    return _by_shape(words, little)


def _by_shape(words: Words, little: LittleWords) -> float:
    if words[0] in little.asking:
        return 0.7 if len(words) > 2 else 0.4
    if words[0] in little.joining:
        # "because the weather", "if it rains": a clause that leans on another.
        return 0.5 if len(words) > 3 else 0.4
    return 0.6 if len(words) > 2 else 0.5


def _after_greeting(words: Words, little: LittleWords) -> Words:
    """What follows a greeting, which says nothing about what follows it. A greeting alone stays as it is."""
    for count in (2, 1):
        if len(words) > count and " ".join(words[:count]) in little.greetings:
            return words[count:]
    return words


def _is_answer(words: Words, little: LittleWords) -> bool:
    whole = " ".join(words)
    return whole in little.answers or (len(words) == 2 and all(word in little.answers for word in words))


def _is_whole(words: Words, little: LittleWords) -> bool:
    """Whether this is a whole sentence of a kind that hardly ever goes on."""
    if len(words) > 2 and (words[-1] in little.closing or " ".join(words[-2:]) in little.closing):
        return True
    return (
        _is_sum(words, little)
        or _asks_about_somebody(words, little)
        or _asks_indirectly(words, little)
        or _tells_a_name(words, little)
    )


def _is_sum(words: Words, little: LittleWords) -> bool:
    """ "What is seven plus five", "twelve times twelve"."""
    numbers = [_is_number(word, little) and word not in little.operators for word in words]
    operators = [at for at, word in enumerate(words) if word in little.operators]
    return bool(operators) and numbers[-1] and operators[-1] > 0 and numbers[operators[-1] - 1]


def _asks_about_somebody(words: Words, little: LittleWords) -> bool:
    """ "How old are you", "what do you mean", "where are you from", "what is your name": a question word, perhaps one more word,
    a verb and a pronoun, and what such a question ends in."""
    if words[0] not in little.question_words:
        return False
    for at in (1, 2):
        verb, rest = words[at : at + 1], words[at + 1 :]
        if not verb or not rest:
            continue
        if verb[0] in little.being and _ends(rest, little.persons, little.tails):
            return True
        if (
            verb[0] in little.being
            and len(rest) == 2
            and rest[0] in little.owners
            and rest[1] in little.owned
        ):
            return True
        if (
            verb[0] in little.auxiliaries
            and rest[0] in little.persons
            and _ends(rest[1:], little.verbs, little.tails)
        ):
            return True
        if verb[0] in little.verbs - little.auxiliaries and _ends(rest, little.persons, little.tails):
            return True
    return False


def _asks_indirectly(words: Words, little: LittleWords) -> bool:
    """ "Can you tell me what time it is", "I don't know who you are": its verb stands at its end, behind what it is about."""
    if words[-1] not in little.being | little.doing:
        return False
    return any(
        word in little.question_words and before in little.telling for before, word in pairwise(words[:-2])
    )


def _ends(words: Words, first: frozenset[str], tails: frozenset[str]) -> bool:
    """Whether these are one of `first` and then nothing but tails."""
    return bool(words) and words[0] in first and all(word in tails for word in words[1:])


def _tells_a_name(words: Words, little: LittleWords) -> bool:
    """ "My name is Anna"."""
    return len(words) == 4 and " ".join(words[:3]) in little.introductions and not _dangles(words, little)


def _dangles(words: Words, little: LittleWords) -> bool:
    if words[-1] in little.dangling:
        return True
    return any(" ".join(words[-count:]) in little.dangling_phrases for count in (2, 3))


def _is_number(word: str, little: LittleWords) -> bool:
    return bool(_DIGITS.fullmatch(word)) or word in little.numbers
