"""The limit on thinking."""

from duologue.sessions.chat.thinking_budget import MAX_CLOSINGS, THINKING_TOKENS, ThinkingBudget


def test_a_thought_as_long_as_it_may_be_is_at_its_limit():
    limit = ThinkingBudget(3, "</think>")
    assert not limit.reached("a b", 2)
    assert limit.reached(" c", 3)
    assert limit.text == "a b c"


def test_without_a_limit_a_thought_may_go_on_and_is_known_when_it_is_ended():
    limit = ThinkingBudget(None, "</think>")
    assert not limit.reached("a very long thought", 10_000)
    assert limit.text == "a very long thought"


def test_a_model_that_thinks_again_every_time_is_let_go_in_the_end():
    limit = ThinkingBudget(1, "</think>")
    for _ in range(MAX_CLOSINGS):
        assert limit.reached("x", 1)
        limit.closed("</think>")
    assert not limit.reached("x", 1)


def test_more_effort_is_more_thought():
    assert THINKING_TOKENS["low"] < THINKING_TOKENS["medium"] < THINKING_TOKENS["high"]
