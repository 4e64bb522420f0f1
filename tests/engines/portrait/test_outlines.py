"""Outlines: polygons of the shapes in any pose."""

import pytest
from tests.support.simple_look import simple_look

from duologue.engines.portrait.outlines import Outlines
from duologue.faces import catalogue
from duologue.faces.pose import PARTS, posed


def test_a_polygon_goes_through_the_ends_of_its_curves():
    outlines = Outlines(simple_look())
    begin, end = outlines.spans(3)[0]
    points = outlines.posed([0.0] * len(PARTS))[begin:end]
    assert points[0].tolist() == [180, 340]
    assert points[-1].tolist() == [320, 340]
    # The middle of a cubic curve: an eighth of its ends and three eighths of the points between.
    assert points[:, 1].min() == pytest.approx(325, abs=0.3)


def test_what_moves_the_points_moves_the_polygon():
    look = catalogue.look("mira")
    outlines = Outlines(look)
    weights = [0.1 * (at % 7) for at in range(len(PARTS))]
    points = outlines.posed(weights)
    pose = dict(zip(PARTS, weights, strict=True))
    for at, shape in enumerate(look.shapes):
        begin, _ = outlines.spans(at)[0]
        assert points[begin].tolist() == pytest.approx(posed(shape, pose)[:2], abs=0.01)


def test_it_is_known_which_parts_move_a_shape_and_how_far():
    outlines = Outlines(simple_look())
    assert outlines.moving[2] == (PARTS.index("open"),)
    assert outlines.reach[PARTS.index("turn")] == 40
