"""A long clause in parts that a speech model synthesises one after the other, so that the first sounds soon and a cancel
takes effect soon.

Called by the speakers. Owns where a clause is cut (after punctuation, else between words), and the error for one that is
too long. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from duologue.errors import TooLarge

LONGEST = 240
"""Characters of a part: about a quarter of a minute of speech, and far less than the models take at once."""
_MARK = re.compile(r"[.!?…;:,。！？；：，、][\"'”’»)\]]*\s*")
_SPACE = re.compile(r"\s+")
_END = re.compile(r"[.!?…;。！？；][\"'”’»)\]]*(?:\s+|(?<=[。！？；]))")
"""The end of a sentence: a mark and a space, or a mark that needs none."""


def check_length(clause: str, longest: int) -> None:
    """Raises TooLarge for a clause of more than `longest` characters."""
    if len(clause) > longest:
        raise TooLarge(f"A clause to be spoken has at most {longest:,} characters, this one {len(clause):,}.")


def parts_of(clause: str, longest: int = LONGEST) -> Iterator[tuple[int, int]]:
    """The ranges of the parts, in order; together they are the clause. Parts without a letter or digit are left out."""
    at = 0
    while at < len(clause):
        to = len(clause) if len(clause) - at <= longest else _cut(clause, at, at + longest)
        if any(map(str.isalnum, clause[at:to])):
            yield at, to
        at = to


def _cut(clause: str, at: int, limit: int) -> int:
    """The last good place before `limit` that leaves a part of some length."""
    for pattern in (_MARK, _SPACE):
        ends = [match.end() for match in pattern.finditer(clause, at, limit)]
        if ends and ends[-1] - at > (limit - at) // 4:
            return ends[-1]
    return limit


def sentences_of(clause: str, longest: int = LONGEST) -> Iterator[tuple[int, int]]:
    """As `parts_of`, with a part for each sentence."""
    for at, to in parts_of(clause, longest):
        begin = at
        for match in _END.finditer(clause, at, to):
            if any(map(str.isalnum, clause[begin : match.end()])) and any(
                map(str.isalnum, clause[match.end() : to])
            ):
                yield begin, match.end()
                begin = match.end()
        yield begin, to
