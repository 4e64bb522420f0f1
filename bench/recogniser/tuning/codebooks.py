"""Reads Sphinx acoustic models of type "ptm": one codebook of Gaussians per phone, mixture weights per state."""

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MAGIC = 0x11223344
FIRST_PHONE = b"+NSN+\0"
"""The first of the phones, which the model definition lists in alphabetical order."""
LEAST_VARIANCE = 1e-4
LOG_BASE, SHIFT = 1.0001, 10
"""Weights are stored as -log to this base, shifted right by SHIFT bits."""
END_OF_HEADER = b"endhdr\n"


@dataclass(frozen=True)
class Codebooks:
    """`means[stream]` and `variances[stream]` by phone, Gaussian, coefficient; `weights[stream]` by Gaussian and state."""

    phones: list[str]
    means: list[Array]
    variances: list[Array]
    weights: list[Array]


def read(folder: Path) -> Codebooks:
    """The model in this folder."""
    means, variances = _gaussians(folder / "means"), _gaussians(folder / "variances")
    phones, gaussians = means[0].shape[:2]
    return Codebooks(
        _phones(folder / "mdef", phones),
        means,
        [np.maximum(stream, LEAST_VARIANCE) for stream in variances],
        _weights(folder / "sendump", len(means), gaussians),
    )


def _gaussians(file: Path) -> list[Array]:
    data = file.read_bytes()
    at = data.index(END_OF_HEADER) + len(END_OF_HEADER)
    magic, phones, streams, gaussians = struct.unpack_from("<4i", data, at)
    assert magic == MAGIC, f"{file} has another byte order"
    lengths = struct.unpack_from(f"<{streams}i", data, at + 16)
    values = np.frombuffer(data, "<f4", phones * gaussians * sum(lengths), at + 16 + 4 * streams + 4)
    assert len(set(lengths)) == 1
    cube = values.reshape(phones, streams, gaussians, lengths[0]).astype(np.float64)
    return [cube[:, stream] for stream in range(streams)]


def _weights(file: Path, streams: int, gaussians: int) -> list[Array]:
    data, at = file.read_bytes(), 0
    while length := struct.unpack_from("<i", data, at)[0]:
        at += 4 + length
    _, states = struct.unpack_from("<2i", data, at + 4)
    logs = np.frombuffer(data, np.uint8, streams * gaussians * states, at + 12)
    return list(LOG_BASE ** -(logs.astype(np.float64) * (1 << SHIFT)).reshape(streams, gaussians, states))


def _phones(file: Path, count: int) -> list[str]:
    data = file.read_bytes()
    return [name.decode() for name in data[data.index(FIRST_PHONE) :].split(b"\0", count)[:count]]
