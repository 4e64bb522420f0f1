"""The judges of fresh draws: the generator's answer always passes, an answer to another question hardly ever."""

from random import Random

import pytest

from duologue_mini import skills
from duologue_mini.data.dialogues import answer_messages
from duologue_mini.evaluation import fresh_draws
from duologue_mini.evaluation.chat_model import ModelReply, parse_reply
from duologue_mini.evaluation.heldout import ToolCall
from duologue_mini.evaluation.judges import (
    Expected,
    ends_with,
    quotes_context,
    same_number,
    same_refusal,
    same_text,
)

LOOSE = {"scope": 0.95, "beyond": 0.95, "stories": 0.9, "greetings": 0.6, "manners": 0.6}
"""Families whose answers are so similar that another one's answer passes too."""


def passes(question: fresh_draws.Question, text: str) -> bool:
    """The outcome where all calls are right and this is the answer."""
    turn = question.scene.turns[-1]
    script = [
        ModelReply("", "", tuple(ToolCall(use.name, use.arguments) for use in together), True, 0)
        for together in turn.rounds
    ]
    replies = iter([*script, ModelReply("", text, (), True, 0)])
    return fresh_draws.ask(question, lambda messages, tools, *, thinking: next(replies)).good


@pytest.mark.parametrize("family", skills.WEIGHTS)
def test_the_generators_own_answer_passes_and_another_rarely(family: str) -> None:
    questions = fresh_draws.questions(family, 40, seed=5)
    expected = [str(answer_messages(it.scene.turns[-1], it.thinking)[-1]["content"]) for it in questions]
    assert all(passes(question, answer) for question, answer in zip(questions, expected, strict=True))
    shifted = expected[1:] + expected[:1]
    others = [
        passes(question, other)
        for question, answer, other in zip(questions, expected, shifted, strict=True)
        if other != answer
    ]
    assert sum(others) <= LOOSE.get(family, 0.4) * len(others)


def test_questions_are_always_the_same_and_not_those_of_training() -> None:
    assert fresh_draws.questions("memory", 5, 1) == fresh_draws.questions("memory", 5, 1)
    assert fresh_draws.questions("memory", 5, 1) != fresh_draws.questions("memory", 5, 2)
    assert skills.drawer("memory")(Random(1)) != fresh_draws.questions("memory", 1, 1)[0].scene


def test_the_last_number_counts() -> None:
    expected = Expected("47 + 38 = 85.", "47+38", "")
    assert same_number(expected, "47 + 38 is **85**.")
    assert not same_number(expected, "47 + 38 = 84.")


def test_a_copied_text_may_have_a_phrase_before_it() -> None:
    expected = Expected("BRUVOK TAN", "upper case: bruvok tan", "")
    assert same_text(expected, "Here it is: BRUVOK TAN")
    assert not same_text(expected, "BRUVOK TANN")
    assert ends_with("abc", "So:\nabc.")
    assert not ends_with("c", "So: c")


def test_words_taken_from_the_conversation_must_be_there() -> None:
    expected = Expected(
        "Mira lives in Tavo.", "Where does Mira live?", "Mira lives in Tavo. Where does Mira live?"
    )
    assert quotes_context(expected, "In Tavo.")
    assert not quotes_context(expected, "In Bel.")
    silent = Expected("The text does not say.", "How old is Mira?", "Mira lives in Tavo. How old is Mira?")
    assert quotes_context(silent, "It does not say that.")
    assert not quotes_context(silent, "Mira is old.")


def test_a_refusal_with_an_invented_number_fails() -> None:
    expected = Expected("That is beyond me.", "How high is it?", "How high is it?")
    assert same_refusal(expected, "I do not know that.")
    assert not same_refusal(expected, "I do not know, perhaps 8848 metres.")


def test_a_reply_is_parsed() -> None:
    call = '<tool_call>\n{"name": "a", "arguments": {"b": 1}}\n</tool_call>'
    reply = parse_reply("<think>\nhm\n</think>\n\n" + call, True)
    assert (reply.thought, reply.text, reply.calls, reply.broken_calls) == (
        "hm",
        "",
        (ToolCall("a", {"b": 1}),),
        0,
    )
    assert parse_reply("Hello", True).text == "Hello"
    assert parse_reply('<tool_call>\n{"name": "a", "argu', False).broken_calls == 1
    assert parse_reply('<tool_call>\n{"name": a}\n</tool_call>', True).broken_calls == 1


def test_a_loop_is_seen() -> None:
    assert ModelReply("", "one two three " * 6, (), False, 0).loops
    assert not ModelReply("", "10, 9, 8, 7, 6, 5, 4, 3, 2, 1", (), True, 0).loops
