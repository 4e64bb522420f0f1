"""Step3: elements within tokens of its own."""

from __future__ import annotations

import pytest
from tests.support.tagged_families import shown, values, writer
from tests.support.tool_call_families import Call, Family

write = writer(
    '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="{}">\n',
    lambda key, value: f'<steptml:parameter name="{key}">{shown(value)}</steptml:parameter>\n',
    "</steptml:invoke><｜tool_call_end｜>\n",
    before="<｜tool_calls_begin｜>\n",
    after="<｜tool_calls_end｜>",
)
FAMILY = Family("step3", write, source="what SGLang documents and tests of the family: lines of their own")


def test_calls_without_line_ends() -> None:
    raw = write([Call("find_city", {"city": "Oslo"}), Call("clock", {})]).replace("\n", "")
    assert values("step3", raw) == [("find_city", {"city": "Oslo"}), ("clock", {})]


@pytest.mark.parametrize(
    "token", ["<｜tool_call_begin｜>function<｜tool_sep｜>", "<｜tool_call_end｜>", "<｜tool_calls_end｜>"]
)
def test_a_token_around_an_element_may_be_missing(token: str) -> None:
    raw = write([Call("find_city", {"city": "a < b", "days": 1})]).replace(token, "")
    assert values("step3", raw) == [("find_city", {"city": "a < b", "days": 1})]


def test_a_text_may_contain_its_tags() -> None:
    text = "</steptml:invoke><｜tool_call_end｜> in a text"
    assert values("step3", write([Call("find_city", {"city": text})])) == [("find_city", {"city": text})]
