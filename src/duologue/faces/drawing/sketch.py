"""A look while it is drawn: shapes in the order in which they are painted. Used by `faces/looks` and by the parts of faces beside this file."""

from __future__ import annotations

from collections.abc import Mapping

from duologue.faces.drawing.mount import Mount
from duologue.faces.drawing.outline import Outline, Point, Warp
from duologue.faces.look import Look, Shape

NECK_TOP, NECK_BOTTOM = 330.0, 404.0
"""Between these heights the neck follows the head less and less."""


class Sketch:
    def __init__(self) -> None:
        self._shapes: list[Shape] = []
        self._head: list[str] = []

    def fill(
        self,
        name: str,
        outline: Outline,
        colour: str,
        mount: Mount,
        *,
        opacity: float = 1.0,
        inside: str = "",
        shade: str = "",
        moves: Mapping[str, Warp] | None = None,
    ) -> None:
        """Paints an area. `moves`: what parts of a pose do to it beside the motion of the head."""
        self._add(
            Shape(
                name,
                outline.steps(),
                outline.points(),
                fill=colour,
                opacity=opacity,
                inside=inside,
                shade=shade,
                moves=_moves(outline, mount, moves or {}),
            ),
            mount,
        )

    def line(
        self,
        name: str,
        outline: Outline,
        colour: str,
        width: float,
        mount: Mount,
        *,
        opacity: float = 1.0,
        inside: str = "",
        shade: str = "",
        moves: Mapping[str, Warp] | None = None,
    ) -> None:
        """Paints a line with round ends."""
        self._add(
            Shape(
                name,
                outline.steps(),
                outline.points(),
                stroke=colour,
                width=width,
                opacity=opacity,
                inside=inside,
                shade=shade,
                moves=_moves(outline, mount, moves or {}),
            ),
            mount,
        )

    def neck(
        self, name: str, outline: Outline, colour: str, *, opacity: float = 1.0, inside: str = ""
    ) -> None:
        """Paints an area whose top follows the head and whose bottom the shoulders."""

        def follow(part: str) -> Warp:
            def warp(x: float, y: float) -> Point:
                share = min(1.0, max(0.0, (NECK_BOTTOM - y) / (NECK_BOTTOM - NECK_TOP)))
                return Mount(0.15, follows=share, breath=1.0 - 0.3 * share).moves(x, y)[part]

            return warp

        moves = {part: outline.moved(follow(part)) for part in ("turn", "nod", "tilt", "breath")}
        self._add(
            Shape(
                name,
                outline.steps(),
                outline.points(),
                fill=colour,
                opacity=opacity,
                inside=inside,
                moves=moves,
            ),
            Mount(),
        )

    def look(self, name: str, title: str, light: Mapping[str, str], dark: Mapping[str, str]) -> Look:
        """The finished look. `dark` names the colours that differ from `light`."""
        colours = {"light": dict(light), "dark": {**light, **dark}}
        return Look(name, title, colours, tuple(self._shapes), tuple(self._head))

    def _add(self, shape: Shape, mount: Mount) -> None:
        self._shapes.append(shape)
        if mount.follows > 0:
            self._head.append(shape.id)


def _moves(outline: Outline, mount: Mount, own: Mapping[str, Warp]) -> dict[str, tuple[float, ...]]:
    """What each part of a pose adds to the points of the outline; parts that add nothing are left out."""
    moves = {
        part: outline.points([mount.moves(x, y)[part] for x, y in outline.anchors])
        for part in ("turn", "nod", "tilt", "breath")
    }
    for part, warp in own.items():
        added = outline.moved(warp)
        moves[part] = (
            tuple(one + other for one, other in zip(moves[part], added, strict=True))
            if part in moves
            else added
        )
    return {part: deltas for part, deltas in moves.items() if any(deltas)}
