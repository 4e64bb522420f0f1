from __future__ import annotations

import math
from array import array

import msgspec
import pytest

from duologue.values.embeddings.vectors import (
    EmbeddingRequest,
    RerankRequest,
    packed,
    shortened_vector,
    unpacked,
)
from duologue.values.requests import ChatRequest


def test_bytes_have_the_lowest_first_and_come_back_as_they_were() -> None:
    assert packed([1.0]) == b"\x00\x00\x80\x3f"
    assert list(unpacked(packed([0.5, -2.0]))) == [0.5, -2.0]


def test_half_a_number_is_an_error() -> None:
    with pytest.raises(ValueError, match="not a multiple"):
        unpacked(b"\x00\x00\x80")


def test_a_shortened_vector_has_the_length_one() -> None:
    vector = shortened_vector(array("f", [3.0, 4.0, 12.0]), 2)
    assert list(vector) == pytest.approx([0.6, 0.8])
    assert math.hypot(*vector) == pytest.approx(1)


@pytest.mark.parametrize("dimensions", [None, 3, 5])
def test_a_vector_that_is_short_enough_stays(dimensions: int | None) -> None:
    vector = array("f", [3.0, 4.0, 12.0])
    assert shortened_vector(vector, dimensions) is vector


def test_zeros_stay_zeros() -> None:
    assert list(shortened_vector(array("f", [0.0, 0.0, 1.0]), 2)) == [0.0, 0.0]


def test_the_kinds_of_work_are_told_apart_on_the_way_to_a_worker() -> None:
    for request in (EmbeddingRequest(("a", (1, 2)), "m"), RerankRequest("q", ("a",)), ChatRequest(())):
        data = msgspec.msgpack.encode(request)
        assert msgspec.msgpack.decode(data, type=ChatRequest | EmbeddingRequest | RerankRequest) == request
