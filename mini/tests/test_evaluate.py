"""The evaluation table: hand-written conversations run in full, outcomes count in their rows, the engine answers."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from duologue_mini import skills
from duologue_mini.evaluation import evaluate, heldout
from duologue_mini.evaluation.chat_model import ChatModel, ModelReply, parse_reply
from duologue_mini.evaluation.evaluate import MODEL_PATH, ROWS, Tally, ask_case, families, row_of, table
from duologue_mini.evaluation.fresh_draws import Outcome
from duologue_mini.evaluation.heldout import Case


@dataclass
class Scripted:
    """Answers from a list, and records the messages it gets."""

    replies: list[ModelReply]
    seen: list[list[dict[str, Any]]] = field(default_factory=list)

    def reply(
        self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], *, thinking: bool
    ) -> ModelReply:
        self.seen.append([*messages])
        return self.replies[len(self.seen) - 1]


def call(name: str, **arguments: object) -> ModelReply:
    return ModelReply("", "", (heldout.ToolCall(name, arguments),), True, 0)


def say(text: str, *, ended: bool = True) -> ModelReply:
    return ModelReply("", text, (), ended, 0)


def test_tool_results_are_returned_and_the_answer_after_them_is_judged() -> None:
    check = {"call": {"name": "clock", "arguments": {}}, "after_call": {"any": ["12:30"]}}
    case = Case("t-1", "times", ("What time is it?",), check, results={"clock": "12:30"})
    speaker = Scripted([call("clock"), say("It is 12:30.")])
    assert ask_case(case, speaker).good
    assert [message["role"] for message in speaker.seen[1]] == ["user", "assistant", "tool"]
    assert not ask_case(case, Scripted([call("clock"), say("It is 9.")])).good
    assert not ask_case(case, Scripted([say("It is 12:30.")])).good


def test_a_turn_that_does_not_end_fails() -> None:
    case = Case("t-2", "greetings", ("hi", "and you?"), {"any": ["well"]})
    assert ask_case(case, Scripted([say("Hello!"), say("I am well.")])).good
    outcome = ask_case(case, Scripted([say("Hello!"), say("I am well.", ended=False)]))
    assert "did not end" in outcome.why


def test_earlier_replies_are_part_of_the_messages() -> None:
    case = Case("t-3", "recall", ("I am Vemo", "Who am I?"), {"any": ["Vemo"]}, system="Be brief.")
    speaker = Scripted([say("Hello, Vemo!"), say("Vemo.")])
    ask_case(case, speaker)
    assert [message["content"] for message in speaker.seen[1]] == [
        "Be brief.",
        "I am Vemo",
        "Hello, Vemo!",
        "Who am I?",
    ]


def test_every_family_and_every_hand_written_skill_has_a_row() -> None:
    assert {family for line in ROWS.values() for family in line} == set(skills.WEIGHTS)
    assert set(ROWS) <= set(heldout.SKILLS)
    assert families(["recall"]) == [name for name in skills.WEIGHTS if name in ("recall", "memory")]


def test_the_table_counts() -> None:
    tally = Tally()
    tally.add(row_of("guide"), Outcome("guide", True, "", [say("a")]))
    tally.add(row_of("guide"), Outcome("guide", False, "", [say("b", ended=False)]))
    tally.add("times", Outcome("times", True, "", [parse_reply('<tool_call>\n{"name"\n</tool_call>', True)]))
    written = table({"fresh": tally})
    assert "| help | 50% of 2 |" in written
    assert "| all | 67% of 3 |" in written
    assert "| *ended* | 66.67% |" in written
    assert "| *broken calls* | 100.00% |" in written


@pytest.mark.skipif(not MODEL_PATH.exists(), reason="no model file here")
def test_the_bundled_model_answers_several_at_once_and_ends() -> None:
    speaker = ChatModel(MODEL_PATH, slots=2)
    tally = evaluate.run_tally(
        evaluate.fresh_draws.questions("echo", 4, 1),
        lambda question: evaluate.fresh_draws.ask(question, speaker.reply),
        2,
        lambda outcome: None,
    )
    assert len(tally.replies) == 4
    assert all(reply.ended for reply in tally.replies)
