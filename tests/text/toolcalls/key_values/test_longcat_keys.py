"""LongCat: keys and values in turn, in tags of its own."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.tagged_families import read, shown, values
from tests.support.tool_call_families import Call, Family


def write(calls: Sequence[Call]) -> str:
    return "\n".join(
        f"<longcat_tool_call>{call.name}\n"
        + "".join(
            f"<longcat_arg_key>{key}</longcat_arg_key>\n<longcat_arg_value>{shown(value)}</longcat_arg_value>\n"
            for key, value in call.arguments.items()
        )
        + "</longcat_tool_call>"
        for call in calls
    )


FAMILY = Family(
    "longcat_keys", write, source="tests of readers of the family: keys and values on lines of their own"
)


def test_a_name_directly_before_the_first_key() -> None:
    raw = write([Call("find_city", {"city": "Oslo"})]).replace("find_city\n", "find_city")
    assert values("longcat_keys", raw) == [("find_city", {"city": "Oslo"})]


def test_the_tags_of_other_families_are_text() -> None:
    raw = "<longcat_tool_call>find_city<arg_key>city</arg_key></longcat_tool_call>"
    assert read("longcat_keys", raw).content == raw
