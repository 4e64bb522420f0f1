"""GLM-4.7 and those who write like it: no line ends."""

from __future__ import annotations

from tests.support.tagged_families import shown, values, writer
from tests.support.tool_call_families import Call, Family
from tests.text.toolcalls.key_values import test_glm45

write = writer(
    "<tool_call>{}",
    lambda key, value: f"<arg_key>{key}</arg_key><arg_value>{shown(value)}</arg_value>",
    "</tool_call>",
)
FAMILY = Family("glm47", write, source="chat template of GLM-4.7")


def test_a_call_without_arguments_is_a_name() -> None:
    assert values("glm47", "<tool_call>clock</tool_call>") == [("clock", {})]


def test_each_of_both_formats_reads_what_the_other_writes() -> None:
    calls = [Call("find_city", {"city": "Oslo", "days": 2}), Call("clock", {})]
    expected = [("find_city", {"city": "Oslo", "days": 2}), ("clock", {})]
    assert values("glm47", test_glm45.write(calls)) == values("glm45", write(calls)) == expected
