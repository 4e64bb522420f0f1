"""Cuts a prompt's text into pieces that can be tokenized one by one, with the same tokens as the whole.

`tokenizer` uses it. The library looks for every control token in every piece of text between two others, as far as the
end of all text, so the time grows with the square of their number: 24,000 markers in 290 KB took 9.5 s, and 0.3 s without
them. A text is cut only beside a control marker, where the tokenizer begins anew anyway. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

PIECE = 16 * 1024
"""Characters of a piece at least, where there are markers to cut at."""
MOST_MARKERS = 500
"""What may be markers in a template: each is tried with the model, which takes a millisecond. Templates have some twenty."""
_MARKER = re.compile(r"<\|[^<>|\s]{1,40}\|>|</?[A-Za-z_]{2,40}>|\[/?[A-Z_]{2,40}\]")


def possible_markers(template: str, known: Iterable[str]) -> tuple[str, ...]:
    """What may be control markers of a model: `known` ones, and what its template writes that looks like one. Only those
    that are one token each are. Longest first."""
    in_template = dict.fromkeys(match[0] for match in islice(_MARKER.finditer(template), 100 * MOST_MARKERS))
    found = {*islice(in_template, MOST_MARKERS), *known} - {""}
    return tuple(sorted(found, key=lambda marker: (-len(marker), marker)))


def cutter(markers: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern that finds the markers; None where there are none."""
    words = [re.escape(marker) for marker in markers]
    return re.compile("|".join(words)) if words else None


def pieces(text: str, markers: re.Pattern[str] | None, size: int = PIECE) -> Iterator[str]:
    """The text in pieces of `size` characters or more, each of which ends behind a marker; the last as it comes.

    No cut is made where white space follows: some tokens take the space behind them along.
    """
    start = 0
    while markers is not None and len(text) - start > size:
        end = _cut(text, markers, start + size)
        if end is None:
            break
        yield text[start:end]
        start = end
    yield text[start:]


def _cut(text: str, markers: re.Pattern[str], at: int) -> int | None:
    """Where to cut: behind the first good marker that begins at `at` or later."""
    for match in markers.finditer(text, at):
        end = match.end()
        if end < len(text) and not text[end].isspace():
            return end
    return None
