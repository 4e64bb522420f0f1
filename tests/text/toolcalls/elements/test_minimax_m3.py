"""MiniMax M3: parameters in elements of their own name, which may be nested."""

from __future__ import annotations

import pytest
from tests.support.tagged_families import read, values, writer
from tests.support.tool_call_families import Call, Family, calls_of

from duologue.text.output.reasoning_tags import template_tags
from duologue.text.toolcalls.elements.minimax_m3 import value_json

MARK = "]<]minimax[>["


def element(name: str, value: object) -> str:
    """As the template renders a value."""
    if isinstance(value, dict):
        inner = "".join(element(key, part) for key, part in value.items())
    elif isinstance(value, list):
        inner = "".join(element("item", part) for part in value)
    elif value is None or isinstance(value, bool):
        inner = {None: "null", True: "true", False: "false"}[value]
    else:
        inner = str(value)
    return f"{MARK}<{name}>{inner}{MARK}</{name}>"


write = writer(
    f'{MARK}<invoke name="{{}}">',
    element,
    f"{MARK}</invoke>\n",
    before=f"{MARK}<tool_call>\n",
    after=f"{MARK}</tool_call>",
)
FAMILY = Family(
    "minimax_m3",
    write,
    source="chat template of MiniMax-M3, as recordings of what it renders show it",
    tags=template_tags("<mm:think>"),
)


@pytest.mark.parametrize(
    ("text", "schema", "json"),
    [
        ("5", {"type": "integer"}, "5"),
        ('{"a": 1}', {"type": "object"}, '{"a": 1}'),
        (element("a", 1), {"type": "object"}, '{"a": 1}'),
        (element("a", {"b": [1, "x"]}), {"type": "object"}, '{"a": {"b": [1, "x"]}}'),
        (element("item", "5") + "\n" + element("item", "6"), {"type": "array"}, "[5, 6]"),
        (
            element("item", "5"),
            {"type": "array", "items": {"type": "string"}},
            '["5"]',
        ),
        (
            element("n", "5"),
            {"type": "object", "properties": {"n": {"type": "string"}}},
            '{"n": "5"}',
        ),
        (f"{MARK}<a>1", {"type": "object"}, f'"{MARK}<a>1"'),
        (f"{MARK}<a>1{MARK}</b>", {"type": "object"}, f'"{MARK}<a>1{MARK}</b>"'),
        (f"{MARK}</a>", {}, f'"{MARK}</a>"'),
        (f"x{element('a', 1)}", {}, f'"x{element("a", 1)}"'),
    ],
)
def test_elements_in_a_value_are_json(text: str, schema: object, json: str) -> None:
    assert value_json(text, schema) == json


def test_elements_nested_beyond_measure_are_a_text() -> None:
    text = f"{MARK}<a>" * 500 + "x" + f"{MARK}</a>" * 500
    assert value_json(text, {}) == f'"{text}"'


def test_a_nested_element_called_like_a_parameter_belongs_to_the_value() -> None:
    raw = write([Call("find_city", {"place": {"city": "Oslo", "days": 2}, "city": "Bergen"})])
    assert values("minimax_m3", raw) == [
        ("find_city", {"place": {"city": "Oslo", "days": 2}, "city": "Bergen"})
    ]


def test_line_ends_between_tags() -> None:
    raw = write([Call("find_city", {"city": "Oslo", "days": 2})]).replace(MARK, f"\n{MARK}")
    [(_, arguments)] = values("minimax_m3", raw.replace(f"Oslo\n{MARK}", f"Oslo{MARK}"))
    assert arguments == {"city": "Oslo", "days": 2}


def test_the_mark_alone_is_text() -> None:
    raw = f"It writes {MARK} before tags, and a ]< here]"
    assert read("minimax_m3", raw).content == raw


def test_a_text_may_contain_the_mark() -> None:
    text = f"a {MARK}<b> c {MARK}</d>"
    assert (
        calls_of(read("minimax_m3", write([Call("find_city", {"city": text})])))[0][1]
        == f'{{"city": "{text}"}}'
    )
