"""The look mira: it can be drawn, speaks and moves."""

from __future__ import annotations

from tests.support import look_checks

from duologue.faces.looks.mira import mira


def test_it_can_be_drawn_in_both_themes() -> None:
    look_checks.check_drawable(mira())
    look_checks.check_stays_in_the_square(mira())


def test_each_kind_of_sound_draws_another_mouth() -> None:
    look_checks.check_speaks(mira())


def test_eyes_head_and_breath_move() -> None:
    look_checks.check_moves(mira())
