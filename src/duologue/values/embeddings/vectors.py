"""What is asked of models that turn texts into vectors, or score documents for a query; and the vectors themselves.

A vector is an array of 32-bit floats; between processes and in base64 it is their bytes, the lowest first.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterable

from msgspec import Struct

FLOAT = 4
"""Bytes of one number of a vector."""


class EmbeddingRequest(Struct, frozen=True, tag="embedding"):
    """A vector for each of `inputs`, which are texts or the model's own tokens. `dimensions`: only so many numbers of each, scaled to
    length 1 again; None: all. `upstream_model`: as of a `ChatRequest`."""

    inputs: tuple[str | tuple[int, ...], ...]
    model: str = ""
    upstream_model: str = ""
    dimensions: int | None = None


class RerankRequest(Struct, frozen=True, tag="rerank"):
    """A score for each of `documents`: how well it answers `query`. `upstream_model`: as of a `ChatRequest`."""

    query: str
    documents: tuple[str, ...]
    model: str = ""
    upstream_model: str = ""


def packed(numbers: Iterable[float]) -> bytes:
    """Numbers as bytes."""
    vector = array("f", numbers)
    if sys.byteorder == "big":
        vector.byteswap()
    return vector.tobytes()


def unpacked(data: bytes) -> array[float]:
    """The numbers of these bytes. Raises ValueError for half a number."""
    vector = array("f")
    vector.frombytes(data)
    if sys.byteorder == "big":
        vector.byteswap()
    return vector


def shortened_vector(vector: array[float], dimensions: int | None) -> array[float]:
    """The first `dimensions` numbers, scaled to length 1; the vector itself where that is all of them."""
    if dimensions is None or dimensions >= len(vector):
        return vector
    kept = vector[:dimensions]
    length = math.sqrt(math.fsum(number * number for number in kept))
    return array("f", (number / length for number in kept)) if length else kept
