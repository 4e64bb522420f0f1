"""What tells an understood sentence from a guessed one: weights of the recogniser's own signs, by logistic regression.

Learned from `bench/recogniser/development.txt` in the taught voices, and from noises. Knows the signs by their numbers only.
"""

from collections.abc import Sequence

import numpy as np

from duologue.engines.sphinx.confidence import Judgement

RIGHT = "right"
ROUNDS = 50
RIDGE = 1e-2
MISTAKEN = 0.06
"""Which share of the sentences that nobody would say to it may be taken for understood."""


def judged(signs: Sequence[Sequence[float]], kinds: Sequence[str], mistaken: float = MISTAKEN) -> Judgement:
    """The weights. Of each kind but `RIGHT` at most `mistaken` come out above one half."""
    x, y = np.array(signs), np.array([kind == RIGHT for kind in kinds], float)
    middle, width = x.mean(0), x.std(0) + 1e-9
    scaled = np.concatenate([(x - middle) / width, np.ones((len(x), 1))], 1)
    # Both kinds count alike, however many there are of each.
    share = np.where(y > 0, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    weights = np.zeros(scaled.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (share * (y - chance)) - RIDGE * weights
        bend = (scaled * (share * chance * (1 - chance))[:, None]).T @ scaled + RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(bend, slope)
    plain = weights[:-1] / width
    wrong = [np.sort(x[[each == kind for each in kinds]] @ plain) for kind in {*kinds} - {RIGHT}]
    bias = -max(float(totals[min(len(totals) - 1, int(len(totals) * (1 - mistaken)))]) for totals in wrong)
    return Judgement(tuple(round(float(value), 5) for value in plain), round(bias, 5))
