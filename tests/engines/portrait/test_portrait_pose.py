"""The pose of a frame: idle motion that joins, and a mouth that follows its keys."""

from duologue.engines.portrait.portrait_pose import HEAD, LOOP_S, TWOS, idle_pose, pose_of
from duologue.faces.pose import PARTS
from duologue.values.mouth import MouthKey

TALKING = (MouthKey(0), *(MouthKey(at * 2000, open=60) for at in range(1, 40)), MouthKey(80_000))


def test_a_pose_has_every_part():
    assert set(pose_of(7, 25, 0, ())) == set(PARTS)


def test_idle_motion_begins_again_without_a_jump():
    before, after = idle_pose(LOOP_S - 0.001), idle_pose(0.0)
    assert all(abs(before[name] - after[name]) < 0.02 for name in before)
    assert idle_pose(LOOP_S + 3.3) == idle_pose(3.3) or all(
        abs(idle_pose(LOOP_S + 3.3)[name] - idle_pose(3.3)[name]) < 1e-6 for name in before
    )


def test_the_mouth_follows_its_keys_and_the_rest_its_own_clock():
    still, talking = pose_of(40, 25, 0, ()), pose_of(40, 25, 30_000, TALKING)
    assert (still["open"], talking["open"]) == (0.0, 0.6)
    assert [still[name] for name in ("turn", "breath", "blink", "look_x")] == [
        talking[name] for name in ("turn", "breath", "blink", "look_x")
    ]


def test_a_reply_begins_and_ends_as_the_idle_face():
    for at in (-24_000, 120_000):
        assert pose_of(40, 25, at, TALKING) == pose_of(40, 25, 0, ())


def test_the_head_moves_on_every_second_frame_and_the_mouth_on_each():
    poses = [pose_of(number, 25, number * 960, TALKING) for number in range(20, 30)]
    for first in range(0, 10, TWOS):
        assert all(poses[first][name] == poses[first + 1][name] for name in HEAD)
    assert len({pose["blink"] for pose in poses} | {pose["open"] for pose in poses}) > 1
