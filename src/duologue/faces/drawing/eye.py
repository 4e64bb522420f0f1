"""An eye: white, iris, lids, lashes. They follow `look_x` and `look_y`, close with `blink` and narrow with `smile`."""

from __future__ import annotations

from msgspec import Struct

from duologue.faces.drawing.mount import Mount, head
from duologue.faces.drawing.outline import CENTRE, Outline, Point, curve, ellipse
from duologue.faces.drawing.sketch import Sketch

DEPTH = 0.62
"""Of the eyes in the head (`Mount.depth`)."""


class EyeStyle(Struct, frozen=True):
    """Sizes in units of the look's square: half the width and height of the opening, the iris's radius, the lash line's width; `slant`:
    how much higher the outer corner is than the inner one. `lashes`: how far they stand out at the outer corner."""

    wide: float = 25.0
    high: float = 17.0
    iris: float = 16.5
    pupil: float = 8.0
    lid: float = 4.5
    slant: float = 3.0
    lashes: float = 0.0
    crease: float = 0.0
    reach: float = 8.5
    """How far the iris moves to the side."""


def draw_eye(sketch: Sketch, side: int, x: float, y: float, style: EyeStyle) -> None:
    """Draws the eye at `x` from the middle of the face, `side` -1 for the one on the left of the picture. Its shapes are named `eye1`
    and so on, with `eye-1` for the left one. Colours: `white`, `iris`, `pupil`, `gleam`, `lash`, `lid_shade`."""
    middle = CENTRE + side * x
    mount = head(DEPTH)
    opening = _opening(side, middle, y, style)
    moves = _lid_moves(opening, style)
    white = f"eye{side}"
    sketch.fill(white, opening, "white", mount, moves=moves)
    _draw_iris(sketch, side, white, (middle, y), style)
    upper = curve(*opening.anchors[:5])
    upper_moves = {part: {at: warp.get(at, (0.0, 0.0)) for at in range(5)} for part, warp in moves.items()}
    sketch.line(
        f"lid_shade{side}", upper, "lid_shade", 11, mount, opacity=0.22, inside=white, moves=upper_moves
    )
    if style.crease:
        crease = curve(*((px, py - style.crease) for px, py in opening.anchors[1:4]))
        sketch.line(
            f"crease{side}",
            crease,
            "lid_shade",
            2.2,
            mount,
            opacity=0.4,
            moves={
                "blink": dict.fromkeys(range(3), (0.0, 0.3 * style.high)),
                "look_y": dict.fromkeys(range(3), (0.0, 1.5)),
            },
        )
    sketch.line(f"lid{side}", upper, "lash", style.lid, mount, moves=upper_moves)
    if style.lashes:
        _draw_lashes(sketch, side, opening, style, mount)


def _opening(side: int, x: float, y: float, style: EyeStyle) -> Outline:
    """Outer corner, three anchors of the upper lid, inner corner, three of the lower lid."""
    w, h, s = style.wide, style.high, style.slant
    shape = (
        (-1.0, 0.12, -s),
        (-0.62, -0.82, -0.5 * s),
        (0.05, -1.0, 0.0),
        (0.66, -0.68, 0.4 * s),
        (1.0, 0.2, s),
    )
    lower = ((0.58, 0.78, 0.4 * s), (0.0, 0.92, 0.0), (-0.6, 0.74, -0.5 * s))
    return Outline(
        tuple((x - side * w * a, y + h * b + c) for a, b, c in (*shape, *lower)), frozenset({0, 4})
    )


def _lid_moves(opening: Outline, style: EyeStyle) -> dict[str, dict[int, Point]]:
    """The closed eye is a curve near the lower lid."""
    anchors = opening.anchors
    blink: dict[int, Point] = {}
    for upper, lower in ((1, 7), (2, 6), (3, 5)):
        line = anchors[lower][1] - 0.22 * style.high
        blink[upper] = (0.0, line - anchors[upper][1])
        blink[lower] = (0.0, line - anchors[lower][1])
    blink[0] = blink[4] = (0.0, 0.22 * style.high)
    upper_share = {1: 0.8, 2: 1.0, 3: 0.8}
    lower_share = {5: 0.8, 6: 1.0, 7: 0.8}
    return {
        "blink": blink,
        "look_y": {
            **{at: (0.0, 3.5 * share) for at, share in upper_share.items()},
            **{at: (0.0, 1.5 * share) for at, share in lower_share.items()},
        },
        "smile": {
            **{at: (0.0, 0.06 * style.high * share) for at, share in upper_share.items()},
            **{at: (0.0, -0.3 * style.high * share) for at, share in lower_share.items()},
        },
        "brow": {at: (0.0, -1.8 * share) for at, share in upper_share.items()},
    }


def _draw_iris(sketch: Sketch, side: int, white: str, at: Point, style: EyeStyle) -> None:
    x, y = at
    mount = head(DEPTH + 0.06)

    def gaze(share: float) -> dict[str, dict[int, Point]]:
        return {
            "look_x": dict.fromkeys(range(4), (style.reach * share, 0.0)),
            "look_y": dict.fromkeys(range(4), (0.0, 0.72 * style.reach * share)),
        }

    iris = ellipse(x, y, style.iris, style.iris)
    sketch.fill(f"rim{side}", iris, "iris_rim", mount, inside=white, moves=gaze(1.0))
    sketch.fill(
        f"iris{side}",
        ellipse(x, y, 0.84 * style.iris, 0.84 * style.iris),
        "iris",
        mount,
        inside=white,
        moves=gaze(1.0),
    )
    glow = ellipse(x, y + 0.38 * style.iris, 0.55 * style.iris, 0.36 * style.iris)
    sketch.fill(f"glow{side}", glow, "iris_glow", mount, opacity=0.75, inside=white, moves=gaze(1.0))
    sketch.fill(
        f"pupil{side}",
        ellipse(x, y, style.pupil, style.pupil),
        "pupil",
        mount,
        inside=white,
        moves=gaze(1.06),
    )
    big, small = 0.31 * style.iris, 0.15 * style.iris
    gleam = ellipse(x + 0.36 * style.iris, y - 0.4 * style.iris, big, big)
    sketch.fill(f"gleam{side}", gleam, "gleam", mount, inside=white, moves=gaze(0.85))
    spark = ellipse(x - 0.38 * style.iris, y + 0.36 * style.iris, small, small)
    sketch.fill(f"spark{side}", spark, "gleam", mount, opacity=0.8, inside=white, moves=gaze(0.85))


def _draw_lashes(sketch: Sketch, side: int, opening: Outline, style: EyeStyle, mount: Mount) -> None:
    """A wing at the outer corner, which comes down with the lid."""
    (corner_x, corner_y), (lid_x, lid_y) = opening.anchors[:2]
    out = style.lashes
    tip = (corner_x + side * out, corner_y - 0.75 * out)
    wing = Outline(
        (
            (lid_x, lid_y),
            ((lid_x + corner_x) / 2 + side * 3.5, (lid_y + corner_y) / 2 - 5),
            tip,
            (corner_x, corner_y + 2),
        ),
        frozenset({0, 2, 3}),
    )
    down = 0.9 * style.high
    sketch.fill(
        f"lashes{side}",
        wing,
        "lash",
        mount,
        moves={
            "blink": {
                0: (0.0, 1.25 * style.high),
                1: (0.0, down),
                2: (0.0, down),
                3: (0.0, 0.22 * style.high),
            },
            "look_y": {0: (0.0, 2.8)},
        },
    )
