"""How the shapes of a figure follow its head and its breath. Used by `Sketch`.

The head is a ball in front of the picture: what is nearer moves farther as it turns and nods, what is behind its axis moves the other way.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.faces.drawing.outline import Point

TURN = 26.0
"""How far the tip of the nose moves with a full turn, in units of the look's square."""
NOD = 17.0
TILT = 0.12
"""A full tilt in radians."""
PIVOT = (256.0, 404.0)
"""The lower end of the neck, about which the head tilts."""
BREATH = -4.5
"""How far a full breath moves the shoulders."""


class Mount(Struct, frozen=True):
    """Where a shape sits. `depth`: 1 at the tip of the nose, 0 at the axis of the head, negative behind it. `follows`: how much of the
    head's motion it takes part in, 0 for the shoulders; `breath`: how much of theirs."""

    depth: float = 0.0
    follows: float = 1.0
    breath: float = 0.7

    def moves(self, x: float, y: float) -> dict[str, Point]:
        """How far a point there moves with full weights of `turn`, `nod`, `tilt` and `breath`."""
        share = self.follows
        return {
            "turn": (TURN * self.depth * share, 0.0),
            "nod": (0.0, NOD * self.depth * share),
            "tilt": (-TILT * (y - PIVOT[1]) * share, TILT * (x - PIVOT[0]) * share),
            "breath": (0.0, BREATH * self.breath),
        }


def head(depth: float) -> Mount:
    return Mount(depth)


BODY = Mount(follows=0.0, breath=1.0)
STILL = Mount(follows=0.0, breath=0.0)
"""The background."""
