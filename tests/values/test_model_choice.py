"""Which model answers: the same table as web/tests/chat/model_choice.test.ts."""

import pytest

from duologue.values.model_choice import ModelChoice, choose_model


@pytest.mark.parametrize(
    ("own", "own_state", "preferred", "preferred_state", "may_load", "expected"),
    [
        ("", "gone", "", "gone", True, ModelChoice()),
        ("big", "usable", "other", "usable", False, ModelChoice("big")),
        ("big", "unloaded", "", "gone", True, ModelChoice("big", load=True)),
        ("big", "unloaded", "", "gone", False, ModelChoice(wanted="big", reason="unloaded")),
        ("big", "failed", "", "gone", True, ModelChoice(wanted="big", reason="failed")),
        ("big", "gone", "other", "usable", True, ModelChoice(wanted="big", reason="gone")),
        ("", "gone", "other", "usable", False, ModelChoice("other")),
        ("", "gone", "other", "unloaded", True, ModelChoice()),
        ("", "gone", "other", "gone", True, ModelChoice()),
    ],
)
def test_a_choice_that_can_answer_does_and_another_is_loaded_or_falls_back(
    own, own_state, preferred, preferred_state, may_load, expected
):
    assert choose_model(own, own_state, preferred, preferred_state, may_load=may_load) == expected
