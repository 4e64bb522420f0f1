"""Maps the words of synthesised audio back to the written text, so that an interrupted reply is cut after the last word heard.

Owns what counts as a spoken word, and the mapping through `Speakable.spans`. Used by speech synthesis.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Protocol

from duologue.text.speech.normalise import Speakable
from duologue.values.events import ReplyWord

# In scripts without spaces each character counts as a word.
SPACELESS = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{SPACELESS}][^\w\s]*|[^\s{SPACELESS}]*[^\W_][^\s{SPACELESS}]*")


class AudioWord(Protocol):
    """A word with its audio, such as `engines.SpokenWord`: samples from the start of the clause, and a range of the spoken text."""

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
    """The ranges of the words of a spoken text, in order: runs between spaces with at least one letter or digit, including
    attached punctuation."""
    return [match.span() for match in _WORD.finditer(text)]


def letters_in(text: str) -> int:
    """The number of letters and digits: a rough measure of speaking time."""
    return sum(map(str.isalnum, text))


def written_words(
    words: Sequence[AudioWord], spoken: Speakable, *, at: int = 0, start: int = 0
) -> tuple[ReplyWord, ...]:
    """The words of a piece of audio as words of the reply: `at` is the offset of the clause in the written reply, `start` the
    sample (24 kHz) of the reply at which the audio of the clause begins.

    If one written item is spoken as several words ("$3.50"), the last word has its whole range and the others an empty range
    at its start: cut after any word, the written text never contains more than was heard.
    """
    starts = [span.start for span in spoken.spans]
    reply_words = []
    for word in words:
        begin, end = _range(spoken, starts, word.at, word.to)
        reply_words.append(ReplyWord(word.text, start + word.start, start + word.end, at + begin, at + end))
    return tuple(reply_words)


def spread_words(spoken: Speakable, samples: int, *, at: int = 0, start: int = 0) -> tuple[ReplyWord, ...]:
    """Like `written_words`, for engines that report no word times: the words share the `samples` by their letters."""
    ranges = words_in(spoken.text)
    starts = [span.start for span in spoken.spans]
    lengths = [letters_in(spoken.text[begin:end]) + 1 for begin, end in ranges]
    total, before = sum(lengths), 0
    reply_words = []
    for (begin, end), length in zip(ranges, lengths, strict=True):
        first, last = samples * before // total, samples * (before + length) // total
        before += length
        written = _range(spoken, starts, begin, end)
        reply_words.append(
            ReplyWord(spoken.text[begin:end], start + first, start + last, at + written[0], at + written[1])
        )
    return tuple(reply_words)


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
