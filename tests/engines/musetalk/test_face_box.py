"""Where the face is, by points that a person has set."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.tiny_video import FACE

from duologue.engines.musetalk.face_box import (
    MARGIN,
    SMALLEST,
    Box,
    area_box,
    blur_sigma,
    face_box,
    jaw_outline,
)
from duologue.errors import BadRequest
from duologue.values.avatars import Point


def test_the_middle_of_the_box_is_the_bridge_of_the_nose_and_its_end_the_chin():
    box = face_box(FACE, 400, 400)
    # The eyes are at 160, the lips at 272, the chin at 340.
    assert (box.top + box.bottom - MARGIN) / 2 == pytest.approx(160 + 112 / 3, abs=1)
    assert box.bottom == 340 + MARGIN
    assert [box.left, box.right] == pytest.approx([88, 312], abs=1)


def test_a_face_at_the_edge_is_cut_off_there():
    low = msgspec.structs.replace(FACE, chin=Point(0.5, 0.995))
    assert face_box(low, 200, 200).bottom == 200


@pytest.mark.parametrize("chin", [0.6, 0.1])
def test_points_in_the_wrong_order_are_refused(chin):
    with pytest.raises(BadRequest, match="Set them again"):
        face_box(msgspec.structs.replace(FACE, chin=Point(0.5, chin)), 400, 400)


def test_a_face_of_a_few_pixels_is_refused():
    with pytest.raises(BadRequest, match="shows the face larger"):
        face_box(FACE, 40, 40)
    with pytest.raises(BadRequest, match="64 x 64"):
        area_box((0.1, 0.1, 0.2, 0.2), 64, 64)


def test_an_area_is_a_box_within_the_picture():
    assert area_box((-0.1, 0.25, 0.5, 1.5), 200, 100) == Box(0, 25, 100, 100)


@given(st.integers(SMALLEST, 900), st.integers(SMALLEST, 900))
def test_the_jaw_lies_in_the_lower_half_of_the_box(width, height):
    box = Box(10, 20, 10 + width, 20 + height)
    outline = jaw_outline(box)
    assert all(0 < x < width for x, _ in outline)
    assert all(height / 2 <= y < height for _, y in outline)
    assert outline[0][0] > outline[-1][0]


def test_the_blur_grows_with_the_face():
    assert 0 < blur_sigma(Box(0, 0, 40, 40)) < blur_sigma(Box(0, 0, 200, 200)) < 10
