"""What two hearings of a growing utterance agree on: the words that stand while the end still changes.

A recogniser that hears whole recordings is given the same utterance again and again, each time a little longer. A word that
two hearings in a row begin with is taken to stand and is never changed again; the rest is shown, and may be. Pure: text in,
text out.
"""

from __future__ import annotations

from collections.abc import Sequence

from duologue.text.speech.word_spans import words_in
from duologue.values.transcripts import following

_NEAR = 4
"""Words by which a hearing may be longer or shorter than what was agreed on, and still go on with it."""
_SURE = 3
"""Words at the end of what was agreed on that are looked for in a hearing that begins otherwise."""


class Agreement:
    """The hearings of one utterance. `agreed` only ever grows."""

    def __init__(self) -> None:
        self.agreed = ""
        self._words: list[str] = []
        self._tail: list[str] = []

    def hear(self, text: str) -> str:
        """The words so far, after one more hearing: those agreed on, and what this one has besides."""
        pieces = pieces_of(text)
        words = [_bare(piece) for piece in pieces]
        place = _continues(self._words, words)
        tail = pieces[place:]
        same = _common([_bare(piece) for piece in self._tail], words[place:])
        self._agree(tail[:same])
        self._tail = tail[same:]
        return self.agreed + following(self.agreed, "".join(self._tail))

    def _agree(self, pieces: Sequence[str]) -> None:
        if pieces:
            self.agreed += following(self.agreed, "".join(pieces))
            self._words += [_bare(piece) for piece in pieces]


def pieces_of(text: str) -> list[str]:
    """The words of a text, each with the space and signs behind it; together they are the text."""
    text = text.strip()
    starts = [at for at, _ in words_in(text)]
    if not starts:
        return []
    starts[0] = 0
    return [text[at:to] for at, to in zip(starts, [*starts[1:], len(text)], strict=True)]


def _bare(piece: str) -> str:
    """A word as it is compared: what one hearing ends with a comma, the next may not."""
    return "".join(filter(str.isalnum, piece)).casefold()


def _continues(agreed: Sequence[str], words: Sequence[str]) -> int:
    """Where in `words` what follows the agreed ones begins."""
    length = len(agreed)
    if list(words[:length]) == list(agreed):
        return length
    for count in range(min(_SURE, length), 0, -1):
        last = list(agreed[-count:])
        ends = [
            at
            for at in range(max(count, length - _NEAR), min(len(words), length + _NEAR) + 1)
            if list(words[at - count : at]) == last
        ]
        if ends:
            return min(ends, key=lambda at: abs(at - length))
    return min(length, len(words))


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count
