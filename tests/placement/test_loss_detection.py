"""How soon Ray notices a lost node."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duologue.placement.loss_detection import loss_detection


@given(st.floats(0.1, 3600))
def test_the_questions_take_about_as_long_as_the_setting_says(lost_s: float) -> None:
    told = loss_detection(lost_s)
    each = told["health_check_period_ms"] + told["health_check_timeout_ms"]
    assert abs(each * told["health_check_failure_threshold"] / 1000 - lost_s) <= 0.01
    assert min(told.values()) >= 1
