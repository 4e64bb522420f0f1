"""The words of a clause's sound, found again in the written text, so that a reply can be cut after any word that was heard.

Owns what counts as a word of spoken text and the way back through `Speakable.spans`. Knows no engine; samples are only
carried along.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Protocol

from duologue.text.speech.normalise import Speakable
from duologue.values.events import ReplyWord

# Scripts that are written without spaces are spoken, and cut, character by character.
SPACELESS = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{SPACELESS}][^\w\s]*|[^\s{SPACELESS}]*[^\W_][^\s{SPACELESS}]*")


class Sounded(Protocol):
    """A word of a clause's sound, as `engines.SpokenWord` is: samples from the clause's first, a range of the spoken text."""

    @property
    def text(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def at(self) -> int: ...
    @property
    def to(self) -> int: ...


def words_in(text: str) -> list[tuple[int, int]]:
    """The ranges of the words of a spoken text, in order: what stands between spaces and has a letter or digit, with the
    punctuation that hangs on it."""
    return [match.span() for match in _WORD.finditer(text)]


def letters_in(text: str) -> int:
    """How many letters and digits there are: about how long it takes to say it."""
    return sum(map(str.isalnum, text))


def written_words(
    words: Sequence[Sounded], spoken: Speakable, *, at: int = 0, start: int = 0
) -> tuple[ReplyWord, ...]:
    """The words of a piece of sound as words of the reply: `at` is where the clause begins in the reply's written text,
    `start` the reply's sample (24 kHz) at which the clause's sound begins.

    Where one written thing is said in several words ("$3.50"), all but the last have an empty range at its beginning and the
    last has all of it: cut after any word, the written text never holds more than was heard.
    """
    starts = [span.start for span in spoken.spans]
    made = []
    for word in words:
        begin, end = _range(spoken, starts, word.at, word.to)
        made.append(ReplyWord(word.text, start + word.start, start + word.end, at + begin, at + end))
    return tuple(made)


def spread_words(spoken: Speakable, samples: int, *, at: int = 0, start: int = 0) -> tuple[ReplyWord, ...]:
    """The words of a clause whose engine gave no times: spread over its `samples` by their letters. Otherwise as above."""
    ranges = words_in(spoken.text)
    starts = [span.start for span in spoken.spans]
    lengths = [letters_in(spoken.text[begin:end]) + 1 for begin, end in ranges]
    total, before, made = sum(lengths), 0, []
    for (begin, end), length in zip(ranges, lengths, strict=True):
        first, last = samples * before // total, samples * (before + length) // total
        before += length
        written = _range(spoken, starts, begin, end)
        made.append(
            ReplyWord(spoken.text[begin:end], start + first, start + last, at + written[0], at + written[1])
        )
    return tuple(made)


def _range(spoken: Speakable, starts: list[int], begin: int, end: int) -> tuple[int, int]:
    """The written range of the spoken one from `begin` to `end`."""
    spans = spoken.spans
    first = max(0, bisect_right(starts, begin) - 1)
    if first < len(spans) and spans[first].end <= begin:
        first += 1
    low = high = -1
    for span in spans[first:]:
        if span.start >= end:
            break
        if span.end <= begin:
            continue
        if span.whole:
            from_here, to_here = span.at, span.to if span.end <= end else span.at
        else:
            from_here = span.at + max(0, begin - span.start)
            to_here = span.to - max(0, span.end - end)
        low = from_here if low < 0 else low
        high = to_here
    if low < 0:
        place = spans[min(first, len(spans) - 1)] if spans else None
        low = high = 0 if place is None else place.at if begin < place.end else place.to
    return low, max(low, high)
