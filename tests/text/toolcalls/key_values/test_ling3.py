"""Ling 3: line ends in places of its own."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.tagged_families import admitted, shown, values
from tests.support.tool_call_families import Call, Family


def write(calls: Sequence[Call]) -> str:
    return "\n".join(
        f"<tool_call>{call.name}\n"
        + "".join(
            f"<arg_key>{key}</arg_key>\n<arg_value>{shown(value)}</arg_value>"
            for key, value in call.arguments.items()
        )
        + "\n</tool_call>"
        for call in calls
    )


FAMILY = Family(
    "ling3", write, source="chat template of Ling-3.0-flash, as recordings of what it renders show it"
)


def test_a_forced_call_has_its_own_form() -> None:
    raw = write([Call("find_city", {"city": "Oslo", "days": 2})])
    assert admitted("ling3", raw)
    assert not admitted("ling3", raw.replace("</arg_value><", "</arg_value>\n<"))
    assert admitted("ling3", "<tool_call>clock\n\n</tool_call>")


def test_calls_of_related_families_are_read() -> None:
    for line in ("", "\n"):
        raw = f"<tool_call>find_city{line}<arg_key>city</arg_key>{line}<arg_value>Oslo</arg_value>{line}</tool_call>"
        assert values("ling3", raw) == [("find_city", {"city": "Oslo"})]
