"""The mean of an utterance's cepstra, from what the library reports."""

from collections.abc import Sequence

import pytest

from duologue.engines.sphinx.cepstral_mean import LIBRARY_FRAMES, CepstralMean


def reported(before: tuple[float, ...], frames: Sequence[tuple[float, ...]]) -> list[float]:
    """What the library reports after these frames, where its mean was set to `before`."""
    totals = [
        LIBRARY_FRAMES * value + sum(column)
        for value, column in zip(before, zip(*frames, strict=True), strict=True)
    ]
    return [total / (LIBRARY_FRAMES + len(frames)) for total in totals]


def test_it_begins_with_what_is_assumed():
    assert CepstralMean((40.0, -2.0), 100).values == (40.0, -2.0)


def test_sound_counts_frame_by_frame_beside_the_assumption():
    mean = CepstralMean((40.0, -2.0), 100)
    mean.update(reported(mean.values, [(60.0, 2.0)] * 50), 50)
    assert mean.values == pytest.approx(((40 * 100 + 60 * 50) / 150, (-2 * 100 + 2 * 50) / 150))


def test_several_estimates_add_up_to_one():
    frames = [(60.0 + at % 7, 2.0 - at % 3) for at in range(150)]
    at_once = CepstralMean((40.0, -2.0), 100)
    at_once.update(reported(at_once.values, frames), 150)
    by_and_by = CepstralMean((40.0, -2.0), 100)
    for at in range(0, 150, 50):
        by_and_by.update(reported(by_and_by.values, frames[at : at + 50]), 50)
    assert by_and_by.values == pytest.approx(at_once.values)
