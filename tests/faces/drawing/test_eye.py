"""An eye: lids that meet, an iris that stays within."""

from __future__ import annotations

import pytest

from duologue.faces.drawing.eye import EyeStyle, draw_eye
from duologue.faces.drawing.sketch import Sketch
from duologue.faces.look import Shape
from duologue.faces.pose import posed


def eye(side: int = 1) -> dict[str, Shape]:
    sketch = Sketch()
    draw_eye(sketch, side, 45, 240, EyeStyle(lashes=8, crease=6))
    return {shape.id: shape for shape in sketch.look("a", "A", {}, {}).shapes}


def test_a_closed_eye_is_a_line() -> None:
    white = eye()["eye1"]
    ys = posed(white, {"blink": 1.0})[1::2]
    assert max(ys) - min(ys) < 12 < max(white.points[1::2]) - min(white.points[1::2])


def test_iris_and_pupil_are_painted_within_the_white() -> None:
    shapes = eye()
    assert {shapes[name].inside for name in ("iris1", "pupil1", "gleam1")} == {"eye1"}


def test_both_eyes_look_the_same_way() -> None:
    for side in (-1, 1):
        iris = eye(side)[f"iris{side}"]
        assert posed(iris, {"look_x": 1.0})[0] > iris.points[0]


def test_the_eyes_mirror_each_other() -> None:
    left, right = eye(-1)["eye-1"], eye(1)["eye1"]
    assert [512 - x for x in left.points[0::2]] == pytest.approx(right.points[0::2], abs=0.02)
    assert left.points[1::2] == right.points[1::2]
