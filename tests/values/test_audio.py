"""Samples of 16 bits and floats, there and back."""

import math
import wave
from array import array
from io import BytesIO

from hypothesis import given
from hypothesis import strategies as st

from duologue.values.audio import from_float32, is_finite, samples, to_float32, wav_header


@given(st.lists(st.integers(-32768, 32767)))
def test_every_sample_survives_the_way_there_and_back(values: list[int]):
    pcm = array("h", values).tobytes()
    assert from_float32(to_float32(pcm)) == pcm


def test_what_is_too_loud_is_cut_off_and_what_is_no_number_is_silence():
    floats = array("f", [2.0, -2.0, math.nan, math.inf, -math.inf, 0.0]).tobytes()
    assert array("h", from_float32(floats)).tolist() == [32767, -32768, 0, 32767, -32768, 0]


def test_a_broken_sample_at_the_end_does_not_count():
    assert samples(b"\0\0\0") == 1
    assert to_float32(b"\0\0\0") == b"\0\0\0\0"
    assert from_float32(b"\0\0\0\0\0") == b"\0\0"


def test_the_header_of_a_file_says_its_length_where_that_is_known():
    with wave.open(BytesIO(wav_header(24_000, 4) + b"abcd")) as file:
        assert (file.getframerate(), file.getnframes(), file.readframes(9)) == (24_000, 2, b"abcd")
    assert wav_header(24_000)[40:44] == b"\xff\xff\xff\xff"


def test_samples_that_are_no_numbers_are_found():
    assert is_finite(b"")
    assert is_finite(array("f", [0.5, -1.0, 3e38]).tobytes())
    for value in (float("nan"), float("inf"), float("-inf")):
        assert not is_finite(array("f", [0.5] * 100_000 + [value]).tobytes())
