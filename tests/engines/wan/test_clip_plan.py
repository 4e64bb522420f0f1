"""What clip is rendered, and its key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.engines.wan.clip_plan import LONGEST, SHORTEST, ClipPlan, clip_key, frame_count
from duologue.errors import BadRequest


@given(st.floats(SHORTEST, LONGEST), st.sampled_from([16, 24]))
def test_a_clip_has_a_multiple_of_four_frames_and_one_more(seconds, rate):
    frames = frame_count(seconds, rate)
    assert frames % 4 == 1
    assert abs((frames - 1) / rate - seconds) <= 2 / rate + 1e-9


def test_five_seconds_are_the_frames_that_the_models_were_trained_on():
    assert (frame_count(5, 16), frame_count(5, 24)) == (81, 121)


@pytest.mark.parametrize("seconds", [0, -1, 0.4, 11, float("nan"), float("inf")])
def test_other_lengths_are_refused(seconds):
    with pytest.raises(BadRequest, match=r"has 0\.5 to 10 seconds"):
        frame_count(seconds, 16)


def test_the_key_changes_with_everything():
    plans = [
        ClipPlan(b"a"),
        ClipPlan(b"b"),
        ClipPlan(b"a", seconds=4),
        ClipPlan(b"a", prompt="x"),
        ClipPlan(b"a", negative="x"),
        ClipPlan(b"a", seed=1),
        ClipPlan(b"a", loras=False),
    ]
    keys = [clip_key(plan, "model", []) for plan in plans]
    keys += [clip_key(plans[0], "other", []), clip_key(plans[0], "model", [("lora", 1.0)])]
    assert len(set(keys)) == len(keys)
    assert clip_key(ClipPlan(b"a"), "model", []) == keys[0]
