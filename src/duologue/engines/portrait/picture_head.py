"""The head in a picture: where each pixel of a frame comes from when the head turns, nods, tilts and breathes.

Used by `picture_painter.py`, in the engine's thread. What full weights move is computed once (after
`web/src/voice/face/picture/warp.ts`); a pose adds it up, and is kept until the next one, as a head moves in every second frame only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

TURN, NOD, TILT, BREATH = 0.13, 0.1, 0.1, -0.05
"""In eye distances, the tilt in radians."""
PARTS = ("turn", "nod", "tilt", "breath")
EDGE = 0.05
"""A strip at the frame's edges, as a fraction of it, in which nothing moves."""
LEAST = 0.002
"""Weights below this move nothing that could be seen."""


class FaceAxes(NamedTuple):
    """In pixels: the middles of the eyes and the lips."""

    left_eye: tuple[float, float]
    right_eye: tuple[float, float]
    lips: tuple[float, float]


class HeadField:
    """`pose` first, then `x` and `y`: arrays (size, size) of the places in the picture that the frame's pixels come from."""

    def __init__(self, axes: FaceAxes, size: int, np: Any) -> None:
        self._np = np
        left, right, lips = (np.array(place, np.float64) for place in axes)
        distance = max(2.0, float(np.hypot(*(right - left))))
        along = (right - left) / distance
        down = np.array((-along[1], along[0]))
        middle = ((left + right) / 2 + lips) / 2
        self._rest = np.meshgrid(np.arange(size, dtype=np.float32), np.arange(size, dtype=np.float32))
        x, y = self._rest[0] - middle[0], self._rest[1] - middle[1]
        face_x = (x * along[0] + y * along[1]) / distance
        face_y = (x * down[0] + y * down[1]) / distance
        sides = np.minimum.reduce(
            [self._rest[0], self._rest[1], size - 1 - self._rest[0], size - 1 - self._rest[1]]
        )
        free = _smooth(sides / (EDGE * size), np) * distance
        self._fields = {}
        for name, (aside, sink) in _moves(face_x, face_y, np).items():
            moved = np.stack([aside * along[0] + sink * down[0], aside * along[1] + sink * down[1]]) * free
            self._fields[name] = moved.astype(np.float32)
        self._weights: tuple[float, ...] = (0.0,) * len(PARTS)
        self.x, self.y = self._rest

    def pose(self, pose: Mapping[str, float]) -> bool:
        """Take the head's pose. Whether it is another one than before."""
        weights = tuple(_weight(pose.get(name, 0.0)) for name in PARTS)
        if weights == self._weights:
            return False
        self._weights = weights
        np = self._np
        moved = np.zeros((2, *self._rest[0].shape), np.float32)
        for name, weight in zip(PARTS, weights, strict=True):
            if weight:
                moved += np.float32(weight) * self._fields[name]
        # The movements are small and smooth, so what moved away from a place tells what moved to it.
        self.x, self.y = self._rest[0] - moved[0], self._rest[1] - moved[1]
        return True

    @property
    def rests(self) -> bool:
        return not any(self._weights)

    def reached(self, box: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
        """The box of the frame in which everything of this box of the picture is now."""
        if self.rests:
            return box
        x0, y0, x1, y1 = box
        size = self.x.shape[0]
        shift_x = self._rest[0][y0:y1, x0:x1] - self.x[y0:y1, x0:x1]
        shift_y = self._rest[1][y0:y1, x0:x1] - self.y[y0:y1, x0:x1]
        # One pixel more: between pixels, too.
        return (
            max(0, x0 + int(min(0.0, float(shift_x.min())) - 1)),
            max(0, y0 + int(min(0.0, float(shift_y.min())) - 1)),
            min(size, x1 + int(max(0.0, float(shift_x.max())) + 2)),
            min(size, y1 + int(max(0.0, float(shift_y.max())) + 2)),
        )


def _weight(value: float) -> float:
    value = max(-1.0, min(1.0, value))
    return value if abs(value) >= LEAST else 0.0


def _moves(face_x: Any, face_y: Any, np: Any) -> dict[str, tuple[Any, Any]]:
    """What a full weight of each part moves, along the eyes and down the face, in eye distances."""
    depth = np.exp(-((face_x / 1.5) ** 2) - ((face_y + 0.1) / 2) ** 2)
    depth += 0.35 * np.exp(-((face_x / 0.35) ** 2) - ((face_y - 0.05) / 0.4) ** 2)
    # The head tilts around the neck, about two eye distances below the middle of the face.
    head = np.exp(
        -((face_x / 2.2) ** 4) - (np.maximum(0, face_y) / 1.9) ** 4 - (np.minimum(0, face_y) / 3) ** 4
    )
    chest = _smooth((face_y - 1.2) / 1.5, np) * np.exp(-((face_x / 5) ** 2))
    nothing = np.zeros_like(face_x)
    return {
        "turn": (TURN * depth, nothing),
        "nod": (nothing, NOD * depth),
        "tilt": (TILT * (2 - face_y) * head, TILT * face_x * head),
        "breath": (nothing, BREATH * chest),
    }


def _smooth(share: Any, np: Any) -> Any:
    share = np.clip(share, 0, 1)
    return share * share * (3 - 2 * share)
