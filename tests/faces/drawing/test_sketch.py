"""A look while it is drawn: what its shapes follow."""

from __future__ import annotations

from duologue.faces.drawing.mount import BODY, STILL, head
from duologue.faces.drawing.outline import ellipse
from duologue.faces.drawing.sketch import Sketch
from duologue.faces.pose import posed

ROUND = ellipse(256, 200, 20, 20)


def test_what_is_nearer_moves_farther_with_the_head() -> None:
    sketch = Sketch()
    sketch.fill("ear", ROUND, "red", head(0.0))
    sketch.fill("nose", ROUND, "red", head(1.0))
    sketch.fill("hair", ROUND, "red", head(-0.3))
    ear, nose, hair = sketch.look("a", "A", {"red": "#ff0000"}, {}).shapes
    middle = ROUND.points()[0]
    assert (
        posed(nose, {"turn": 1.0})[0] > middle == posed(ear, {"turn": 1.0})[0] > posed(hair, {"turn": 1.0})[0]
    )


def test_shoulders_breathe_and_the_background_stays() -> None:
    sketch = Sketch()
    sketch.fill("body", ROUND, "red", BODY)
    sketch.line("back", ROUND, "red", 2, STILL)
    body, back = sketch.look("a", "A", {"red": "#ff0000"}, {}).shapes
    assert set(body.moves) == {"breath"}
    assert back.moves == {}


def test_a_neck_follows_the_head_above_and_the_shoulders_below() -> None:
    sketch = Sketch()
    sketch.neck("neck", ellipse(256, 367, 30, 37), "red")
    (neck,) = sketch.look("a", "A", {"red": "#ff0000"}, {}).shapes
    tilted = posed(neck, {"tilt": 1.0})
    assert tilted[0] > neck.points[0] + 4
    bottom = neck.points.index(404.0) - 1
    assert tilted[bottom] == neck.points[bottom]


def test_moves_of_a_shape_add_to_those_of_the_head() -> None:
    sketch = Sketch()
    sketch.fill(
        "brow",
        ROUND,
        "red",
        head(1.0),
        moves={"brow": lambda x, y: (0.0, -9.0), "turn": lambda x, y: (1.0, 0.0)},
    )
    look = sketch.look("a", "A", {"red": "#ff0000"}, {"red": "#880000"})
    (brow,) = look.shapes
    assert brow.moves["brow"][1] == -9.0
    assert brow.moves["turn"][0] == 27.0
    assert look.colours == {"light": {"red": "#ff0000"}, "dark": {"red": "#880000"}}
    assert look.head == ("brow",)
