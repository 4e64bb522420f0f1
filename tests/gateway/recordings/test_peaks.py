"""The waveform: the loudest of every 50 ms, in as many bins as a screen has room for."""

from hypothesis import given
from hypothesis import strategies as st

from duologue.gateway.recordings.peaks import PeakMeter, duration_ms, reduced


def level(value: int, milliseconds: int, rate: int) -> bytes:
    return value.to_bytes(2, "little", signed=True) * (milliseconds * rate // 1000)


def test_each_side_has_its_loudest_sample():
    meter = PeakMeter()
    pairs = meter.feed(level(-32768, 50, 16_000) + level(0, 50, 16_000), level(128, 100, 24_000))
    assert list(pairs) == [255, 1, 0, 1]
    assert meter.finish() == b""


def test_what_is_shorter_than_a_bin_counts_at_the_end():
    meter = PeakMeter()
    assert meter.feed(level(12_800, 20, 16_000), level(0, 20, 24_000)) == b""
    assert list(meter.finish()) == [100, 0]


def test_its_length_says_how_long_the_recording_is():
    assert duration_ms(bytes(2 * 21)) == 1050


def test_a_screen_gets_the_loudest_of_what_it_cannot_show():
    assert reduced(bytes([1, 10, 5, 20, 2, 30, 3, 0]), 2) == ([5, 3], [20, 30])
    assert reduced(bytes([1, 10]), 800) == ([1], [10])
    assert reduced(b"", 10) == ([], [])


@given(st.binary(max_size=400), st.integers(1, 50))
def test_no_peak_is_lost(pairs: bytes, most: int):
    pairs = pairs[: len(pairs) // 2 * 2]
    caller, reply = reduced(pairs, most)
    assert len(caller) == len(reply) <= max(most, 0)
    assert max(caller, default=0) == max(pairs[0::2], default=0)
    assert max(reply, default=0) == max(pairs[1::2], default=0)
