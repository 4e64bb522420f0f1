"""ERNIE 4.5: `<tool_call>` after the thought, `<response>` around an answer."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.tool_call_families import Call, Family, calls_of, read_reply

from duologue.text.output.reasoning_tags import template_tags


def written(call: Call) -> str:
    return json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "\n\n" + "\n".join(f"<tool_call>\n{written(call)}\n</tool_call>" for call in calls) + "\n"


FAMILY = Family(
    "ernie45",
    write,
    source="chat template of ERNIE-4.5-21B-A3B-Thinking",
)


TAGS = template_tags("<global_setting> <think> </think> <response>")


def test_calls_after_a_thought() -> None:
    raw = 'So.\n</think>\n\n\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n'
    reply = read_reply("ernie45", raw, tags=TAGS, inside=True)
    assert (reply.reasoning.strip(), reply.content) == ("So.", "")
    assert calls_of(reply) == [("f", '{"a": 1}')]


def test_an_answer_without_its_markers() -> None:
    raw = "So.\n</think>\n\n<response>\nYes.\n</response>\n"
    reply = read_reply("ernie45", raw, tags=TAGS, inside=True)
    assert (reply.reasoning.strip(), reply.content.strip()) == ("So.", "Yes.")


def test_a_call_within_a_thought_belongs_to_it() -> None:
    raw = 'Or <tool_call>{"name": "f"}</tool_call>?</think>No.'
    reply = read_reply("ernie45", raw, tags=TAGS, inside=True)
    assert (reply.tool_calls, reply.content) == ((), "No.")
