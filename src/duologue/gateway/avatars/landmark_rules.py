"""Whether landmarks can be those of a face. Pure; used by `library`, for what clients send."""

from __future__ import annotations

from typing import Any

import msgspec

from duologue.errors import BadRequest
from duologue.values.avatars import Landmarks, Point

NEAR = 0.004
"""Of the picture's width or height: points that must differ are further apart."""


def read_landmarks(value: dict[str, Any]) -> Landmarks:
    """Landmarks from JSON: points as `[x, y]`, eyes as objects of points. Raises BadRequest (`landmarks_invalid`)."""
    try:
        marks = msgspec.convert(value, Landmarks)
    except msgspec.ValidationError as error:
        raise _invalid(f"They are incomplete ({error}).") from None
    eyes = (marks.left_eye, marks.right_eye)
    points = [point for eye in eyes for point in (eye.outer, eye.inner, eye.upper, eye.lower)]
    mouth = (marks.mouth_left, marks.mouth_right, marks.mouth_top, marks.mouth_bottom, marks.lips)
    if not all(0 <= point.x <= 1 and 0 <= point.y <= 1 for point in (*points, *mouth, marks.chin)):
        raise _invalid("A point lies outside the picture: x and y are fractions from 0 to 1.")
    pairs = [(eye.outer, eye.inner) for eye in eyes]
    pairs += [
        (marks.mouth_left, marks.mouth_right),
        (marks.mouth_top, marks.mouth_bottom),
        (marks.lips, marks.chin),
        (marks.left_eye.inner, marks.right_eye.inner),
    ]
    if any(_is_near(one, other) for one, other in pairs):
        raise _invalid("Two points lie on each other.")
    if marks.left_eye.inner.x > marks.right_eye.inner.x or marks.mouth_left.x > marks.mouth_right.x:
        raise _invalid("Left and right are exchanged: both are meant as seen in the picture.")
    return marks


def _is_near(one: Point, other: Point) -> bool:
    return abs(one.x - other.x) < NEAR and abs(one.y - other.y) < NEAR


def _invalid(why: str) -> BadRequest:
    return BadRequest(f"These landmarks cannot be used. {why}", code="landmarks_invalid", param="landmarks")
