"""MiMo V2: values on the line of their tag, taken as they are."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.support.tagged_families import admitted, shown, values
from tests.support.tool_call_families import Call, Family


def write(calls: Sequence[Call]) -> str:
    return "\n".join(
        f"<tool_call>\n<function={call.name}>\n"
        + "".join(f"<parameter={key}>{shown(value)}</parameter>\n" for key, value in call.arguments.items())
        + "</function>\n</tool_call>"
        for call in calls
    )


FAMILY = Family(
    "mimo",
    write,
    source="chat template of Naive-N0.5-Flash, and recordings of what that of MiMo-V2.5 renders",
)


@pytest.mark.parametrize("text", ["\nOslo\n", "\n", "  ", "a\n\n"])
def test_a_value_is_all_that_stands_between_its_tags(text: str) -> None:
    assert values("mimo", write([Call("find_city", {"city": text})])) == [("find_city", {"city": text})]


def test_a_forced_call_has_its_own_form() -> None:
    raw = write([Call("find_city", {"city": "Oslo", "days": 2})])
    assert admitted("mimo", raw)
    assert not admitted("qwen3_xml", raw)
