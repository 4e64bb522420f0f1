"""How a face moves by itself: without jumps, between its bounds, and again after the period."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import face_examples

from duologue.faces.motion import (
    MANNERS,
    MOODS,
    PERIOD_S,
    FaceMotion,
    Mood,
    blink_at,
    gaze_at,
    motion_at,
)
from duologue.faces.pose import PARTS

seeds = st.integers(0, 2**32 - 1)
moods = st.sampled_from(MOODS)
FRAME_MS = 1000 / 60
FASTEST = 0.45
"""The most a part may change in a frame: the lids take five to close, the eyes four for a jump."""


def blinks(seed: int, seconds: float) -> list[float]:
    """When the eyes begin to close."""
    times, closed = [], False
    for frame in range(int(seconds * 100)):
        now = blink_at(frame / 100, seed) > 0
        if now and not closed:
            times.append(frame / 100)
        closed = now
    return times


@given(seeds)
def test_it_blinks_every_two_to_six_seconds_or_twice_in_a_row(seed: int) -> None:
    times = blinks(seed, 60)
    gaps = [after - before for before, after in pairwise(times)]
    assert all(gap <= 6.1 and (gap >= 1.6 or gap < 0.4) for gap in gaps)
    assert len(times) >= 10


def test_some_blinks_are_double() -> None:
    times = blinks(3, 2 * PERIOD_S)
    assert any(after - before < 0.4 for before, after in pairwise(times))


@given(st.floats(0, 500), moods, seeds)
def test_parts_are_known_and_between_their_bounds(seconds: float, mood: Mood, seed: int) -> None:
    pose = motion_at(seconds, mood, seed)
    assert set(pose) <= set(PARTS)
    assert all(-1.2 <= value <= 1.2 for value in pose.values())
    assert all(0 <= pose[part] <= 1 for part in ("blink", "smile", "breath", "press"))


@given(st.floats(0, 200), moods, seeds)
def test_after_the_period_it_begins_again(seconds: float, mood: Mood, seed: int) -> None:
    assert motion_at(seconds + PERIOD_S, mood, seed) == pytest.approx(
        motion_at(seconds, mood, seed), abs=1e-6
    )


@given(st.lists(st.tuples(moods, st.integers(1, 90)), min_size=1, max_size=12), seeds)
def test_no_change_of_state_makes_it_jump(stretches: list[tuple[Mood, int]], seed: int) -> None:
    motion = FaceMotion("calling", seed)
    before = motion.step(0, "calling")
    for mood, frames in stretches:
        for _ in range(frames):
            now = motion.step(FRAME_MS, mood)
            assert all(abs(now[part] - before[part]) < FASTEST for part in now)
            before = now


@given(moods, seeds)
def test_a_state_that_lasts_is_reached(mood: Mood, seed: int) -> None:
    motion = FaceMotion("calling", seed)
    pose: dict[str, float] = {}
    for _ in range(600):
        pose = motion.step(FRAME_MS, mood)
    assert pose == pytest.approx(motion_at(10, mood, seed), abs=1e-3)


def test_it_looks_at_the_listener_and_away_while_it_thinks() -> None:
    def mean(mood: Mood, part: str) -> float:
        return sum(motion_at(frame / 5, mood, 1)[part] for frame in range(240)) / 240

    assert abs(mean("listening", "look_x")) < 0.1
    assert mean("thinking", "look_x") > 0.4
    assert mean("thinking", "look_y") < -0.4
    assert mean("hearing", "tilt") > 0.15


def test_only_speech_and_listening_are_accented() -> None:
    assert {mood for mood, manner in MANNERS.items() if manner.accents} == {"speaking", "hearing"}


def test_a_still_face_only_blinks() -> None:
    motion = FaceMotion("thinking", 5, still=True)
    poses = [motion.step(FRAME_MS, "thinking") for _ in range(600)]
    assert max(pose["blink"] for pose in poses) == pytest.approx(1, abs=0.05)
    assert not {"turn", "nod", "tilt", "breath", "look_x", "look_y"} & set(poses[0])
    assert len({pose["smile"] for pose in poses}) == 1


def test_a_long_pause_is_one_short_step() -> None:
    one, other = FaceMotion("listening", 2), FaceMotion("listening", 2)
    assert one.step(60_000, "listening") == other.step(100, "listening")


def test_eyes_hold_still_between_their_jumps() -> None:
    places = {gaze_at(frame / 100, 9) for frame in range(4800)}
    # 30 jumps of six frames, and the places between them.
    assert len(places) < 300


def test_the_examples_for_the_page_are_those_of_this_code() -> None:
    assert face_examples.stored() == face_examples.written(), (
        "run python tests/support/face_examples.py, and look at what changed"
    )
