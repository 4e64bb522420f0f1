"""Smooth outlines: through their anchors, closed or open, and linear in what moves them."""

from __future__ import annotations

from math import hypot

import pytest

from duologue.faces.drawing.outline import Outline, curve, ellipse, flipped, mirrored


def test_a_curve_passes_through_its_anchors() -> None:
    outline = Outline(((0, 0), (10, 0), (10, 10)))
    points = outline.points()
    assert outline.steps() == ("M", "C", "C", "C", "Z")
    assert points[:2] == (0, 0)
    assert points[6:8] == (10, 0)
    assert points[-2:] == (0, 0)


def test_four_anchors_make_a_circle() -> None:
    points = ellipse(0, 0, 10, 10).points()
    # The middle of the first arc, which is a cubic curve.
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = zip(points[0:8:2], points[1:8:2], strict=True)
    assert hypot((x0 + 3 * x1 + 3 * x2 + x3) / 8, (y0 + 3 * y1 + 3 * y2 + y3) / 8) == pytest.approx(
        10, abs=0.05
    )


def test_at_a_corner_the_curve_changes_direction() -> None:
    points = Outline(((0, 0), (9, 0), (9, 9)), frozenset({1})).points()
    assert points[4:10] == (6, 0, 9, 0, 9, 3) or points[5] == 0
    assert points[8:10] == (9, 3)


def test_an_open_curve_has_one_step_fewer_and_no_end_tangents() -> None:
    outline = curve((0, 0), (9, 0), (18, 9))
    assert outline.steps() == ("M", "C", "C")
    assert outline.points()[2:4] == (3, 0)


def test_moves_of_anchors_are_moves_of_all_points() -> None:
    outline = Outline(((0, 0), (10, 0), (10, 10), (0, 10)))
    lifted = outline.moved(lambda x, y: (0.0, -3.0))
    assert set(lifted[1::2]) == {-3.0}
    assert not any(lifted[0::2])
    one = outline.moved({2: (6.0, 0.0)})
    moved = Outline(((0, 0), (10, 0), (16, 10), (0, 10))).points()
    assert moved == pytest.approx([base + delta for base, delta in zip(outline.points(), one, strict=True)])


def test_half_an_outline_becomes_a_whole_one() -> None:
    whole = mirrored(((256, 0), (300, 10), (256, 20)), corners=(1,))
    assert whole.anchors == ((256, 0), (300, 10), (256, 20), (212, 10))
    assert whole.corners == {1, 3}
    assert flipped(whole).anchors[1] == (212, 10)
