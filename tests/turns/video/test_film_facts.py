"""Frames and samples of a reply."""

from duologue.turns.video.film_facts import frames_of, sample_of


def test_a_frame_belongs_to_the_sample_at_its_time():
    assert [sample_of(frame, 25) for frame in (0, 1, 25)] == [0, 960, 24_000]
    assert sample_of(60, 60) == 24_000


def test_the_last_frame_that_begins_counts():
    assert [frames_of(samples, 25) for samples in (0, 1, 960, 961, 24_000)] == [0, 1, 1, 2, 25]
