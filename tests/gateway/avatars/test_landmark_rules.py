"""Landmarks that cannot be those of a face are a sentence."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tests.support.vrm_file import PORTRAIT_LANDMARKS

from duologue.errors import BadRequest
from duologue.gateway.avatars.landmark_rules import read_landmarks


def changed(**points: Any) -> dict[str, Any]:
    """The portrait's landmarks with others instead; an eye's point as `left_eye_outer`."""
    marks = copy.deepcopy(PORTRAIT_LANDMARKS)
    for name, point in points.items():
        eye, _, part = name.rpartition("_")
        if eye in ("left_eye", "right_eye"):
            marks[eye][part] = point
        else:
            marks[name] = point
    return marks


def test_landmarks_of_a_face_are_read() -> None:
    marks = read_landmarks(PORTRAIT_LANDMARKS)
    assert (marks.left_eye.inner.x, marks.chin.y) == (214 / 480, 404 / 480)


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        (changed(chin=[0.5, 1.2]), "outside the picture"),
        (changed(left_eye_upper=[-0.01, 0.4]), "outside the picture"),
        (changed(mouth_right=PORTRAIT_LANDMARKS["mouth_left"]), "on each other"),
        (changed(mouth_left=[0.9, 0.6]), "exchanged"),
        (
            changed(left_eye=PORTRAIT_LANDMARKS["right_eye"], right_eye=PORTRAIT_LANDMARKS["left_eye"]),
            "exchanged",
        ),
        (changed(chin=[0.5]), "incomplete"),
        (changed(chin="low"), "incomplete"),
        ({}, "incomplete"),
    ],
)
def test_others_are_refused(marks: dict[str, Any], said: str) -> None:
    with pytest.raises(BadRequest, match=said) as caught:
        read_landmarks(marks)
    assert caught.value.code == "landmarks_invalid"
