"""When the words of a clause sound, from what a speech model tells of its own tokens or phonemes.

Owns the way from those to the words of the text: a model may cut a word in two, or say two as one. Pure. Knows no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from msgspec import Struct

from duologue.engines.contracts import SpokenWord
from duologue.text.speech.word_spans import letters_in, words_in
from duologue.values.audio import SPOKEN_RATE


class Stretch(Struct, frozen=True):
    """A piece of what is spoken, from `start` to `end` seconds."""

    text: str
    start: float
    end: float


def words_from_tokens(
    clause: str, tokens: Iterable[Stretch], *, delay: float = 0.0
) -> tuple[SpokenWord, ...]:
    """The words of the clause, from a model's tokens, which are parts of its text in their order. `delay` seconds come
    before what the model calls its beginning; it is negative where its beginning was cut off. A word none of whose tokens
    is found has no time, and is left out."""
    ranges = words_in(clause)
    times: list[list[Stretch]] = [[] for _ in ranges]
    at = index = 0
    for token in tokens:
        text = token.text.strip()
        place = clause.find(text, at) if text else -1
        if place < 0:
            continue
        at = place + len(text)
        while index < len(ranges) and ranges[index][1] <= place:
            index += 1
        if index < len(ranges) and ranges[index][0] < at:
            times[index].append(token)
    return tuple(
        _word(clause, at, to, parts[0].start + delay, parts[-1].end + delay)
        for (at, to), parts in zip(ranges, times, strict=True)
        if parts
    )


def words_from_phonemes(clause: str, phonemes: Sequence[Stretch]) -> tuple[SpokenWord, ...]:
    """The words of the clause, from phonemes with spaces between words. Where there are other words among the phonemes than
    in the text ("of the" is one), the words are spread over them by their letters."""
    ranges = words_in(clause)
    groups = _groups(phonemes)
    if not ranges or not groups:
        return ()
    if len(ranges) == len(groups):
        return tuple(
            _word(clause, at, to, group.start, group.end)
            for (at, to), group in zip(ranges, groups, strict=True)
        )
    lengths = [letters_in(clause[at:to]) + 1 for at, to in ranges]
    total = sum(lengths)
    borders = [0.0, *(sum_ / total for sum_ in accumulate(lengths))]
    return tuple(
        _word(
            clause,
            at,
            to,
            _moment(groups, borders[number], last=False),
            _moment(groups, borders[number + 1], last=True),
        )
        for number, (at, to) in enumerate(ranges)
    )


def _groups(phonemes: Sequence[Stretch]) -> list[Stretch]:
    """What stands between spaces and has a sound: not a mark alone."""
    groups: list[Stretch] = []
    current: list[Stretch] = []
    for phoneme in [*phonemes, Stretch(" ", 0.0, 0.0)]:
        if phoneme.text.isspace():
            sounding = [each for each in current if any(map(str.isalpha, each.text))]
            if sounding:
                text = "".join(each.text for each in current)
                groups.append(Stretch(text, sounding[0].start, sounding[-1].end))
            current = []
        else:
            current.append(phoneme)
    return groups


def _moment(groups: Sequence[Stretch], share: float, *, last: bool) -> float:
    """When so much of what sounds in `groups` is over. Between two of them: the end of the one, or the beginning of the
    other."""
    left = share * sum(group.end - group.start for group in groups)
    for number, group in enumerate(groups):
        length = group.end - group.start
        if left < length - 1e-9 or (last and left <= length + 1e-9) or number == len(groups) - 1:
            return min(group.end, group.start + left)
        left -= length
    return groups[-1].end


def _word(clause: str, at: int, to: int, start: float, end: float) -> SpokenWord:
    first = max(0, round(start * SPOKEN_RATE))
    return SpokenWord(clause[at:to], first, max(first, round(end * SPOKEN_RATE)), at, to)
