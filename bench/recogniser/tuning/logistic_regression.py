"""Fits the weights of the recogniser's confidence signs by logistic regression."""

from collections.abc import Sequence

import numpy as np

from duologue.engines.sphinx.confidence import ConfidenceModel

RIGHT = "right"
ROUNDS = 50
RIDGE = 1e-2
FALSE_ACCEPTS = 0.06
"""The share of each kind of wrong input that may be accepted."""


def fit(
    signs: Sequence[Sequence[float]], kinds: Sequence[str], false_accepts: float = FALSE_ACCEPTS
) -> ConfidenceModel:
    """Fits weights to `signs` (one row per example) for examples of these `kinds`. The bias is set so that of each kind
    but `RIGHT` at most the share `false_accepts` has a confidence above one half."""
    x, y = np.array(signs), np.array([kind == RIGHT for kind in kinds], float)
    middle, width = x.mean(0), x.std(0) + 1e-9
    features = np.concatenate([(x - middle) / width, np.ones((len(x), 1))], 1)
    # Right and wrong examples have the same total weight, however many there are of each.
    share = np.where(y > 0, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    weights = np.zeros(features.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-features @ weights))
        slope = features.T @ (share * (y - chance)) - RIDGE * weights
        bend = (features * (share * chance * (1 - chance))[:, None]).T @ features + RIDGE * np.eye(
            len(weights)
        )
        weights = weights + np.linalg.solve(bend, slope)
    plain = weights[:-1] / width
    wrong = [np.sort(x[[each == kind for each in kinds]] @ plain) for kind in {*kinds} - {RIGHT}]
    bias = -max(
        float(totals[min(len(totals) - 1, int(len(totals) * (1 - false_accepts)))]) for totals in wrong
    )
    return ConfidenceModel(tuple(round(float(value), 5) for value in plain), round(bias, 5))
