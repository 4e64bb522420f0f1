"""Dots: one wrapper around all calls."""

from __future__ import annotations

from tests.support.tagged_families import shown, values, writer
from tests.support.tool_call_families import Call, Family

write = writer(
    '<invoke name="{}">\n',
    lambda key, value: f'<parameter name="{key}">\n{shown(value)}\n</parameter>\n',
    "</invoke>\n",
    before="<dots_function_call>\n",
    after="</dots_function_call>",
)
FAMILY = Family("dots", write, source="chat template of dots3-note, as recordings of what it renders show it")


def test_one_line_end_on_each_side_of_a_value_is_not_part_of_it() -> None:
    raw = write([Call("find_city", {"city": "    def f():\n        return 1\n"})])
    assert values("dots", raw) == [("find_city", {"city": "    def f():\n        return 1\n"})]


def test_json_may_be_in_the_wrapper() -> None:
    raw = '<dots_function_call>\n{"name": "find_city", "arguments": {"city": "Oslo"}}\n</dots_function_call>'
    assert values("dots", raw) == [("find_city", {"city": "Oslo"})]


def test_a_call_on_one_line() -> None:
    raw = (
        '<dots_function_call><invoke name="find_city"><parameter name="city">Oslo</parameter>'
        '<parameter name="place">{"at": 1}</parameter></invoke></dots_function_call>'
    )
    assert values("dots", raw) == [("find_city", {"city": "Oslo", "place": {"at": 1}})]


def test_a_call_without_arguments_with_a_blank_in_it() -> None:
    assert values("dots", '<dots_function_call>\n<invoke name="clock"> </invoke>\n</dots_function_call>') == [
        ("clock", {})
    ]
