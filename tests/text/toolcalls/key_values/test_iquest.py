"""IQuest-Q1: as GLM-4.7, in a tag of its own."""

from __future__ import annotations

from tests.support.tagged_families import read, shown, values, writer
from tests.support.tool_call_families import Call, Family

write = writer(
    "<iquest_tool_call>{}",
    lambda key, value: f"<arg_key>{key}</arg_key><arg_value>{shown(value)}</arg_value>",
    "</iquest_tool_call>",
)
FAMILY = Family(
    "iquest", write, source="chat template of IQuest-Q1, as recordings of what it renders show it"
)


def test_the_tag_of_other_families_is_text() -> None:
    raw = "<tool_call>clock</tool_call>"
    assert read("iquest", raw).content == raw


def test_blanks_and_line_ends_between_tags() -> None:
    raw = (
        '<iquest_tool_call>find_city\n<arg_key>city</arg_key><arg_value>  "1"\n</arg_value>'
        "<arg_key>days</arg_key> <arg_value>42</arg_value>\n</iquest_tool_call>"
    )
    assert values("iquest", raw) == [("find_city", {"city": '  "1"\n', "days": 42})]


def test_a_call_without_arguments_is_a_name() -> None:
    assert values("iquest", write([Call("clock", {})])) == [("clock", {})]
