"""The head in a picture: where pixels come from when it moves."""

import numpy as np
import pytest

from duologue.engines.portrait.picture_head import FaceAxes, HeadField

SIZE = 120
AXES = FaceAxes((45.0, 50.0), (75.0, 50.0), (60.0, 80.0))


@pytest.fixture
def head() -> HeadField:
    return HeadField(AXES, SIZE, np)


def test_a_pose_is_computed_once(head):
    assert not head.pose({"open": 1.0})
    assert head.rests
    assert head.pose({"turn": 0.5})
    assert not head.pose({"turn": 0.5, "open": 1.0})
    assert head.pose({})
    assert head.rests


def test_a_turned_head_comes_from_beside_it_and_a_nodding_one_from_above(head):
    head.pose({"turn": 1.0})
    assert head.x[65, 60] < 60 - 2
    assert head.y[65, 60] == 65
    head.pose({"nod": 1.0})
    assert head.y[65, 60] < 65 - 2
    assert head.x[65, 60] == 60


def test_weights_end_at_one(head):
    head.pose({"turn": 1.0})
    most = head.x.copy()
    head.pose({"turn": 9.0})
    assert np.array_equal(head.x, most)


def test_a_box_reaches_as_far_as_its_picture_has_moved(head):
    box = (50, 60, 70, 90)
    assert head.reached(box) == box
    head.pose({"turn": 1.0, "nod": -1.0})
    x0, y0, x1, y1 = head.reached(box)
    assert (x0, y1) == (49, 92)
    assert 52 <= 70 + 2 < x1 < 80
    assert 50 < y0 < 59
