"""Word timestamps of a clause from the events of a synthesiser, while it speaks.

Used by `espeak`. Each word is reported once, in the order of the text, and none overlaps the next. A synthesiser may send
events for parts of a word, one for two words, or none; missing times are filled in by length. Pure: samples at any rate,
positions in characters.
"""

from __future__ import annotations

from bisect import bisect_right

from duologue.text.speech.word_spans import letters_in, words_in

FinishedWord = tuple[int, int, str, int, int]
"""Start and end in the text, the text, first sample, sample after the last."""


class WordTimestamps:
    """Takes the beginnings of words and sounds in order. A word that has not ended after `hold` samples is ended, so that
    sound is never held back for long."""

    def __init__(self, text: str, *, hold: int) -> None:
        self._text = text
        self._hold = hold
        self._ranges = words_in(text)
        self._starts = [at for at, _ in self._ranges]
        self._current = -1
        """The index of the word that began last."""
        self._begun = 0
        self._ended = 0
        """How many words have ended."""
        self._silent: int | None = None
        """The sample since which there is a pause, if there is one."""
        self._done: list[FinishedWord] = []

    def word(self, sample: int, position: int) -> None:
        """At `sample` begins the word, or the part of one, at `position` of the text."""
        index = bisect_right(self._starts, max(0, position)) - 1
        if index > self._current:
            self._end_before(index, sample)
            self._current, self._begun, self._silent = index, sample, None

    def sound(self, sample: int, *, pause: bool) -> None:
        """At `sample` begins a sound, or a pause."""
        if not pause:
            self._silent = None
        elif self._silent is None:
            self._silent = sample

    def ready(self, made: int) -> int:
        """How many of the `made` samples come before any unfinished word."""
        if made - self._begun > self._hold and self._ended <= self._current:
            self._end_before(self._current + 1, made)
            self._begun = made
        if self._current < 0:
            # No event yet. A synthesiser without word events is not held back for ever.
            return made if made > self._hold else 0
        return made if self._ended > self._current else self._begun

    def end(self, made: int) -> None:
        """The synthesis has ended after `made` samples."""
        self._end_before(len(self._ranges), made)

    def finished(self) -> list[FinishedWord]:
        """The words that ended since the last call."""
        done, self._done = self._done, []
        return done

    def _end_before(self, index: int, sample: int) -> None:
        """The words before `index` that still sound end at `sample`, or where the pause before it began."""
        ending = self._ranges[self._ended : index]
        if not ending:
            return
        paused = self._silent is not None and self._begun < self._silent < sample
        length = max(0, (self._silent if paused and self._silent is not None else sample) - self._begun)
        weights = [letters_in(self._text[at:to]) + 1 for at, to in ending]
        total, before = sum(weights), 0
        for (at, to), weight in zip(ending, weights, strict=True):
            start = self._begun + length * before // total
            before += weight
            self._done.append((at, to, self._text[at:to], start, self._begun + length * before // total))
        self._ended = index
