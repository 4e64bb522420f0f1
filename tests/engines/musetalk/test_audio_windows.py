"""MuseTalk's arithmetic of sound and frames, against the official one written down again."""

import math

from hypothesis import given
from hypothesis import strategies as st

from duologue.engines.musetalk.audio_windows import (
    LOOK_AHEAD,
    WINDOW,
    batches,
    first_step,
    frame_at,
    frames_of,
    sound_blocks,
    steps_of,
    window,
)
from duologue.values.audio import SPOKEN_RATE

RATES = st.integers(5, 60)
OFFICIAL = st.sampled_from([5, 10, 20, 25])


def official_window(frame: int, rate: int, steps: int) -> list[int | None]:
    """As in the official `audio2feature`: zeros before and behind the steps, and ten of them from a place of each frame."""
    each = 50 / rate
    before = math.ceil(each) * 2
    padded = [None] * before + list(range(steps)) + [None] * (math.ceil(each) * 3 * 2)
    begin = math.floor(frame * each)
    return padded[begin : begin + 10]


@given(OFFICIAL, st.floats(0.5, 20))
def test_the_windows_are_the_official_ones(rate, seconds):
    samples = int(seconds * SPOKEN_RATE)
    for frame in range(frames_of(samples, rate)):
        assert window(frame, rate, 0, steps_of(samples)) == official_window(frame, rate, steps_of(samples))


def test_a_frame_at_25_frames_a_second_sees_its_two_steps_and_four_on_each_side():
    assert window(10, 25, 0, 1000) == list(range(16, 26))
    assert window(0, 25, 0, 1000) == [None] * 4 + list(range(6))
    assert window(24, 25, 0, 50) == [44, 45, 46, 47, 48, 49, None, None, None, None]


@given(RATES, st.integers(0, 100_000))
def test_a_rate_that_does_not_divide_the_steps_does_not_drift(rate, frame):
    begin = first_step(frame, rate) + 2 * math.ceil(50 / rate)
    assert 0 <= frame * 50 / rate - begin < 1


@given(RATES, st.integers(0, 10**7))
def test_frames_are_those_that_end_within_the_sound(rate, samples):
    frames = frames_of(samples, rate)
    assert frames * SPOKEN_RATE <= samples * rate < (frames + 1) * SPOKEN_RATE


@given(RATES, st.integers(0, 5000))
def test_a_frame_is_found_at_its_own_sample(rate, frame):
    assert frame_at(round(frame * SPOKEN_RATE / rate), rate) == frame


@given(RATES, st.integers(0, 300), st.integers(0, 300))
def test_blocks_have_each_frame_once_and_the_sound_that_it_sees(rate, first, count):
    blocks = sound_blocks(first, count, rate)
    assert [n for block in blocks for n in range(block.first, block.first + block.count)] == list(
        range(first, first + count)
    )
    for block in blocks:
        assert block.step * SPOKEN_RATE == block.begin * 50
        for frame in (block.first, block.first + block.count - 1):
            begin = max(0, first_step(frame, rate)) * SPOKEN_RATE // 50
            end = (first_step(frame, rate) + WINDOW) * SPOKEN_RATE // 50
            # At a low rate a frame is longer than its window: the official arithmetic too leaves out its end.
            assert block.begin <= begin
            assert end <= block.end or rate > 50


@given(RATES, st.integers(0, 300), st.integers(1, 100), st.integers(1, 100))
def test_a_block_is_the_same_wherever_the_frames_were_cut(rate, first, one, other):
    whole = {
        n: (block.begin, block.end, block.step)
        for block in sound_blocks(first, one + other, rate)
        for n in range(block.first, block.first + block.count)
    }
    for start, count in ((first, one), (first + one, other)):
        for block in sound_blocks(start, count, rate):
            assert whole[block.first] == (block.begin, block.end, block.step)


def test_a_block_begins_with_the_sound_before_it_and_ends_with_two_frames_after_it():
    (block,) = sound_blocks(75, 25, 25)
    assert (block.begin, block.step) == (1 * SPOKEN_RATE, 50)
    assert block.end == 4 * SPOKEN_RATE + LOOK_AHEAD
    assert LOOK_AHEAD >= 2 * SPOKEN_RATE // 25
    assert sound_blocks(0, 1, 25)[0].begin == 0


@given(st.integers(0, 50), st.integers(0, 60), st.integers(1, 9))
def test_batches_have_every_frame_once_in_order(first, count, size):
    made = batches(first, count, size)
    assert [n for batch in made for n in batch] == list(range(first, first + count))
    assert all(0 < len(batch) <= size for batch in made)
