"""MiniMax M2: one wrapper around all calls, values as they are."""

from __future__ import annotations

import pytest
from tests.support.tagged_families import shown, values, writer
from tests.support.tool_call_families import Call, Family

write = writer(
    '<invoke name="{}">\n',
    lambda key, value: f'<parameter name="{key}">{shown(value)}</parameter>\n',
    "</invoke>\n",
    before="<minimax:tool_call>\n",
    after="</minimax:tool_call>",
)
FAMILY = Family("minimax_m2", write, source="chat template of MiniMax-M2")


@pytest.mark.parametrize("text", ["\nOslo\n", "  ", "", "a\n\n", "</invoke>", "</invoke>\n</invoke> x"])
def test_a_value_is_all_that_stands_between_its_tags(text: str) -> None:
    assert values("minimax_m2", write([Call("find_city", {"city": text})])) == [("find_city", {"city": text})]


def test_a_call_after_another_in_the_same_wrapper_without_line_ends() -> None:
    raw = write([Call("find_city", {"city": "Oslo"}), Call("clock", {})]).replace("\n", "")
    assert values("minimax_m2", raw) == [("find_city", {"city": "Oslo"}), ("clock", {})]
