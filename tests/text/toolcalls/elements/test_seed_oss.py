"""Seed-OSS: values on the line of their tag, thoughts in tags of its own."""

from __future__ import annotations

import pytest
from tests.support.tagged_families import shown, values, writer
from tests.support.tool_call_families import Call, Family, calls_of, read_reply

from duologue.text.output.reasoning_tags import template_tags

write = writer(
    "<function={}>\n",
    lambda key, value: f"<parameter={key}>{shown(value)}</parameter>\n",
    "</function>\n",
    before="<seed:tool_call>\n",
    after="</seed:tool_call>",
)
FAMILY = Family(
    "seed_oss",
    write,
    source="chat template of Seed-OSS-36B-Instruct",
    tags=template_tags("<seed:think>"),
)


@pytest.mark.parametrize("text", ["\nOslo\n", " Oslo ", "\n"])
def test_line_ends_of_a_value_are_its_own(text: str) -> None:
    assert values("seed_oss", write([Call("find_city", {"city": text})])) == [("find_city", {"city": text})]


def test_each_call_may_have_a_wrapper() -> None:
    one = write([Call("clock", {})])
    assert values("seed_oss", f"{one}\n{one}") == [("clock", {}), ("clock", {})]


def test_a_thought_with_a_note_about_its_budget_goes_before_the_call() -> None:
    raw = f"<seed:think>So.<seed:cot_budget_reflect>Half is left.</seed:cot_budget_reflect></seed:think>{write([Call('clock', {})])}"
    reply = read_reply("seed_oss", raw, tags=FAMILY.tags)
    assert reply.reasoning == "So.Half is left."
    assert calls_of(reply) == [("clock", "{}")]
