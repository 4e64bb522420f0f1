"""The caller's sound as units: of the lengths that a model takes, with the newest frame, and never far behind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.sessions.omni.units import BEHIND, TARGET, SoundUnit, UnitCutter, UnitQueue
from duologue.values.audio import samples
from duologue.values.messages import ImagePart

SECOND = 16_000


def sound(count: int, first: int = 0) -> bytes:
    """Samples that count up, so that none can be lost or repeated unseen."""
    return b"".join((number % 30_000).to_bytes(2, "little") for number in range(first, first + count))


def lengths(units: list[SoundUnit]) -> list[int]:
    return [samples(unit.pcm) for unit in units]


def test_small_pieces_become_units_of_half_a_second():
    cutter = UnitCutter(3200, SECOND)
    units = [unit for number in range(100) for unit in cutter.add(sound(512, number * 512), number)]
    assert set(lengths(units)) == {TARGET}
    assert b"".join(unit.pcm for unit in units) == sound(100 * 512)[: len(units) * TARGET * 2]
    assert [unit.end for unit in units] == [TARGET * (number + 1) for number in range(len(units))]
    assert cutter.waiting == 100 * 512 % TARGET


def test_a_model_of_one_length_is_given_that_length():
    cutter = UnitCutter(SECOND, SECOND)
    assert lengths(cutter.add(sound(2 * SECOND + 5), 0.0)) == [SECOND, SECOND]
    assert lengths(cutter.add_chunk(sound(SECOND - 5), 0.0)) == [SECOND]


@pytest.mark.parametrize(
    ("chunk", "cut"),
    [
        (SECOND, [SECOND]),
        (4000, [4000]),
        (3199, []),
        (SECOND + 1, [8001, 8000]),
        (3 * SECOND, [SECOND] * 3),
    ],
)
def test_a_chunk_of_the_client_is_a_unit_where_its_length_allows_that(chunk, cut):
    assert lengths(UnitCutter(3200, SECOND).add_chunk(sound(chunk), 0.0)) == cut


def test_the_newest_frame_counts_and_goes_with_one_unit():
    cutter = UnitCutter(3200, SECOND)
    old, new = ImagePart(b"old"), ImagePart(b"new")
    cutter.add_frame(old)
    cutter.add_frame(new)
    first, second = cutter.add(sound(2 * TARGET), 0.0)
    assert (first.frames, second.frames) == ((new,), ())
    [unit] = cutter.add_chunk(sound(SECOND), 0.0, frames=(old, new), force_listen=True, max_slices=3)
    assert (unit.frames, unit.force_listen, unit.max_slices) == ((old, new), True, 3)


def test_a_turn_that_is_over_is_passed_at_once_with_silence_before_it_where_it_is_too_short():
    cutter = UnitCutter(3200, SECOND)
    cutter.add(sound(100, 1), 0.0)
    unit = cutter.flush(2.0)
    assert unit.pcm == bytes(3100 * 2) + sound(100, 1)
    assert (unit.answers, unit.end, unit.arrived) == (100, 100, 2.0)
    assert cutter.waiting == 0


@given(
    st.tuples(st.integers(1, 4000), st.integers(0, 4000)).map(lambda pair: (pair[0], pair[0] + pair[1])),
    st.lists(st.tuples(st.integers(0, 9000), st.booleans()), max_size=12),
)
def test_units_are_of_lengths_that_the_model_takes_and_lose_nothing(bounds, pieces):
    fewest, most = bounds
    cutter = UnitCutter(fewest, most)
    units: list[SoundUnit] = []
    given_sound = b""
    for count, chunked in pieces:
        pcm = sound(count, samples(given_sound))
        given_sound += pcm
        units += cutter.add_chunk(pcm, 0.0) if chunked else cutter.add(pcm, 0.0)
    assert all(fewest <= length <= most for length in lengths(units))
    joined = b"".join(unit.pcm for unit in units)
    assert given_sound.startswith(joined)
    assert samples(given_sound) - samples(joined) == cutter.waiting
    assert sum(unit.answers for unit in units) == samples(joined)


def unit(count: int, end: int, *frames: ImagePart) -> SoundUnit:
    return SoundUnit(sound(count, end - count), end, end / SECOND, count, frames)


def test_units_that_wait_are_taken_one_by_one_while_little_waits():
    queue = UnitQueue(SECOND)
    for number in (1, 2):
        queue.put(unit(TARGET, number * TARGET))
    assert lengths([queue.take(SECOND), queue.take(SECOND)]) == [TARGET, TARGET]
    assert queue.first is None


def test_when_more_than_a_second_waits_units_are_joined_as_far_as_the_model_takes_it():
    queue = UnitQueue(SECOND)
    for number in range(1, 5):
        queue.put(unit(TARGET, number * TARGET, ImagePart(b"%d" % number)))
    joined = queue.take(4 * TARGET)
    assert joined.pcm == sound(SECOND)
    assert (joined.answers, joined.end, joined.frames) == (SECOND, SECOND, (ImagePart(b"2"),))
    assert samples(queue.take(3 * TARGET).pcm) == TARGET, "what was not judged yet waits"


def test_what_is_far_behind_is_dropped_oldest_first_and_the_next_answer_stands_for_it():
    queue = UnitQueue(SECOND)
    for number in range(1, 7):
        queue.put(unit(SECOND, number * SECOND, *([ImagePart(b"seen")] if number == 3 else [])))
    assert queue.waiting == BEHIND
    assert queue.dropped == 3 * SECOND
    first = queue.take(0)
    assert (first.end, first.answers, first.frames) == (4 * SECOND, 4 * SECOND, (ImagePart(b"seen"),))


@given(st.lists(st.tuples(st.integers(1, SECOND), st.booleans()), max_size=40))
def test_every_sample_is_answered_once_and_little_waits(steps):
    queue = UnitQueue(SECOND)
    end = answered = 0
    for count, takes in steps:
        end += count
        queue.put(unit(count, end))
        assert queue.waiting <= BEHIND or queue.waiting == count
        if takes:
            answered += queue.take(end).answers
    while queue.first is not None:
        answered += queue.take(end).answers
    assert answered == end
