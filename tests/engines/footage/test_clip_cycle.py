"""The order and the rate of a base clip's frames."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.engines.footage.clip_cycle import cycle, fitted_size, resampled_frames


def test_a_clip_goes_forth_and_back_with_its_last_frame():
    assert cycle(4, loops=False) == (0, 1, 2, 3, 3, 2, 1, 0)
    assert cycle(1, loops=False) == cycle(1, loops=True) == (0,)


def test_a_clip_that_ends_as_it_began_starts_again_without_its_last_frame():
    assert cycle(4, loops=True) == (0, 1, 2)
    with pytest.raises(ValueError, match="at least one"):
        cycle(0, loops=True)


@given(st.integers(1, 400), st.sampled_from([12, 16, 24, 25, 30]), st.sampled_from([20, 24, 25, 30, 50]))
def test_another_rate_keeps_the_length_the_order_and_both_ends(frames, source, target):
    chosen = resampled_frames(frames, source, target)
    assert (chosen[0], chosen[-1]) == (0, frames - 1)
    assert list(chosen) == sorted(chosen)
    if frames > 1:
        assert abs((len(chosen) - 1) / target - (frames - 1) / source) <= max(0.5, 1) / target


def test_five_seconds_at_24_frames_a_second_repeat_every_24th_frame_at_25():
    chosen = resampled_frames(121, 24, 25)
    assert len(chosen) == 126
    assert len(set(chosen)) == 121


@given(
    st.integers(1, 9000), st.integers(1, 9000), st.sampled_from([64, 512, 832]), st.sampled_from([2, 16, 32])
)
def test_a_fitted_size_has_whole_multiples_and_the_longest_side(width, height, longest, multiple):
    made = fitted_size(width, height, longest=longest, multiple=multiple)
    assert all(side % multiple == 0 and side >= multiple for side in made)
    assert max(made) == longest
    scale = longest / max(width, height)
    assert all(
        abs(side - wanted * scale) <= multiple for side, wanted in zip(made, (width, height), strict=True)
    )
