"""The look rowan: it can be drawn, speaks and moves."""

from __future__ import annotations

from tests.support import look_checks

from duologue.faces.looks.rowan import rowan


def test_it_can_be_drawn_in_both_themes() -> None:
    look_checks.check_drawable(rowan())
    look_checks.check_stays_in_the_square(rowan())


def test_each_kind_of_sound_draws_another_mouth() -> None:
    look_checks.check_speaks(rowan())


def test_eyes_head_and_breath_move() -> None:
    look_checks.check_moves(rowan())
