"""Where the face is that MuseTalk draws, and how what it drew is blended in. Pure.

The official scripts find 68 points with a detector and the parts of the face with another network. A person has set our points by hand,
once, and the rest follows from the proportions of a face. Used by `face_picture` and `prepared_avatar`.
"""

from __future__ import annotations

import math

from msgspec import Struct

from duologue.errors import BadRequest
from duologue.values.avatars import Landmarks, Point

SMALLEST = 32
"""Pixels of the smallest face that can be drawn."""
MARGIN = 10
"""Pixels below the chin that belong to the face (`extra_margin` of version 1.5)."""
PIVOT = 1 / 3
"""How far the lower bridge of the nose (point 29 of 68) lies from the eyes to the lips."""
BESIDE = 0.2
"""How far the face goes on beside the outer corners of the eyes, of the distance between them."""
AROUND = 1.5
"""The square around the face in which the blur is measured, of the face's longer side."""
SOFTNESS = 0.1
"""The blur of the mask, of the square's side: that of prepared avatars."""
INSET = 1.5
"""Deviations of the blur that lie between the jaw's outline and the sides of the face, so that the blur fades out within it."""
OUTLINE = 24
"""Points of the jaw's outline."""


class Box(Struct, frozen=True):
    """A part of a picture, in pixels; `right` and `bottom` are outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top


def face_box(landmarks: Landmarks, width: int, height: int) -> Box:
    """The face in a picture of this size: its middle is the lower bridge of the nose, its end the chin. Raises BadRequest for points
    that are not those of a face, or of one too small."""
    outer = sorted((landmarks.left_eye.outer.x, landmarks.right_eye.outer.x))
    eyes = (_middle(landmarks.left_eye.outer, landmarks.left_eye.inner).y, _middle(landmarks.right_eye.outer, landmarks.right_eye.inner).y)  # fmt: skip
    eye_line = sum(eyes) / 2
    if not eye_line < landmarks.lips.y < landmarks.chin.y or outer[0] >= outer[1]:
        raise BadRequest(
            "The points on the avatar's face are not in order: the eyes must be above the lips, and the lips above the chin. Set them again.",
            param="landmarks",
        )
    pivot = (eye_line + (landmarks.lips.y - eye_line) * PIVOT) * height
    bottom = landmarks.chin.y * height
    beside = (outer[1] - outer[0]) * BESIDE
    return checked_box(
        Box(
            math.floor((outer[0] - beside) * width),
            math.floor(pivot - (bottom - pivot)),
            math.ceil((outer[1] + beside) * width),
            math.ceil(bottom) + MARGIN,
        ),
        width,
        height,
    )


def area_box(area: tuple[float, float, float, float], width: int, height: int) -> Box:
    """The face that was found by other means: left, top, right and bottom in fractions. Raises as `face_box`."""
    left, top, right, bottom = area
    box = Box(
        math.floor(left * width),
        math.floor(top * height),
        math.ceil(right * width),
        math.ceil(bottom * height),
    )
    return checked_box(box, width, height)


def checked_box(box: Box, width: int, height: int) -> Box:
    """The part of the box within the picture. Raises BadRequest where too little is left."""
    box = Box(max(0, box.left), max(0, box.top), min(width, box.right), min(height, box.bottom))
    if min(box.width, box.height) < SMALLEST:
        raise BadRequest(
            f"The face in the avatar's picture is smaller than {SMALLEST} pixels once the picture is scaled to {width} x {height}. Use a picture "
            "that shows the face larger.",
            param="landmarks",
        )
    return box


def jaw_outline(box: Box) -> list[tuple[float, float]]:
    """The lower half of the face as a polygon, in pixels from the box's upper left corner: from ear to ear around the chin."""
    middle, pivot = box.width / 2, box.height / 2
    sigma = blur_sigma(box)
    # A box that is no face's shape has a blur wider than itself.
    half = max(middle / 2, middle - INSET * sigma)
    depth = max(pivot / 2, pivot - sigma)
    return [
        (
            middle + math.cos(math.pi * number / OUTLINE) * half,
            pivot + math.sin(math.pi * number / OUTLINE) * depth,
        )
        for number in range(OUTLINE + 1)
    ]


def blur_sigma(box: Box) -> float:
    """The deviation in pixels of the Gaussian blur of the mask, as OpenCV derives it from the official size of its kernel."""
    side = 2 * int(max(box.width, box.height) // 2 * AROUND)
    kernel = int(SOFTNESS * side // 2 * 2) + 1
    return 0.3 * ((kernel - 1) * 0.5 - 1) + 0.8


def _middle(one: Point, other: Point) -> Point:
    return Point((one.x + other.x) / 2, (one.y + other.y) / 2)
