"""What every look must be able to do. Used by the tests of `duologue.faces.looks`."""

from __future__ import annotations

from collections.abc import Mapping

from duologue.faces.look import SIDE, Look, Shape
from duologue.faces.pose import PARTS, posed

POINTS = {"M": 1, "L": 1, "C": 3, "Z": 0}
SOUNDS: dict[str, dict[str, float]] = {
    "silence": {},
    "a": {"open": 0.9},
    "i": {"open": 0.2, "wide": 0.9},
    "u": {"open": 0.2, "round": 1.0},
    "p": {"press": 1.0},
    "f": {"tuck": 1.0},
    "th": {"open": 0.2, "tongue": 1.0},
}
INSIDE_MOUTH = ("mouth", "teeth", "tongue", "lip_line")


def check_drawable(look: Look) -> None:
    """Numbers, names and colours fit together."""
    known: set[str] = set()
    for shape in look.shapes:
        count = 2 * sum(POINTS[step] for step in shape.steps)
        assert len(shape.points) == count, shape.id
        assert all(len(deltas) == count for deltas in shape.moves.values()), shape.id
        assert set(shape.moves) <= set(PARTS), shape.id
        assert shape.shade in {"", *PARTS}, shape.id
        assert shape.inside in {"", *known}, f"{shape.id} is within a shape that comes later"
        assert shape.id not in known, f"{shape.id} is there twice"
        assert shape.fill or shape.stroke, shape.id
        for theme in ("light", "dark"):
            assert {shape.fill, shape.stroke} - {""} <= set(look.colours[theme]), shape.id
        known.add(shape.id)
    assert set(look.head) <= known
    assert set(look.colours["light"]) == set(look.colours["dark"])
    assert look.colours["light"] != look.colours["dark"]


def check_stays_in_the_square(look: Look) -> None:
    """No head leaves the picture, however it is held."""
    for pose in (
        {"turn": 1.0, "nod": -1.0, "tilt": 1.0, "brow": 1.0},
        {"turn": -1.0, "nod": 1.0, "tilt": -1.0},
    ):
        for shape in look.shapes:
            if shape.id in look.head and not shape.inside:
                points = posed(shape, pose)
                # Glow behind a head may touch the edge.
                assert min(points) > -8, shape.id
                assert max(points) < SIDE + 8, shape.id


def check_speaks(look: Look) -> None:
    """Each kind of sound draws another mouth, and the jaw opens."""
    drawn = {sound: mouth_of(look, pose) for sound, pose in SOUNDS.items()}
    names = list(drawn)
    for at, one in enumerate(names):
        for other in names[at + 1 :]:
            assert distance(drawn[one], drawn[other]) > 3.0, f"{look.name}: {one} and {other} look alike"
    assert height(shape_of(look, "mouth"), SOUNDS["a"]) > 20
    assert height(shape_of(look, "mouth"), SOUNDS["p"]) < 12


def check_moves(look: Look) -> None:
    """Eyes close and look around; nearer parts turn farther."""
    eye = shape_of(look, "eye1")
    assert height(eye, {"blink": 1.0}) < 0.4 * height(eye, {})
    pupil = shape_of(look, "pupil1")
    assert posed(pupil, {"look_x": 1.0})[0] > pupil.points[0] + 5
    assert posed(pupil, {"look_y": -1.0})[1] < pupil.points[1] - 3
    outline = next(shape for shape in look.shapes if shape.id in {"face", "head", "shell"})
    assert (
        posed(eye, {"turn": 1.0})[0] - eye.points[0]
        > posed(outline, {"turn": 1.0})[0] - outline.points[0]
        > 0
    )
    assert posed(shape_of(look, "body"), {"breath": 1.0})[1] < shape_of(look, "body").points[1]
    assert posed(shape_of(look, "backdrop"), {"breath": 1.0, "turn": 1.0}) == list(
        shape_of(look, "backdrop").points
    )


def shape_of(look: Look, name: str) -> Shape:
    return next(shape for shape in look.shapes if shape.id == name)


def mouth_of(look: Look, pose: Mapping[str, float]) -> list[float]:
    return [value for name in INSIDE_MOUTH for value in posed(shape_of(look, name), pose)]


def distance(one: list[float], other: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def height(shape: Shape, pose: Mapping[str, float]) -> float:
    ys = posed(shape, pose)[1::2]
    return max(ys) - min(ys)
