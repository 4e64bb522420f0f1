"""The words of texts and queries for search, folded so that case and accents do not matter.

Pure. Words are made of letters and digits; in scripts without spaces each character is a word, and a query matches them as a
phrase. Everything else separates words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

LONGEST = 64
"""Characters of a word that count. Nobody searches for the rest of a key or a hash."""
MOST = 50_000
"""Words of one text that are indexed; of a longer text, only its beginning."""
TERMS = 16
"""Terms of a query that count."""
_SCANNED = 5_000
"""Words that are looked through one by one for a place."""

# Thai to Myanmar, Khmer, kana to Han, and Han's supplements.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Combining accents of a letter written in two characters belong to its word.
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}_])[\w\u0300-\u036f])+")
_SPACED = rf"[^\W_{_UNSPACED}]"
_ONE_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_FOLDED_WORD = re.compile(rf"[{_UNSPACED}]|{_SPACED}+")
_KANA_VOICING = 8
"""The combining class of the two marks that change the sound of a kana, and so are not accents."""
_QUOTED = re.compile(r'["“”„«»]')


class SearchWord(NamedTuple):
    """A word of a text: where it stands, in characters, and how it is folded."""

    start: int
    end: int
    folded: str


class Term(NamedTuple):
    """What must be found: words next to each other in this order; the last one may go on, if `prefix`."""

    words: tuple[str, ...]
    prefix: bool = False


def folded(text: str) -> str:
    """The words of a text, folded, with one space between."""
    if text.isascii():
        matches = _ASCII_WORD.findall(text.lower())
        return " ".join(word[:LONGEST] for word in matches[:MOST])
    words = []
    for word in words_of(text):
        words.append(word.folded)
        if len(words) >= MOST:
            break
    return " ".join(words)


def words_of(text: str) -> Iterator[SearchWord]:
    """The words of a text and their places. A character that folds to several words gives several at its place."""
    for match in _WORD.finditer(text):
        for part in _fold(match.group()):
            yield SearchWord(match.start(), match.end(), part)


def terms_of(query: str) -> tuple[Term, ...]:
    """What a query asks for. Words in quotes, and words that are joined (`foo_bar`, `don't`), are next to each other;
    a closing quote may be missing. The last word may be the beginning of one. Empty where no word is asked for."""
    terms: list[Term] = []
    for number, piece in enumerate(_QUOTED.split(query)):
        phrases = [piece] if number % 2 else piece.split()
        terms += [Term(words) for one in phrases if (words := tuple(word.folded for word in words_of(one)))]
    if not terms:
        return ()
    terms = list(dict.fromkeys(terms))[:TERMS]
    if query[-1:].isalnum():
        terms[-1] = terms[-1]._replace(prefix=True)
    return tuple(terms)


def places_of(text: str, term: Term) -> Iterator[tuple[int, int]]:
    """The (start, end) of every match of a term, in characters."""
    alike = text.lower() if text.isascii() else text.translate(_ALIKE)
    any_word = False
    for match in _pattern(term).finditer(alike):
        any_word = True
        yield match.span()
    if not any_word and not text.isascii():
        yield from _places_by_word(text, term)


class _Alike(dict[int, int]):
    """Each character as it is folded, one for one, so that places stay; those that fold to several are as they are."""

    def __missing__(self, code: int) -> int:
        parts = _fold(chr(code))
        alike = ord(parts[0]) if len(parts) == 1 and len(parts[0]) == 1 else code
        self[code] = alike
        return alike


_ALIKE = _Alike()


@lru_cache(256)
def _pattern(term: Term) -> re.Pattern[str]:
    """What a term looks like in a text where each character is folded."""
    pattern = ""
    for at, word in enumerate(term.words):
        alone = _is_unspaced(word)
        if at:
            pattern += r"[\W_]*" if alone or _is_unspaced(term.words[at - 1]) else r"[\W_]+"
        # What stands before is looked at last: a pattern that begins with its letters is found much sooner.
        pattern += word if alone else rf"{word}(?<!{_SPACED}{word})"
        if (term.prefix and at == len(term.words) - 1) or len(word) == LONGEST:
            pattern += f"{_SPACED}*"
        elif not alone:
            pattern += rf"(?!{_SPACED})"
    return re.compile(pattern)


def _places_by_word(text: str, term: Term) -> Iterator[tuple[int, int]]:
    """The same, word by word: for characters that fold to several or to none. Slow, and so only of the beginning."""
    words = list(islice(words_of(text), _SCANNED))
    *inner, last = term.words
    for at in range(len(words) - len(inner)):
        *begins, ends = words[at : at + len(term.words)]
        if [word.folded for word in begins] == inner and (
            ends.folded.startswith(last) if term.prefix else ends.folded == last
        ):
            yield words[at].start, ends.end


def _is_unspaced(word: str) -> bool:
    return len(word) == 1 and _ONE_UNSPACED.match(word) is not None


def _fold(word: str) -> list[str]:
    if word.isascii():
        return [word.lower()[:LONGEST]]
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    bare = "".join(
        character for character in decomposed if unicodedata.combining(character) in (0, _KANA_VOICING)
    )
    again = unicodedata.normalize("NFC", bare.casefold())
    return [part[:LONGEST] for part in _FOLDED_WORD.findall(again)]
