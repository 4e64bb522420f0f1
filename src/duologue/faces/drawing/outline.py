"""Smooth outlines through a few points. Used by everything that draws a look.

The curve is linear in its anchors, so a move of anchors is a move of the curve's points: that is why poses of a look can be added up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import cos, pi, sin

from msgspec import Struct

from duologue.faces.look import Step

Point = tuple[float, float]
Warp = Callable[[float, float], Point] | Mapping[int, Point]
"""How far anchors move: by their place, or by their number (those that are missing stay)."""

CIRCLE = 1.65687
"""The roundness with which four anchors make a circle."""
CENTRE = 256.0


class Outline(Struct, frozen=True):
    """A curve through `anchors` (units of the look's square). At anchors whose number is in `corners` it changes direction. `roundness`:
    how far it swings between two anchors; 1 is a Catmull-Rom spline, 0 a polygon."""

    anchors: tuple[Point, ...]
    corners: frozenset[int] = frozenset()
    closed: bool = True
    roundness: float = 1.08

    def steps(self) -> tuple[Step, ...]:
        curves: list[Step] = ["C"] * (len(self.anchors) if self.closed else len(self.anchors) - 1)
        return ("M", *curves, "Z") if self.closed else ("M", *curves)

    def points(self, values: Sequence[Point] | None = None) -> tuple[float, ...]:
        """The curve's points, x, y, x, y ... `values` in place of the anchors: what a move adds to each of the curve's points."""
        anchors = self.anchors if values is None else values
        count = len(anchors)
        points = [*anchors[0]]
        for at in range(count if self.closed else count - 1):
            after = (at + 1) % count
            leaving, coming = self._tangent(anchors, at, 1), self._tangent(anchors, after, -1)
            (x, y), (to_x, to_y) = anchors[at], anchors[after]
            points += (x + leaving[0], y + leaving[1], to_x - coming[0], to_y - coming[1], to_x, to_y)
        return tuple(round(value, 2) + 0.0 for value in points)

    def moved(self, warp: Warp) -> tuple[float, ...]:
        """What `warp` adds to each of the curve's points."""
        if isinstance(warp, Mapping):
            return self.points([warp.get(at, (0.0, 0.0)) for at in range(len(self.anchors))])
        return self.points([warp(x, y) for x, y in self.anchors])

    def _tangent(self, anchors: Sequence[Point], at: int, way: int) -> Point:
        """The distance to the control point on one side of an anchor, `way` 1 for the side behind it."""
        count = len(anchors)
        is_end = not self.closed and at in (0, count - 1)
        if at in self.corners or is_end:
            one, other = (at, (at + 1) % count) if way > 0 else ((at - 1) % count, at)
            share = 1 / 3
        else:
            one, other = (at - 1) % count, (at + 1) % count
            share = self.roundness / 6
        return (anchors[other][0] - anchors[one][0]) * share, (anchors[other][1] - anchors[one][1]) * share


def ellipse(x: float, y: float, wide: float, high: float, lean: float = 0.0) -> Outline:
    """An ellipse with these radii, turned clockwise by `lean` degrees."""
    turn = lean * pi / 180
    directions = ((0.0, -1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0))
    return Outline(
        tuple(
            (x + wide * a * cos(turn) - high * b * sin(turn), y + wide * a * sin(turn) + high * b * cos(turn))
            for a, b in directions
        ),
        roundness=CIRCLE,
    )


def mirrored(
    half: Sequence[Point], *, corners: Sequence[int] = (), roundness: float = 1.08, axis: float = CENTRE
) -> Outline:
    """A closed outline by its right half, from the anchor on the axis at the top to the one on the axis at the bottom. `corners`: numbers
    in the half."""
    left = [(2 * axis - x, y) for x, y in reversed(half[1:-1])]
    last = len(half) - 1
    both = {*corners, *(2 * last - at for at in corners if 0 < at < last)}
    return Outline((*half, *left), frozenset(both), roundness=roundness)


def flipped(outline: Outline, axis: float = CENTRE) -> Outline:
    """The outline on the other side of the face."""
    return Outline(
        tuple((2 * axis - x, y) for x, y in outline.anchors),
        outline.corners,
        closed=outline.closed,
        roundness=outline.roundness,
    )


def curve(*anchors: Point, roundness: float = 1.08) -> Outline:
    """An open line."""
    return Outline(anchors, closed=False, roundness=roundness)
