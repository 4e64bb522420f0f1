"""Adapts the Gaussians of an acoustic model to the voices in a set of aligned frames.

First maximum-likelihood linear regression (MLLR, Leggetter and Woodland 1995) moves all Gaussians together, then maximum a
posteriori estimation (MAP, Gauvain and Lee 1994) moves each one by the frames it accounts for. Mixture weights and
transition probabilities are not changed.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recogniser.tuning.alignment import COEFFICIENTS, AlignedSentence
from recogniser.tuning.codebooks import LEAST_VARIANCE, Array, Codebooks

SILENCE = "SIL"
TRUST = 8.0
"""The weight of the prior in the MAP step, in frames."""
LINEAR_ROUNDS, ROUNDS = 3, 4
SMALLEST = 1e-3


@dataclass(frozen=True)
class Frames:
    """Features by frame, stream and coefficient, with the state and the phone index of each frame."""

    features: Array
    states: NDArray[np.int64]
    phones: NDArray[np.int64]

    def of(self, phone: int) -> NDArray[np.int64]:
        return np.flatnonzero(self.phones == phone)


def frames(sentences: list[AlignedSentence], mean: Array, phones: list[str]) -> Frames:
    """Features as the decoder computes them: cepstra minus `mean`, and their first and second differences."""
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


def adapt(model: Codebooks, data: Frames) -> Codebooks:
    """The model adapted to the voices in these frames."""
    current = model
    for _ in range(LINEAR_ROUNDS):
        current = _mllr_step(model, current, data)
    prior = current
    for _ in range(ROUNDS):
        current = _map_step(prior, current, data)
    return current


def _posteriors(model: Codebooks, data: Frames, stream: int, phone: int) -> tuple[Array, Array]:
    """The frames of a phone, and for each frame the posterior of every Gaussian in the phone's codebook."""
    at = data.of(phone)
    x, mean, inverse = (
        data.features[at, stream],
        model.means[stream][phone],
        1 / model.variances[stream][phone],
    )
    logs = -0.5 * ((x**2) @ inverse.T - 2 * x @ (mean * inverse).T + (mean**2 * inverse).sum(1))
    logs += 0.5 * np.log(inverse).sum(1) + np.log(model.weights[stream][:, data.states[at]].T + 1e-30)
    shares = np.exp(logs - logs.max(1, keepdims=True))
    return x, shares / shares.sum(1, keepdims=True)


def _mllr_step(model: Codebooks, current: Codebooks, data: Frames) -> Codebooks:
    """One matrix per stream for all means, one factor per coefficient for all variances. Silence is left out: it says
    nothing about a voice."""
    means, variances = [], []
    for stream in range(len(model.means)):
        left = np.zeros((COEFFICIENTS, COEFFICIENTS + 1, COEFFICIENTS + 1))
        right = np.zeros((COEFFICIENTS, COEFFICIENTS + 1))
        spread, count = np.zeros(COEFFICIENTS), 0.0
        for phone, name in enumerate(model.phones):
            if name == SILENCE or not len(data.of(phone)):
                continue
            x, shares = _posteriors(current, data, stream, phone)
            occupancy, sums, squares = shares.sum(0), shares.T @ x, shares.T @ x**2
            whole = model.means[stream][phone]
            extended_means = np.concatenate([whole, np.ones((len(whole), 1))], 1)
            for row in range(COEFFICIENTS):
                variance = current.variances[stream][phone][:, row]
                left[row] += (extended_means * (occupancy / variance)[:, None]).T @ extended_means
                right[row] += (sums[:, row] / variance) @ extended_means
            mean = current.means[stream][phone]
            off = squares - 2 * mean * sums + occupancy[:, None] * mean**2
            spread += (off / model.variances[stream][phone]).sum(0)
            count += occupancy.sum()
        step = np.stack([np.linalg.solve(left[row], right[row]) for row in range(COEFFICIENTS)])
        means.append(model.means[stream] @ step[:, :-1].T + step[:, -1])
        variances.append(np.maximum(model.variances[stream] * spread / count, LEAST_VARIANCE))
    return replace(model, means=means, variances=variances)


def _map_step(prior: Codebooks, current: Codebooks, data: Frames) -> Codebooks:
    """Each Gaussian between its prior and the frames it accounts for."""
    means = [stream.copy() for stream in current.means]
    variances = [stream.copy() for stream in current.variances]
    for stream in range(len(means)):
        for phone in range(len(current.phones)):
            if not len(data.of(phone)):
                continue
            x, shares = _posteriors(current, data, stream, phone)
            occupancy, sums, squares = shares.sum(0)[:, None], shares.T @ x, shares.T @ x**2
            old, wide = prior.means[stream][phone], prior.variances[stream][phone]
            mean = (TRUST * old + sums) / (TRUST + occupancy)
            off = squares - 2 * mean * sums + occupancy * mean**2
            means[stream][phone] = mean
            variances[stream][phone] = np.maximum(
                (TRUST * (wide + (old - mean) ** 2) + off) / (TRUST + occupancy), SMALLEST
            )
    return replace(current, means=means, variances=variances)


def to_half_precision(model: Codebooks) -> bytes:
    """Means, then variances, as little-endian 16-bit floats in the order of the model's files."""
    return b"".join(
        np.stack(streams, 1).astype("<f2").tobytes() for streams in (model.means, model.variances)
    )
