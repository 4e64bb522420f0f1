"""The mouth of a spoken reply: the sounds of its words with their times, and the curve that a drawn mouth follows.

A speaker reports `Phone`s, `turns/mouth` makes `MouthKey`s of them, which travel beside the sound, and every face reads them with
`mouth_at`. Positions are samples at 24 kHz.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct

FULL = 100
"""A weight of one."""


class Phone(Struct, frozen=True):
    """One sound of speech from sample `start` up to `end`. `symbol`: its letters in the International Phonetic Alphabet, without
    stress; "" for silence."""

    symbol: str
    start: int
    end: int


class MouthKey(Struct, frozen=True, array_like=True):
    """The mouth at sample `at` of the reply. Weights of 0 to FULL; between two keys they change in a straight line, before the first
    and after the last key the mouth is at rest."""

    at: int
    open: int = 0
    """How far the jaw is open."""
    wide: int = 0
    """How far the corners are spread (+), or the lips rounded (-): -FULL to FULL."""
    press: int = 0
    """How far the lips are pressed together: p, b, m."""
    tuck: int = 0
    """How far the lower lip is under the upper teeth: f, v."""
    tongue: int = 0
    """How far the tip of the tongue shows: th, l, d, t, n."""


class Mouth(Struct, frozen=True):
    """A mouth at one moment: the weights of `MouthKey` as fractions."""

    open: float = 0.0
    wide: float = 0.0
    press: float = 0.0
    tuck: float = 0.0
    tongue: float = 0.0


REST = Mouth()


def mouth_at(keys: Sequence[MouthKey], at: float) -> Mouth:
    """The mouth at sample `at`, by keys in the order of their positions."""
    after = bisect_right(keys, at, key=lambda key: key.at)
    if after == 0 or (after == len(keys) and at > keys[-1].at):
        return REST
    low = keys[after - 1]
    high = keys[min(after, len(keys) - 1)]
    share = (at - low.at) / (high.at - low.at) if high.at > low.at else 0.0

    def weight(one: int, other: int) -> float:
        return (one + (other - one) * share) / FULL

    return Mouth(
        weight(low.open, high.open),
        weight(low.wide, high.wide),
        weight(low.press, high.press),
        weight(low.tuck, high.tuck),
        weight(low.tongue, high.tongue),
    )
