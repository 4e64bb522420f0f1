"""A mouth: closed lips meet, and each part of a pose does what its name says."""

from __future__ import annotations

from duologue.faces.drawing.mouth_drawing import MouthStyle, draw_mouth
from duologue.faces.drawing.sketch import Sketch
from duologue.faces.look import Shape
from duologue.faces.pose import posed


def mouth(style: MouthStyle | None = None) -> dict[str, Shape]:
    sketch = Sketch()
    draw_mouth(sketch, 320, style or MouthStyle())
    return {shape.id: shape for shape in sketch.look("a", "A", {}, {}).shapes}


def width(shape: Shape, **pose: float) -> float:
    xs = posed(shape, pose)[0::2]
    return max(xs) - min(xs)


def middle(shape: Shape, **pose: float) -> tuple[float, float]:
    """The heights of the upper and the lower lip in the middle of the mouth."""
    points = posed(shape, pose)
    ys = [y for x, y in zip(points[0::2], points[1::2], strict=True) if abs(x - 256) < 0.01]
    return min(ys), max(ys)


def test_closed_lips_meet() -> None:
    upper, lower = middle(mouth()["mouth"])
    assert upper == lower == 320


def test_open_lowers_the_jaw_and_wide_and_round_are_opposites() -> None:
    shape = mouth()["mouth"]
    upper, lower = middle(shape, open=1.0)
    assert lower - upper > 35
    assert width(shape, round=1.0) < width(shape) < width(shape, wide=1.0)


def test_pressed_lips_are_thinner_and_have_dimples_beside_them() -> None:
    shapes = mouth()
    lip = shapes["lip_lower"]
    assert max(posed(lip, {"press": 1.0})[1::2]) < max(lip.points[1::2])
    assert shapes["dimple1"].shade == "press"


def test_f_shows_the_upper_teeth_on_the_lower_lip() -> None:
    shapes = mouth()
    upper, lower = middle(shapes["mouth"], tuck=1.0)
    teeth = max(posed(shapes["teeth"], {"tuck": 1.0})[1::2])
    assert upper < teeth
    assert teeth >= lower - 1


def test_the_tongue_comes_up_between_the_teeth() -> None:
    shapes = mouth()
    top = min(posed(shapes["tongue"], {"tongue": 1.0})[1::2])
    assert top < max(posed(shapes["teeth"], {"tongue": 1.0})[1::2])
    assert {shapes[name].inside for name in ("tongue", "teeth", "lower_teeth")} == {"mouth"}


def test_a_mouth_without_lips_has_lines_on_both_edges() -> None:
    shapes = mouth(MouthStyle(upper=0, lower=0, fangs=True))
    assert {"lip_line", "jaw_line", "fang1"} <= set(shapes)
    assert not {"lip_upper", "lip_lower"} & set(shapes)
    down = posed(shapes["jaw_line"], {"open": 1.0})
    assert max(down[1::2]) > max(posed(shapes["lip_line"], {"open": 1.0})[1::2]) + 20
