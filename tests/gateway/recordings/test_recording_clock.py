"""The clock of a recording: the microphone's samples, and time where none come."""

from hypothesis import given
from hypothesis import strategies as st

from duologue.gateway.recordings.recording_clock import RecordingClock

FRAME = 320


def test_it_stands_at_the_end_of_what_was_heard():
    clock = RecordingClock(10.0)
    assert clock.hear(FRAME, 10.02) == 0
    assert clock.hear(FRAME, 10.04) == FRAME
    assert clock.position(10.05) == 2 * FRAME


def test_a_late_network_changes_nothing():
    clock = RecordingClock(0.0)
    clock.hear(FRAME, 0.02)
    # Half a second late, and then at once.
    starts = [clock.hear(FRAME, 0.52 + number / 1000) for number in range(25)]
    assert starts == [FRAME * (number + 1) for number in range(25)]


def test_a_silent_microphone_is_replaced_by_time():
    clock = RecordingClock(0.0)
    clock.hear(FRAME, 0.02)
    assert clock.position(5.02) == FRAME + 5 * 16_000
    assert clock.hear(FRAME, 5.04) == FRAME + round(5.02 * 16_000) - FRAME


def test_without_a_microphone_it_is_time():
    clock = RecordingClock(100.0)
    assert [clock.position(at) for at in (100.0, 100.5, 102.0)] == [0, 8000, 32_000]


def test_within_a_chunk_of_a_second_it_goes_on():
    clock = RecordingClock(0.0)
    clock.hear(16_000, 1.0)
    assert clock.position(1.5) == 24_000
    assert clock.hear(16_000, 2.0) == 16_000
    assert clock.position(2.0) == 32_000


@given(st.lists(st.tuples(st.floats(0, 3), st.integers(0, 32_000), st.booleans()), max_size=40))
def test_it_never_falls_and_sound_never_overlaps(steps: list[tuple[float, int, bool]]):
    clock, at, end, reached = RecordingClock(0.0), 0.0, 0, 0
    for passed, samples, heard in steps:
        at += passed
        if heard:
            start = clock.hear(samples, at)
            assert start >= end
            end = start + samples
        position = clock.position(at)
        assert position >= reached
        assert position >= end
        reached = position
