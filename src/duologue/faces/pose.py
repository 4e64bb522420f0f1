"""What a pose makes of a look: the points of its shapes. The page has the same arithmetic in TypeScript (`web/src/voice/face/pose.ts`);
one file of examples tests both.

A pose is weights by name. Of the mouth: `open`, `wide`, `round`, `press`, `tuck`, `tongue` (0 to 1). Of the rest of the face: `smile`,
`blink`, `brow` (up; negative: down), `look_x`, `look_y` (-1 to 1), `turn`, `nod`, `tilt` (-1 to 1), `breath` (0 to 1).

Directions are those of the picture: `look_x` and `turn` are positive towards its right edge, `look_y` and `nod` towards its lower edge, and a
positive `tilt` leans the head clockwise.
"""

from __future__ import annotations

from collections.abc import Mapping

from duologue.faces.look import Shape
from duologue.values.mouth import Mouth

Pose = Mapping[str, float]

PARTS = (
    *("open", "wide", "round", "press", "tuck", "tongue"),
    *("smile", "blink", "brow", "look_x", "look_y", "turn", "nod", "tilt", "breath"),
)


def mouth_pose(mouth: Mouth) -> dict[str, float]:
    """The parts of a pose that a mouth decides."""
    return {
        "open": mouth.open,
        "wide": max(0.0, mouth.wide),
        "round": max(0.0, -mouth.wide),
        "press": mouth.press,
        "tuck": mouth.tuck,
        "tongue": mouth.tongue,
    }


def posed(shape: Shape, pose: Pose) -> list[float]:
    """The shape's points in this pose: x, y, x, y ..."""
    points = list(shape.points)
    for name, deltas in shape.moves.items():
        if weight := pose.get(name, 0.0):
            for at, delta in enumerate(deltas):
                points[at] += weight * delta
    return points
