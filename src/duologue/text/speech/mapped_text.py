"""Text that is rewritten step by step and records which part of the original each character stands for.

The mapping from spoken back to written text lets a reply be cut at the last word heard. Used by the rules of this package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

GroupNumber = int
"""The number of a match group that is copied unchanged."""
Replacement = str | Sequence[str | GroupNumber]
"""The replacement of a match: new text, or a sequence of new text and group numbers. New text stands for whatever lies
between the neighbouring groups."""


class Span(Struct, frozen=True):
    """`start`..`end` of the spoken text stands for `at`..`to` of the written text: character by character, or as a `whole` that
    cannot be divided ("3.50")."""

    start: int
    end: int
    at: int
    to: int
    whole: bool = False


class MappedText:
    """A `text` under rewriting. Every rewrite is linear in its length."""

    def __init__(self, written: str) -> None:
        self.text = self._written = written
        self._origins: list[tuple[int, int, int]] = [(at, at + 1, 0) for at in range(len(written))]
        """Per character: start and end in the original, and the number of the rewrite that produced it; 0 for an original
        character."""
        self._rewritten = 0

    def rewrite(
        self, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], Replacement | None] | Replacement
    ) -> None:
        """Replace each match of `pattern`; a replacement of None leaves the match unchanged."""
        text: list[str] = []
        origins: list[tuple[int, int, int]] = []
        done = 0
        for match in pattern.finditer(self.text):
            replacement = replace(match) if callable(replace) else replace
            if replacement is None or match.end() == match.start():
                continue
            text.append(self.text[done : match.start()])
            origins += self._origins[done : match.start()]
            for item, begin, end in _items_with_ranges(match, replacement):
                if isinstance(item, int):
                    text.append(self.text[begin:end])
                    origins += self._origins[begin:end]
                else:
                    text.append(item)
                    origins += [self._merged_origin(begin, end)] * len(item)
            done = match.end()
        if done:
            self.text = "".join([*text, self.text[done:]])
            self._origins = [*origins, *self._origins[done:]]

    def rewrite_range(self, begin: int, end: int, replace: str) -> None:
        """Replace the characters from `begin` to `end`."""
        self._origins[begin:end] = [self._merged_origin(begin, end)] * len(replace)
        self.text = self.text[:begin] + replace + self.text[end:]

    def _merged_origin(self, begin: int, end: int) -> tuple[int, int, int]:
        """The origin of `begin`..`end` as one unit, numbered as a new rewrite."""
        self._rewritten += 1
        if end > begin:
            return self._origins[begin][0], self._origins[end - 1][1], self._rewritten
        at = self._origins[begin][0] if begin < len(self._origins) else self._origins[-1][1]
        return at, at, self._rewritten

    def spans(self) -> tuple[Span, ...]:
        """The mapping, in order. Whitespace and inserted text belong to no span."""
        spans: list[Span] = []
        begin = 0
        for end in range(1, len(self.text) + 1):
            if end < len(self.text):
                before, here = self._origins[end - 1], self._origins[end]
                if before[2] == here[2] and (here[2] or before[1] == here[0]):
                    continue
            at, to, whole = self._origins[begin][0], self._origins[end - 1][1], bool(self._origins[begin][2])
            start, stop = begin, end
            if whole:
                start, stop = _trim(self.text, begin, end, str.isalnum)
                at, to = _trim(self._written, at, to, _is_visible)
            if to > at and self.text[begin:end].strip():
                if spans and at < spans[-1].to:
                    # A later rewrite replaced only part of an earlier one, so the two cannot be told apart: merge them.
                    torn = spans.pop()
                    start, at, to, whole = torn.start, torn.at, max(to, torn.to), True
                spans.append(Span(start, stop, at, to, whole))
            begin = end
        return tuple(spans)


def _items_with_ranges(
    match: re.Match[str], replacement: Replacement
) -> list[tuple[str | GroupNumber, int, int]]:
    """The items of a replacement, each with the range of the previous text it stands for."""
    items: Sequence[str | GroupNumber] = (replacement,) if isinstance(replacement, str) else replacement
    items = [item for item in items if not isinstance(item, int) or match.start(item) >= 0]
    placed: list[tuple[str | GroupNumber, int, int]] = []
    edge = match.start()
    for index, item in enumerate(items):
        if isinstance(item, int):
            placed.append((item, *match.span(item)))
            edge = match.end(item)
        elif item:
            rest = (match.start(each) for each in items[index + 1 :] if isinstance(each, int))
            placed.append((item, edge, next(rest, match.end())))
    return placed


def _trim(text: str, begin: int, end: int, counts: Callable[[str], bool]) -> tuple[int, int]:
    """The range trimmed at both ends to characters that count; unchanged if none do."""
    if not any(map(counts, text[begin:end])):
        return begin, end
    while not counts(text[begin]):
        begin += 1
    while not counts(text[end - 1]):
        end -= 1
    return begin, end


def _is_visible(letter: str) -> bool:
    return not letter.isspace()
