"""The confidence of the embedded recogniser in its words.

Called by `decoder` at the end of an utterance. The decoder always finds some words of its vocabulary that come closest; a
logistic regression over scores of the language and acoustic models tells whether they were really spoken. Its weights are
in `hearing.json`, made by `bench/recogniser/tuning`. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

LEAST_POSTERIOR = 1e-4
"""Smaller posteriors count as this one."""


class DecodedWord(Struct, frozen=True):
    """A word of the decoder: `start` and `end` in frames of 10 ms, the last included; `posterior` is its probability,
    `acoustic` and `language` are the log scores of the acoustic and the language model, as the decoder scales them."""

    text: str
    start: int
    end: int
    posterior: float
    acoustic: float
    language: float


class ConfidenceModel(Struct, frozen=True):
    """The weights of the features, in the order of `features`, and the bias."""

    weights: tuple[float, ...]
    bias: float

    def confidence(self, words: Sequence[DecodedWord], ending: float, whole: float) -> float:
        """The probability, from 0 to 1, that these words were spoken. `ending` is the language score of the end of the
        sentence, `whole` the posterior of all words together."""
        if not words:
            return 0.0
        values = features(words, ending, whole)
        total = self.bias + sum(weight * value for weight, value in zip(self.weights, values, strict=True))
        return 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, total))))


def features(words: Sequence[DecodedWord], ending: float, whole: float) -> tuple[float, ...]:
    """The inputs of the confidence model: the language score a word, the mean log posterior, the least posterior, the
    acoustic score a frame, the log posterior of all words, and the inverse of their number (a cough is one short word)."""
    posteriors = [math.log(max(LEAST_POSTERIOR, min(1.0, word.posterior))) for word in words]
    frames = sum(word.end - word.start + 1 for word in words)
    return (
        1000 * (sum(word.language for word in words) + ending) / (len(words) + 1),
        sum(posteriors) / len(words),
        math.exp(min(posteriors)),
        sum(word.acoustic for word in words) / frames,
        math.log(max(1e-9, whole)) / len(words),
        1.0 / len(words),
    )


def read(file: Path) -> ConfidenceModel:
    """The judgement in this file."""
    return msgspec.json.decode(file.read_bytes(), type=ConfidenceModel)
