"""A mouth: lips, the dark inside with teeth and tongue, and how each part of a pose moves them.

All of it is drawn around the middle of the closed lips in units of half a mouth's width of 34, and scaled by the style.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from duologue.faces.drawing.mount import head
from duologue.faces.drawing.outline import CENTRE, Outline, Point, curve
from duologue.faces.drawing.sketch import Sketch

DEPTH = 0.66
MODEL = 34.0


class MouthStyle(Struct, frozen=True):
    """`wide`: half the width of the closed mouth. `upper` and `lower`: heights of the lips, as fractions of the usual ones; 0 draws none.
    `jaw`: how far it opens, as a fraction of the usual. `bend`: how far the corners are above the middle of the closed lips."""

    wide: float = 34.0
    upper: float = 1.0
    lower: float = 1.0
    jaw: float = 1.0
    bend: float = 5.0
    line: float = 3.0
    lip_opacity: float = 1.0
    fangs: bool = False


# What full weights add to places of the model, as (x outwards, y down): the corner, the places at half the width, and the middle.
_Row = tuple[Point, Point, Point]
_INNER_UPPER: Mapping[str, _Row] = {
    "open": ((-4, 7), (0, -1), (0, -3)),
    "wide": ((11, -1), (5, 0), (0, 0)),
    "round": ((-17, 1), (-6, -3), (0, -5)),
    "press": ((5, 1), (2, 1), (0, 0)),
    "tuck": ((1, 0), (0, -7), (0, -8)),
    "tongue": ((-1, 1), (0, -2), (0, -3)),
    "smile": ((8, -9), (5, -2), (0, 3)),
}
_INNER_LOWER: Mapping[str, _Row] = {
    "open": ((-4, 7), (3, 38), (0, 42)),
    "wide": ((11, -1), (5, 3), (0, 4)),
    "round": ((-17, 1), (-5, 9), (0, 9)),
    "press": ((5, 1), (2, 1), (0, 0)),
    "tuck": ((1, 0), (0, 0), (0, 1)),
    "tongue": ((-1, 1), (2, 9), (0, 9)),
    "smile": ((8, -9), (5, -1), (0, 4)),
}
_OUTER_UPPER: Mapping[str, _Row] = {
    "open": ((-4, 7), (0, -1), (0, -3)),
    "wide": ((11, -1), (6, 1), (0, 1.5)),
    "round": ((-16, 1), (-8, -5), (0, -7)),
    "press": ((5, 1), (2, 4), (0, 4.5)),
    "tuck": ((1, 0), (0, -6), (0, -7)),
    "tongue": ((-1, 1), (0, -2), (0, -3)),
    "smile": ((8, -9), (5, -1), (0, 3)),
}
_OUTER_LOWER: Mapping[str, _Row] = {
    "open": ((-4, 7), (5, 41), (0, 42)),
    "wide": ((11, -1), (6, 1), (0, 2)),
    "round": ((-16, 1), (-7, 11), (0, 11)),
    "press": ((5, 1), (2, -4), (0, -5)),
    "tuck": ((1, 0), (0, -3), (0, -4)),
    "tongue": ((-1, 1), (2, 9), (0, 9)),
    "smile": ((8, -9), (5, -1), (0, 3)),
}
_TEETH = {"open": 8.0, "wide": 5.0, "round": -7.0, "tuck": 4.0, "tongue": 3.0, "smile": 2.0}
_LOWER_TEETH = {"open": 35.0, "wide": 0.0, "round": 12.0, "tongue": 10.0}
_TONGUE = {"open": 22.0, "tongue": -13.0, "round": 4.0}


class _Model(Struct, frozen=True):
    """Puts places of the model into the look's square."""

    y: float
    style: MouthStyle

    @property
    def scale(self) -> float:
        return self.style.wide / MODEL

    def place(self, x: float, y: float) -> Point:
        return CENTRE + x * self.scale, self.y + y * self.scale

    def added(self, part: str, x: float, y: float) -> Point:
        jaw = self.style.jaw if part == "open" else 1.0
        return x * self.scale, y * self.scale * jaw

    def along(self, part: str, row: _Row) -> Callable[[float], Point]:
        """A row of moves as a function of the place across the mouth, -1 to 1. Rounded lips are a ring, and pressed ones
        straight: their corners come down from where the style has them at rest."""
        (corner_x, corner_y), half, middle = row
        corner_y += {"round": 0.8, "press": 0.45}.get(part, 0.0) * self.style.bend

        def at(place: float) -> Point:
            far = abs(place)
            edge = (corner_x, corner_y)
            one, other, share = (half, edge, 2 * far - 1) if far > 0.5 else (middle, half, 2 * far)
            x, y = one[0] + (other[0] - one[0]) * share, one[1] + (other[1] - one[1]) * share
            return self.added(part, x if place >= 0 else -x, y)

        return at


def draw_mouth(sketch: Sketch, y: float, style: MouthStyle) -> None:
    """Draws the mouth with its closed lips at `y`. Colours: `mouth`, `teeth`, `tongue`, `tongue_line`, `lip_upper`, `lip_lower`, `lip_line`,
    `lip_gleam`. What is inside of it is painted within the shape `mouth`."""
    model = _Model(y, style)
    bend = style.bend
    rest = {-1.0: -bend, -0.5: -0.2 * bend, 0.0: 0.0, 0.5: -0.2 * bend, 1.0: -bend}
    places = tuple(rest)
    upper_line = tuple((MODEL * place, rest[place]) for place in places)

    def moves(
        upper: Mapping[str, _Row], lower: Mapping[str, _Row], loop: tuple[float, ...]
    ) -> dict[str, dict[int, Point]]:
        """For a loop of places: first those of the upper edge, then those of the lower one."""
        edge = len(loop) // 2 + 1
        return {
            part: {
                at: model.along(part, (upper if at < edge else lower)[part])(place)
                for at, place in enumerate(loop)
            }
            for part in upper
        }

    loop = (*places, 0.5, 0.0, -0.5)
    inner = Outline(tuple(model.place(MODEL * place, rest[place]) for place in loop), frozenset({0, 4}))
    inner_moves = moves(_INNER_UPPER, _INNER_LOWER, loop)
    sketch.fill("mouth", inner, "mouth", head(DEPTH), moves=inner_moves)
    _draw_inside(sketch, model)
    if style.upper:
        _draw_lip(
            sketch, model, "lip_upper", rest, (_INNER_UPPER, _OUTER_UPPER), (-6.5, -8.5, -7.0), style.upper
        )
    if style.lower:
        _draw_lip(
            sketch, model, "lip_lower", rest, (_INNER_LOWER, _OUTER_LOWER), (9.0, 10.5, 12.5), style.lower
        )
        _draw_gleam(sketch, model)
    line = curve(*(model.place(*point) for point in upper_line))
    line_moves = {part: {at: warp[at] for at in range(5)} for part, warp in inner_moves.items()}
    sketch.line("lip_line", line, "lip_line", style.line, head(DEPTH), moves=line_moves)
    _draw_dimples(sketch, model)
    if not style.lower:
        lower = {
            part: {0: warp[0], 1: warp[7], 2: warp[6], 3: warp[5], 4: warp[4]}
            for part, warp in inner_moves.items()
        }
        sketch.line("jaw_line", line, "lip_line", 0.8 * style.line, head(DEPTH), moves=lower)


def _draw_inside(sketch: Sketch, model: _Model) -> None:
    mount = head(DEPTH)

    def rigid(down: Mapping[str, float], count: int) -> dict[str, dict[int, Point]]:
        return {part: {at: model.added(part, 0, y) for at in range(count)} for part, y in down.items()}

    tongue = Outline(
        tuple(model.place(x, y) for x, y in ((0, 9), (17, 14), (24, 34), (0, 48), (-24, 34), (-17, 14))),
        roundness=1.2,
    )
    groove = curve(model.place(0, 15), model.place(0, 32))
    lower = Outline(
        tuple(model.place(x, y) for x, y in ((-22, 4), (0, 6), (22, 4), (22, 22), (0, 24), (-22, 22))),
        frozenset({0, 2, 3, 5}),
    )
    sketch.fill(
        "lower_teeth", lower, "teeth", mount, opacity=0.85, inside="mouth", moves=rigid(_LOWER_TEETH, 6)
    )
    upper = Outline(
        tuple(
            model.place(x, y)
            for x, y in (
                (-34, -26),
                (34, -26),
                (31, -3),
                (24, 2.5),
                (12, 4),
                (0, 3.6),
                (-12, 4),
                (-24, 2.5),
                (-31, -3),
            )
        ),
        frozenset({0, 1}),
    )
    sketch.fill("teeth", upper, "teeth", mount, inside="mouth", moves=rigid(_TEETH, 9))
    if model.style.fangs:
        for side in (-1, 1):
            fang = Outline(
                tuple(model.place(side * x, y) for x, y in ((15, -2), (25, -2), (19.5, 13))),
                frozenset({0, 1, 2}),
            )
            sketch.fill(f"fang{side}", fang, "teeth", mount, inside="mouth", moves=rigid(_TEETH, 3))
    sketch.fill("tongue", tongue, "tongue", mount, inside="mouth", moves=rigid(_TONGUE, 6))
    sketch.line(
        "groove",
        groove,
        "tongue_line",
        3 * model.scale,
        mount,
        opacity=0.6,
        inside="mouth",
        moves=rigid(_TONGUE, 2),
    )


def _draw_lip(
    sketch: Sketch,
    model: _Model,
    name: str,
    rest: Mapping[float, float],
    tables: tuple[Mapping[str, _Row], Mapping[str, _Row]],
    heights: tuple[float, float, float],
    share: float,
) -> None:
    """A lip between the line where the lips meet and its outer edge, which is `heights` from it towards the corner, beside the middle and
    in the middle."""
    inner, outer = tables
    edge = {0.68: heights[0], 0.3: heights[1], 0.0: heights[2]}
    outside = (0.68, 0.3, 0.0, -0.3, -0.68)

    def resting(place: float) -> float:
        far = abs(place)
        return -model.style.bend * (0.4 * far if far < 0.5 else 0.2 + 1.6 * (far - 0.5))

    loop = [(MODEL * place, y) for place, y in rest.items()]
    loop[0], loop[-1] = (-MODEL - 2.5, rest[-1.0] - 0.5), (MODEL + 2.5, rest[1.0] - 0.5)
    loop += [(MODEL * place, resting(place) + share * edge[abs(place)]) for place in outside]
    tops = {part: model.along(part, row) for part, row in inner.items()}
    bottoms = {part: model.along(part, row) for part, row in outer.items()}
    moves: dict[str, dict[int, Point]] = {}
    for part in inner:
        moves[part] = {at: tops[part](place) for at, place in enumerate(rest)}
        moves[part] |= {5 + at: bottoms[part](place) for at, place in enumerate(outside)}
    outline = Outline(tuple(model.place(*point) for point in loop), frozenset({0, 4}))
    sketch.fill(name, outline, name, head(DEPTH), opacity=model.style.lip_opacity, moves=moves)


def _draw_gleam(sketch: Sketch, model: _Model) -> None:
    """Light on the lower lip."""
    gleam = curve(model.place(-9, 6.5), model.place(0, 7.5), model.place(9, 6.5))
    moves: dict[str, dict[int, Point]] = {}
    for part, row in _OUTER_LOWER.items():
        across = model.along(part, row)
        moves[part] = {at: across(place) for at, place in enumerate((-0.25, 0.0, 0.25))}
    sketch.line(
        "lip_gleam",
        gleam,
        "lip_gleam",
        2.6 * model.scale,
        head(DEPTH),
        opacity=0.45 * model.style.lip_opacity,
        moves=moves,
    )


def _draw_dimples(sketch: Sketch, model: _Model) -> None:
    """Small folds beside lips that are pressed together."""
    for side in (-1, 1):
        x, y = side * (MODEL + 9.0), 1.0 - model.style.bend
        fold = curve(
            *(model.place(x + side * out, y + down) for out, down in ((0.0, -8.0), (3.0, 0.0), (0.0, 8.0)))
        )
        sketch.line(
            f"dimple{side}",
            fold,
            "lip_line",
            0.85 * model.style.line,
            head(DEPTH),
            opacity=0.4,
            shade="press",
        )
