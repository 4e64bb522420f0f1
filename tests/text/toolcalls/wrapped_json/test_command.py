"""Calls with ids between `<|START_ACTION|>` and `<|END_ACTION|>`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.tool_call_families import Call, Family, read_reply

from duologue.text.output.reasoning_tags import template_tags


def numbered(one: tuple[int, Call]) -> str:
    at, call = one
    named = {"tool_call_id": str(at), "tool_name": call.name, "parameters": call.arguments}
    return json.dumps(named, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "<|START_ACTION|>[\n    " + ",\n    ".join(map(numbered, enumerate(calls))) + "\n]<|END_ACTION|>"


FAMILY = Family(
    "command",
    write,
    source="chat template of Command R7B (tool use)",
)


def test_its_ids_are_kept() -> None:
    reply = read_reply("command", write([Call("f", {"a": 1}), Call("g", {})]))
    assert [(call.id, call.name) for call in reply.tool_calls] == [("0", "f"), ("1", "g")]


def test_an_id_after_the_arguments_comes_too_late() -> None:
    raw = '<|START_ACTION|>[{"tool_name": "f", "parameters": {"a": 1}, "tool_call_id": "7"}]<|END_ACTION|>'
    assert [call.id for call in read_reply("command", raw).tool_calls] == ["call_0"]


def test_plan_call_and_answer() -> None:
    plan = "<|START_THINKING|>Look.<|END_THINKING|>"
    tags = template_tags(plan)
    reply = read_reply("command", plan + write([Call("f", {"a": 1})]), tags=tags)
    assert (reply.reasoning, reply.content, len(reply.tool_calls)) == ("Look.", "", 1)
    reply = read_reply("command", plan + "<|START_RESPONSE|>It rains.<|END_RESPONSE|>", tags=tags)
    assert (reply.reasoning, reply.content) == ("Look.", "It rains.")
