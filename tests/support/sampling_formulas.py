"""What each published sampler does to a distribution, for tests that compare an engine with it.

Every function takes the natural logarithms of all tokens' probabilities, by token id, and returns the probabilities that
the next token is drawn from. Written from the papers and from the definitions in llama.cpp's documentation.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

MIROSTAT_RANKS = 100
"""The likeliest tokens from which Mirostat 1 estimates how steeply probabilities fall."""


def normalised(logits: Floats) -> Floats:
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def only(logprobs: Floats, kept: NDArray[np.intp] | NDArray[np.bool_]) -> Floats:
    """The same distribution, without the tokens that are not among `kept` (ids or a mask)."""
    logits = np.full_like(logprobs, -np.inf)
    logits[kept] = logprobs[kept]
    return normalised(logits)


def _first_reaching(shares: Floats, least: float) -> int:
    """How many of `shares`, from the first, are needed for a sum of `least`."""
    return int(np.searchsorted(np.cumsum(shares), least)) + 1


def top_k(logprobs: Floats, k: int) -> Floats:
    return only(logprobs, np.argsort(-logprobs)[:k])


def top_p(logprobs: Floats, p: float) -> Floats:
    order = np.argsort(-logprobs)
    return only(logprobs, order[: _first_reaching(np.exp(logprobs[order]), p)])


def min_p(logprobs: Floats, p: float) -> Floats:
    return only(logprobs, logprobs >= logprobs.max() + np.log(p))


def typical_p(logprobs: Floats, p: float) -> Floats:
    """Tokens whose surprise is nearest to the expected one, until they make up `p` (Meister et al. 2022)."""
    order = np.argsort(np.abs(-logprobs - entropy(logprobs)))
    return only(logprobs, order[: _first_reaching(np.exp(logprobs[order]), p)])


def top_n_sigma(logprobs: Floats, n: float) -> Floats:
    """Tokens within `n` standard deviations of the highest logit (Tang et al. 2024)."""
    return only(logprobs, logprobs >= logprobs.max() - n * logprobs.std())


def temperature(logprobs: Floats, heat: float) -> Floats:
    return normalised(logprobs / heat)


def dynamic_temperature(logprobs: Floats, heat: float, spread: float, exponent: float) -> Floats:
    """From `heat - spread` where the model is certain, to `heat + spread` where it knows nothing."""
    doubt = entropy(logprobs) / np.log(len(logprobs))
    return temperature(logprobs, heat - spread + 2 * spread * doubt**exponent)


def exclude_top_choices(logprobs: Floats, threshold: float) -> Floats:
    """XTC, where it strikes: of the tokens with at least `threshold`, just the least likely stays."""
    above = logprobs >= np.log(threshold)
    above[np.where(above, logprobs, np.inf).argmin()] = False
    return only(logprobs, ~above)


def mirostat_1(logprobs: Floats, tau: float) -> Floats:
    """The first token of Mirostat 1 (Basu et al. 2021, algorithm 1): top-k by Zipf's exponent, estimated."""
    ranked = np.sort(logprobs)[::-1][:MIROSTAT_RANKS]
    ranks = np.arange(1, len(ranked))
    steps, falls = np.log((ranks + 1) / ranks), ranked[:-1] - ranked[1:]
    exponent = (steps * falls).sum() / (steps**2).sum()
    excess = exponent - 1
    k = (excess * 2 ** (2 * tau) / (1 - len(logprobs) ** -excess)) ** (1 / exponent)
    return top_k(logprobs, max(1, int(k)))


def mirostat_2(logprobs: Floats, tau: float) -> Floats:
    """The first token of Mirostat 2 (algorithm 2): none more surprising than twice `tau` bits."""
    return only(logprobs, -logprobs / np.log(2) <= 2 * tau)


def entropy(logprobs: Floats) -> float:
    """In nats."""
    return float(-(np.exp(logprobs) * logprobs).sum())
