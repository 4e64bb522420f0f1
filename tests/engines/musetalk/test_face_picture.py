"""Cutting faces out of pictures and blending what was drawn."""

import numpy

from duologue.engines.musetalk.face_box import Box
from duologue.engines.musetalk.face_picture import blended, cut_face, jaw_mask

BOX = Box(30, 20, 90, 110)


def test_the_face_is_cut_out_as_a_square():
    frame = numpy.zeros((120, 120, 3), numpy.uint8)
    frame[20:110, 30:90] = 200
    assert (cut_face(frame, BOX, 32) == 200).all()
    assert cut_face(frame, BOX, 32).shape == (32, 32, 3)


def test_the_mask_shows_the_jaw_with_soft_edges():
    mask = jaw_mask(BOX)
    assert mask.shape == (90, 60, 1)
    assert mask[70, 30] > 0.99
    assert (mask[:30] == 0).all()
    assert mask[45:, 0].max() < 0.2
    assert ((mask > 0.2) & (mask < 0.8)).any()


def test_what_the_mask_does_not_reach_stays_exactly_as_it_is():
    frame = numpy.random.default_rng(1).integers(0, 255, (120, 120, 3), numpy.uint8)
    before = frame.copy()
    made = blended(frame, BOX, jaw_mask(BOX), numpy.full((32, 32, 3), 255, numpy.uint8))
    assert (frame == before).all()
    changed = (made != before).any(axis=2)
    assert changed[90, 60]
    reached = numpy.zeros_like(changed)
    reached[20:110, 30:90] = jaw_mask(BOX)[..., 0] > 0
    assert not (changed & ~reached).any()
    assert (made[90, 60] == 255).all()
