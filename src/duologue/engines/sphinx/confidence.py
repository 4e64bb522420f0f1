"""Whether what a small recogniser wrote down can be what was said.

It always finds the words of its own that come closest. How well they follow each other, how well they fit the sound and how
sure it was of each are weighed by `hearing/judgement.json`, which `bench/recogniser/tuning` made. Pure; knows no decoder.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

UNLIKELY = 1e-4


class HeardWord(Struct, frozen=True):
    """A word as the decoder gives it: `start` and `end` in frames of 10 ms, the last included; `likely` how surely it is this
    word, `fits` the logarithm of how it fits the sound, `follows` of how it follows the words before, each as the decoder
    scales it."""

    text: str
    start: int
    end: int
    likely: float
    fits: float
    follows: float


class Judgement(Struct, frozen=True):
    """Weights of the signs, as `signs` orders them, and what is added to their sum."""

    weights: tuple[float, ...]
    bias: float

    def confidence(self, words: Sequence[HeardWord], ending: float, whole: float) -> float:
        """How surely these words were said, from 0 to 1; from 0.5 on it is worth standing for. `ending` is how the end of
        the sentence follows, `whole` how likely they are, all together."""
        if not words:
            return 0.0
        found = signs(words, ending, whole)
        total = self.bias + sum(weight * sign for weight, sign in zip(self.weights, found, strict=True))
        return 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, total))))


def signs(words: Sequence[HeardWord], ending: float, whole: float) -> tuple[float, ...]:
    """What a judgement weighs: per word how they follow each other, how sure each is, how sure the least; per frame how they
    fit; how sure they are together; and how few they are: a cough is a short word."""
    sure = [math.log(max(UNLIKELY, min(1.0, word.likely))) for word in words]
    frames = sum(word.end - word.start + 1 for word in words)
    return (
        1000 * (sum(word.follows for word in words) + ending) / (len(words) + 1),
        sum(sure) / len(words),
        math.exp(min(sure)),
        sum(word.fits for word in words) / frames,
        math.log(max(1e-9, whole)) / len(words),
        1.0 / len(words),
    )


def read(file: Path) -> Judgement:
    """The judgement in this file."""
    return msgspec.json.decode(file.read_bytes(), type=Judgement)
