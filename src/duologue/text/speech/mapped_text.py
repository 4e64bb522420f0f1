"""Text that is rewritten step by step and remembers, for each character, what of the original it says.

Owns the way back from spoken to written text. Knows nothing about how anything is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

Kept = int
"""The number of a group of a match, whose characters stay as they are."""
Made = str | Sequence[str | Kept]
"""What a match becomes: new text, or new text and kept groups in order. New text says what lies between the groups kept
before and after it."""


class Span(Struct, frozen=True):
    """`start`..`end` of the spoken text says `at`..`to` of the written text: character by character, or as a `whole` that cannot
    be cut ("3.50")."""

    start: int
    end: int
    at: int
    to: int
    whole: bool = False


class Mapped:
    """The `text` as it is by now. Every rewriting is linear in it."""

    def __init__(self, written: str) -> None:
        self.text = self._written = written
        self._said: list[tuple[int, int, int]] = [(at, at + 1, 0) for at in range(len(written))]
        """Of each character, from where to where it says the original, and the rewriting it came from: 0 where it is still
        the original's own."""
        self._rewritten = 0

    def rewrite(self, pattern: re.Pattern[str], made: Callable[[re.Match[str]], Made | None] | Made) -> None:
        """Replace each match of `pattern`; None leaves it as it is."""
        text: list[str] = []
        said: list[tuple[int, int, int]] = []
        done = 0
        for match in pattern.finditer(self.text):
            become = made(match) if callable(made) else made
            if become is None or match.end() == match.start():
                continue
            text.append(self.text[done : match.start()])
            said += self._said[done : match.start()]
            for item, begin, end in _placed(match, become):
                if isinstance(item, int):
                    text.append(self.text[begin:end])
                    said += self._said[begin:end]
                else:
                    text.append(item)
                    said += [self._together(begin, end)] * len(item)
            done = match.end()
        if done:
            self.text = "".join([*text, self.text[done:]])
            self._said = [*said, *self._said[done:]]

    def rewrite_range(self, begin: int, end: int, made: str) -> None:
        """Replace what stands from `begin` to `end`."""
        self._said[begin:end] = [self._together(begin, end)] * len(made)
        self.text = self.text[:begin] + made + self.text[end:]

    def _together(self, begin: int, end: int) -> tuple[int, int, int]:
        """What the characters from `begin` to `end` say together, as a new rewriting."""
        self._rewritten += 1
        if end > begin:
            return self._said[begin][0], self._said[end - 1][1], self._rewritten
        at = self._said[begin][0] if begin < len(self._said) else self._said[-1][1]
        return at, at, self._rewritten

    def spans(self) -> tuple[Span, ...]:
        """What each stretch of the text says, in order; space and what was only put in belong to none."""
        found: list[Span] = []
        begin = 0
        for end in range(1, len(self.text) + 1):
            if end < len(self.text):
                before, here = self._said[end - 1], self._said[end]
                if before[2] == here[2] and (here[2] or before[1] == here[0]):
                    continue
            at, to, whole = self._said[begin][0], self._said[end - 1][1], bool(self._said[begin][2])
            start, stop = begin, end
            if whole:
                start, stop = _trimmed(self.text, begin, end, str.isalnum)
                at, to = _trimmed(self._written, at, to, _dark)
            if to > at and self.text[begin:end].strip():
                if found and at < found[-1].to:
                    # A later rewriting took only a part of an earlier one: together they say what both say.
                    torn = found.pop()
                    start, at, to, whole = torn.start, torn.at, max(to, torn.to), True
                found.append(Span(start, stop, at, to, whole))
            begin = end
        return tuple(found)


def _placed(match: re.Match[str], become: Made) -> list[tuple[str | Kept, int, int]]:
    """The items of a replacement, each with the range of the text before that it stands for."""
    items: Sequence[str | Kept] = (become,) if isinstance(become, str) else become
    items = [item for item in items if not isinstance(item, int) or match.start(item) >= 0]
    placed: list[tuple[str | Kept, int, int]] = []
    edge = match.start()
    for index, item in enumerate(items):
        if isinstance(item, int):
            placed.append((item, *match.span(item)))
            edge = match.end(item)
        elif item:
            rest = (match.start(each) for each in items[index + 1 :] if isinstance(each, int))
            placed.append((item, edge, next(rest, match.end())))
    return placed


def _trimmed(text: str, begin: int, end: int, counts: Callable[[str], bool]) -> tuple[int, int]:
    """The range without what does not count at both ends; as it is, where nothing does."""
    if not any(map(counts, text[begin:end])):
        return begin, end
    while not counts(text[begin]):
        begin += 1
    while not counts(text[end - 1]):
        end -= 1
    return begin, end


def _dark(letter: str) -> bool:
    return not letter.isspace()
