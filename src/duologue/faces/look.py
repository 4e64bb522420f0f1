"""A look: a drawn face as layers of shapes that a pose moves.

The page draws it on a canvas, the video engine `portrait` in the server. Both read this data, so both show the same face.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

SIDE = 512
"""Width and height of the square that the coordinates are in."""

Step = Literal["M", "L", "C", "Z"]
"""Move, line, cubic curve, close: 1, 1, 3 and 0 points."""


class Shape(Struct, frozen=True, omit_defaults=True):
    """One path, painted over those before it. `fill` and `stroke` name colours of the look; "" is none. `points` are x, y, x, y ... of the
    `steps` in order; `moves[name]` is what a full weight of this part of a pose adds to each of them. `inside`: only the part within
    the shape of this id is painted. `shade` multiplies the opacity by a part of the pose: a shape that is only there with it."""

    id: str
    steps: tuple[Step, ...]
    points: tuple[float, ...]
    fill: str = ""
    stroke: str = ""
    width: float = 0.0
    opacity: float = 1.0
    inside: str = ""
    shade: str = ""
    moves: dict[str, tuple[float, ...]] = {}


class Look(Struct, frozen=True):
    """A face. `colours[theme][name]` is a colour as #rrggbb; the themes are "light" and "dark". `head` are the ids of the shapes that turn and
    nod with the head; the others (shoulders, background) only breathe."""

    name: str
    title: str
    colours: dict[str, dict[str, str]]
    shapes: tuple[Shape, ...]
    head: tuple[str, ...] = ()
