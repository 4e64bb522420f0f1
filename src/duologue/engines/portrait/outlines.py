"""The outlines of a look's shapes in any pose, as polygons.

Points of a curve are sums of its control points, and those are sums of what each part of a pose adds. So the polygons of all shapes are one
product of the pose's weights and a matrix that is computed once. Used by `look_painter.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from duologue.faces.look import Look, Shape
from duologue.faces.pose import PARTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEP = 5.0
"""Units of the look between two points of a curve's polygon,"""
FEWEST, MOST = 3, 14
"""and how many a curve has at least and at most."""


class Outlines:
    """The polygons of a look. `moving[n]`: which parts of a pose move shape `n`, as places in PARTS; `reach[p]`: the largest distance that
    part `p` moves any point, in units of the look."""

    def __init__(self, look: Look) -> None:
        import numpy as np

        self._np = np
        blocks: list[Any] = []
        self._parts: list[tuple[tuple[int, int], ...]] = []
        self.closed: list[bool] = []
        self.moving: list[tuple[int, ...]] = []
        total = 0
        for shape in look.shapes:
            subpaths = _subpaths(shape)
            weights, lengths = _flattening(shape, subpaths, np)
            moved = [np.asarray(shape.points, float).reshape(-1, 2)]
            moved += [
                np.asarray(shape.moves.get(part, (0.0,) * len(shape.points)), float).reshape(-1, 2)
                for part in PARTS
            ]
            # points of the polygon x (1 + parts) x 2
            blocks.append(np.einsum("fp,mpc->mfc", weights, np.stack(moved)))
            spans = []
            for length in lengths:
                spans.append((total, total + length))
                total += length
            self._parts.append(tuple(spans))
            self.moving.append(tuple(at for at, part in enumerate(PARTS) if part in shape.moves))
        matrix = np.concatenate(blocks, axis=1)
        self._matrix = matrix.reshape(len(PARTS) + 1, -1).astype(np.float32)
        self.reach = [float(np.hypot(*one.T).max(initial=0.0)) for one in matrix[1:]]

    def posed(self, weights: list[float]) -> NDArray[Any]:
        """All points in this pose (weights in the order of PARTS), x and y in units of the look."""
        vector = self._np.asarray([1.0, *weights], self._np.float32)
        points: NDArray[Any] = (vector @ self._matrix).reshape(-1, 2)
        return points

    def spans(self, shape: int) -> tuple[tuple[int, int], ...]:
        """Where the subpaths of this shape are among the points."""
        return self._parts[shape]


def _subpaths(shape: Shape) -> list[list[tuple[int, ...]]]:
    """The pieces of each subpath, as places of their points: two of a line, four of a curve."""
    subpaths: list[list[tuple[int, ...]]] = []
    at = start = 0
    for step in shape.steps:
        match step:
            case "M":
                subpaths.append([])
                start = at
                at += 1
            case "L":
                subpaths[-1].append((at - 1, at))
                at += 1
            case "C":
                subpaths[-1].append((at - 1, at, at + 1, at + 2))
                at += 3
            case "Z":
                subpaths[-1].append((at - 1, start))
    return subpaths


def _flattening(shape: Shape, subpaths: list[list[tuple[int, ...]]], np: Any) -> tuple[Any, list[int]]:
    """The weights of the control points in each point of the polygons, and how many points each subpath has."""
    points = np.asarray(shape.points, float).reshape(-1, 2)
    rows: list[Any] = []
    lengths: list[int] = []
    for pieces in subpaths:
        before = len(rows)
        first = np.zeros(len(points))
        first[pieces[0][0] if pieces else 0] = 1.0
        rows.append(first)
        for piece in pieces:
            rows += _piece(points, piece, np)
        lengths.append(len(rows) - before)
    return np.stack(rows), lengths


def _piece(points: Any, piece: tuple[int, ...], np: Any) -> list[Any]:
    if len(piece) == 2:
        row = np.zeros(len(points))
        row[piece[1]] = 1.0
        return [row]
    control = points[list(piece)]
    length = float(np.hypot(*(control[1:] - control[:-1]).T).sum())
    count = max(FEWEST, min(MOST, round(length / STEP)))
    rows = []
    for number in range(1, count + 1):
        t = number / count
        row = np.zeros(len(points))
        for place, weight in zip(
            piece, ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3), strict=True
        ):
            row[place] += weight
        rows.append(row)
    return rows
