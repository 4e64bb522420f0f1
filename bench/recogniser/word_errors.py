"""How many words of a transcript are wrong. Used by `bench_recogniser.py` and the tuning."""

from __future__ import annotations

from collections.abc import Sequence

HESITATIONS = {"uh", "um"}


def words(text: str) -> list[str]:
    """Lower case, without punctuation and hesitations; "okay" is "ok"."""
    plain = "".join(letter if letter.isalnum() or letter in "' " else " " for letter in text.lower())
    return ["ok" if word == "okay" else word for word in plain.split() if word not in HESITATIONS]


def errors(said: Sequence[str], wrote: Sequence[str]) -> int:
    """How many words have to be changed, put in or taken out."""
    row = list(range(len(wrote) + 1))
    for at, word in enumerate(said, 1):
        before, row[0] = row[0], at
        for to, other in enumerate(wrote, 1):
            before, row[to] = row[to], min(row[to] + 1, row[to - 1] + 1, before + (word != other))
    return row[-1]
