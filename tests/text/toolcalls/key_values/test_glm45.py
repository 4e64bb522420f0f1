"""GLM-4.5 and 4.6: keys and values in turn, on lines of their own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.support.tagged_families import read, shown, values
from tests.support.tool_call_families import Call, Family


def write(calls: Sequence[Call]) -> str:
    return "\n".join(
        f"<tool_call>{call.name}\n"
        + "".join(
            f"<arg_key>{key}</arg_key>\n<arg_value>{shown(value)}</arg_value>\n"
            for key, value in call.arguments.items()
        )
        + "</tool_call>"
        for call in calls
    )


FAMILY = Family("glm45", write, source="chat template of GLM-4.5")


def test_line_ends_written_as_a_backslash_and_an_n() -> None:
    raw = write([Call("find_city", {"city": "a\\nb", "days": 3}), Call("clock", {})]).replace("\n", "\\n")
    assert values("glm45", raw) == [("find_city", {"city": "a\\nb", "days": 3}), ("clock", {})]


@pytest.mark.parametrize(
    "raw",
    [
        "<tool_call>clock</tool_call>",
        "<tool_call>clock\n</tool_call>",
        "<tool_call>\nclock\n</tool_call>",
        "<tool_call> clock </tool_call>",
    ],
)
def test_a_call_without_arguments(raw: str) -> None:
    assert values("glm45", raw) == [("clock", {})]


@pytest.mark.parametrize(
    "raw",
    [
        "<tool_call>find_city\n<arg_key>city</arg_key>\nOslo\n</tool_call>",
        "<tool_call>what it does</tool_call>",
        "<tool_call></tool_call>",
        "<tool_call>find_city\n<arg_key>city",
    ],
)
def test_what_is_no_call_is_text(raw: str) -> None:
    assert read("glm45", raw).tool_calls == ()
    assert read("glm45", raw).content == raw


def test_line_ends_of_a_value_are_its_own() -> None:
    raw = write([Call("find_city", {"city": "\na\n"})])
    assert values("glm45", raw) == [("find_city", {"city": "\na\n"})]
