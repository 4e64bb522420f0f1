"""What a pose makes of a shape."""

from __future__ import annotations

from duologue.faces.look import Shape
from duologue.faces.pose import mouth_pose, posed
from duologue.values.mouth import Mouth

LINE = Shape("line", ("M", "L"), (0, 0, 10, 0), moves={"open": (0, 4, 0, 8), "tilt": (1, 0, 1, 0)})


def test_at_rest_the_points_are_those_of_the_look() -> None:
    assert posed(LINE, {}) == [0, 0, 10, 0]


def test_weights_add_up() -> None:
    assert posed(LINE, {"open": 0.5, "tilt": -1.0}) == [-1, 2, 9, 4]


def test_rounded_and_spread_lips_are_two_parts_of_a_pose() -> None:
    assert mouth_pose(Mouth(wide=-0.5))["round"] == 0.5
    assert mouth_pose(Mouth(wide=-0.5))["wide"] == 0.0
    assert mouth_pose(Mouth(wide=0.5))["wide"] == 0.5
