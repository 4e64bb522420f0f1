"""Gaussians moved to where voices are: first all of them together by one linear step, then each by what it heard.

Maximum-likelihood linear regression (Leggetter and Woodland 1995), then maximum a posteriori (Gauvain and Lee 1994), both by
own code. Weights and states stay the model's. Knows codebooks and aligned frames, and no files.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recogniser.tuning.alignment import COEFFICIENTS, Aligned
from recogniser.tuning.codebooks import LEAST_VARIANCE, Array, Codebooks

SILENCE = "SIL"
TRUST = 8.0
"""How many frames what a Gaussian was before is worth."""
LINEAR_ROUNDS, ROUNDS = 3, 4
SMALLEST = 1e-3


@dataclass(frozen=True)
class Frames:
    """Features by frame, stream and coefficient; the state and the index of the phone of each frame."""

    features: Array
    states: NDArray[np.int64]
    phones: NDArray[np.int64]

    def of(self, phone: int) -> NDArray[np.int64]:
        return np.flatnonzero(self.phones == phone)


def frames(sentences: list[Aligned], mean: Array, phones: list[str]) -> Frames:
    """Features as the decoder makes them: cepstra less their expected mean, and how they change."""
    index = {name: number for number, name in enumerate(phones)}
    return Frames(
        np.concatenate([_features(each.cepstra - mean) for each in sentences]),
        np.concatenate([each.states for each in sentences]),
        np.array([index[name] for each in sentences for name in each.phones]),
    )


def _features(cepstra: Array) -> Array:
    around = np.concatenate([cepstra[:1]] * 3 + [cepstra] + [cepstra[-1:]] * 3)

    def later(by: int) -> Array:
        return around[3 + by : 3 + by + len(cepstra)]

    return np.stack([cepstra, later(2) - later(-2), later(3) - later(-1) - later(1) + later(-3)], 1)


def adapted(model: Codebooks, heard: Frames) -> Codebooks:
    """The model as it would be of the voices in these frames."""
    moved = model
    for _ in range(LINEAR_ROUNDS):
        moved = _linear(model, moved, heard)
    prior = moved
    for _ in range(ROUNDS):
        moved = _each(prior, moved, heard)
    return moved


def _shares(model: Codebooks, heard: Frames, stream: int, phone: int) -> tuple[Array, Array]:
    """The frames of a phone, and how much of each every Gaussian of the phone's codebook has."""
    at = heard.of(phone)
    x, mean, inverse = (
        heard.features[at, stream],
        model.means[stream][phone],
        1 / model.variances[stream][phone],
    )
    logs = -0.5 * ((x**2) @ inverse.T - 2 * x @ (mean * inverse).T + (mean**2 * inverse).sum(1))
    logs += 0.5 * np.log(inverse).sum(1) + np.log(model.weights[stream][:, heard.states[at]].T + 1e-30)
    shares = np.exp(logs - logs.max(1, keepdims=True))
    return x, shares / shares.sum(1, keepdims=True)


def _linear(model: Codebooks, moved: Codebooks, heard: Frames) -> Codebooks:
    """All means by one matrix for each stream, all variances by one factor for each coefficient; silence is no voice and
    does not count."""
    means, variances = [], []
    for stream in range(len(model.means)):
        left = np.zeros((COEFFICIENTS, COEFFICIENTS + 1, COEFFICIENTS + 1))
        right = np.zeros((COEFFICIENTS, COEFFICIENTS + 1))
        spread, count = np.zeros(COEFFICIENTS), 0.0
        for phone, name in enumerate(model.phones):
            if name == SILENCE or not len(heard.of(phone)):
                continue
            x, shares = _shares(moved, heard, stream, phone)
            occupied, sums, squares = shares.sum(0), shares.T @ x, shares.T @ x**2
            whole = model.means[stream][phone]
            extended = np.concatenate([whole, np.ones((len(whole), 1))], 1)
            for row in range(COEFFICIENTS):
                variance = moved.variances[stream][phone][:, row]
                left[row] += (extended * (occupied / variance)[:, None]).T @ extended
                right[row] += (sums[:, row] / variance) @ extended
            mean = moved.means[stream][phone]
            off = squares - 2 * mean * sums + occupied[:, None] * mean**2
            spread += (off / model.variances[stream][phone]).sum(0)
            count += occupied.sum()
        step = np.stack([np.linalg.solve(left[row], right[row]) for row in range(COEFFICIENTS)])
        means.append(model.means[stream] @ step[:, :-1].T + step[:, -1])
        variances.append(np.maximum(model.variances[stream] * spread / count, LEAST_VARIANCE))
    return replace(model, means=means, variances=variances)


def _each(prior: Codebooks, moved: Codebooks, heard: Frames) -> Codebooks:
    """Every Gaussian between where it was and what it heard."""
    means = [stream.copy() for stream in moved.means]
    variances = [stream.copy() for stream in moved.variances]
    for stream in range(len(means)):
        for phone in range(len(moved.phones)):
            if not len(heard.of(phone)):
                continue
            x, shares = _shares(moved, heard, stream, phone)
            occupied, sums, squares = shares.sum(0)[:, None], shares.T @ x, shares.T @ x**2
            old, wide = prior.means[stream][phone], prior.variances[stream][phone]
            mean = (TRUST * old + sums) / (TRUST + occupied)
            off = squares - 2 * mean * sums + occupied * mean**2
            means[stream][phone] = mean
            variances[stream][phone] = np.maximum(
                (TRUST * (wide + (old - mean) ** 2) + off) / (TRUST + occupied), SMALLEST
            )
    return replace(moved, means=means, variances=variances)


def halves(model: Codebooks) -> bytes:
    """Means, then variances, as 16-bit floats in the order of the model's files."""
    return b"".join(
        np.stack(streams, 1).astype("<f2").tobytes() for streams in (model.means, model.variances)
    )
