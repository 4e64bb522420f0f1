"""Word timestamps of a clause from a speech model's own timestamps, which are per token or per phoneme.

Used by the Kokoro engines and by sherpa-onnx, which knows only the sound. A model may split one word, or pronounce two
as one. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from msgspec import Struct

from duologue.engines.contracts import SpokenWord
from duologue.text.speech.word_spans import letters_in, words_in
from duologue.values.audio import SPOKEN_RATE


class TimedText(Struct, frozen=True):
    """A token or phoneme that sounds from `start` to `end` seconds."""

    text: str
    start: float
    end: float


def words_from_tokens(
    clause: str, tokens: Iterable[TimedText], *, delay: float = 0.0
) -> tuple[SpokenWord, ...]:
    """The words of the clause, from a model's tokens, which are parts of its text in order. `delay` in seconds is added to
    all times; it is negative where the beginning of the sound was cut off. A word without a matching token is left out."""
    ranges = words_in(clause)
    times: list[list[TimedText]] = [[] for _ in ranges]
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


def words_from_phonemes(clause: str, phonemes: Sequence[TimedText]) -> tuple[SpokenWord, ...]:
    """The words of the clause, from phonemes with spaces between words. Where the phonemes have another number of words
    than the text ("of the" is one), the words are spread over them by their letters."""
    return _spread(clause, words_in(clause), _groups(phonemes))


def words_from_sound(
    clause: str, spans: Sequence[tuple[float, float]], *, begin: float = 0.0, end: float = 1.0
) -> tuple[SpokenWord, ...]:
    """The words of the clause, from nothing but the seconds between which its sound has no pause: they are spread over
    them by their letters. `begin` and `end`: the sound is only of this share of the clause, from 0 to 1."""
    ranges = words_in(clause)
    borders = _borders(clause, ranges)
    # A word belongs to the sound in which its middle is: rounding must not lose or repeat one.
    heard = [
        place
        for number, place in enumerate(ranges)
        if begin <= (borders[number] + borders[number + 1]) / 2 < end
    ]
    return _spread(clause, heard, [TimedText("", *span) for span in spans])


def _spread(
    clause: str, ranges: Sequence[tuple[int, int]], groups: Sequence[TimedText]
) -> tuple[SpokenWord, ...]:
    """Words at these places of the clause, over the groups of its sound: one each where there are as many."""
    if not ranges or not groups:
        return ()
    if len(ranges) == len(groups):
        return tuple(
            _word(clause, at, to, group.start, group.end)
            for (at, to), group in zip(ranges, groups, strict=True)
        )
    borders = _borders(clause, ranges)
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


def _borders(clause: str, ranges: Sequence[tuple[int, int]]) -> list[float]:
    """Where each word begins and the last one ends, as shares of their letters."""
    lengths = [letters_in(clause[at:to]) + 1 for at, to in ranges]
    total = max(1, sum(lengths))
    return [0.0, *(sum_ / total for sum_ in accumulate(lengths))]


def _groups(phonemes: Sequence[TimedText]) -> list[TimedText]:
    """The phonemes between spaces as one each; punctuation alone has no sound and is left out."""
    groups: list[TimedText] = []
    current: list[TimedText] = []
    for phoneme in [*phonemes, TimedText(" ", 0.0, 0.0)]:
        if phoneme.text.isspace():
            sounding = [each for each in current if any(map(str.isalpha, each.text))]
            if sounding:
                text = "".join(each.text for each in current)
                groups.append(TimedText(text, sounding[0].start, sounding[-1].end))
            current = []
        else:
            current.append(phoneme)
    return groups


def _moment(groups: Sequence[TimedText], share: float, *, last: bool) -> float:
    """The time at which `share` of the sound in `groups` has passed. On the border of two groups: the end of the first
    (`last`), or the beginning of the second."""
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
