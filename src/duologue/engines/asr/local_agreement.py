"""LocalAgreement: which words of a growing utterance are stable while its end still changes.

Used by `incremental`, which transcribes the same utterance again and again, each time a little longer. Words that two
transcripts in a row begin with are stable and never change again; the rest is shown, and may change. The policy is
LocalAgreement-2 of Macháček et al., "Turning Whisper into Real-Time Transcription System". Pure: text in, text out.
"""

from __future__ import annotations

from collections.abc import Sequence

from duologue.text.speech.word_spans import words_in
from duologue.values.transcripts import following

_NEAR = 4
"""Words by which a transcript may be longer or shorter than the stable ones, and still continue them."""
_SURE = 3
"""Words at the end of the stable ones that are searched in a transcript that begins differently."""


class LocalAgreement:
    """The transcripts of one utterance. `stable` only ever grows."""

    def __init__(self) -> None:
        self.stable = ""
        self._words: list[str] = []
        self._tail: list[str] = []

    def add(self, text: str) -> str:
        """Take one more transcript; the words so far: the stable ones, and what this transcript has after them."""
        pieces = split_words(text)
        words = [_normalise(piece) for piece in pieces]
        place = _continuation(self._words, words)
        tail = pieces[place:]
        common = _common([_normalise(piece) for piece in self._tail], words[place:])
        self._extend(tail[:common])
        self._tail = tail[common:]
        return self.stable + following(self.stable, "".join(self._tail))

    def _extend(self, pieces: Sequence[str]) -> None:
        if pieces:
            self.stable += following(self.stable, "".join(pieces))
            self._words += [_normalise(piece) for piece in pieces]


def split_words(text: str) -> list[str]:
    """The words of a text, each with the space and punctuation behind it; together they are the text."""
    text = text.strip()
    starts = [at for at, _ in words_in(text)]
    if not starts:
        return []
    starts[0] = 0
    return [text[at:to] for at, to in zip(starts, [*starts[1:], len(text)], strict=True)]


def _normalise(piece: str) -> str:
    """A word for comparison: one transcript ends it with a comma, the next one may not."""
    return "".join(filter(str.isalnum, piece)).casefold()


def _continuation(stable: Sequence[str], words: Sequence[str]) -> int:
    """The index in `words` at which what follows the stable words begins."""
    length = len(stable)
    if list(words[:length]) == list(stable):
        return length
    # The transcript begins differently: align it by the last stable words, near where they should be.
    for count in range(min(_SURE, length), 0, -1):
        last = list(stable[-count:])
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
