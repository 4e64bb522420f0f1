"""The grammar of calls between tags."""

from __future__ import annotations

import pytest
from tests.support.gbnf import admits

from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.toolcalls.catalogue import tool_format
from duologue.text.toolcalls.tagged_calls import TaggedCalls
from duologue.values.messages import Tool

MARK = "]<]minimax[>["
CITY = Tool(
    "city",
    "",
    {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "kind": {"enum": ["big", "small"]},
            "size": {"$ref": "#/$defs/n"},
        },
        "$defs": {"n": {"type": "integer"}},
        "required": ["name"],
    },
)
NONE = Tool("none", "", {"type": "object", "additionalProperties": False})
ANY = Tool("any", "", {"type": "object"})


def admitted(format: str, raw: str, shaped: bool = True) -> bool:
    found = tool_format(format)
    assert isinstance(found, TaggedCalls)
    grammar = JsonGrammar()
    root = found.calls((CITY, NONE, ANY), grammar, shaped)
    return admits(f"root ::= {root}\n{grammar}", raw)


def call(name: str, *parameters: str) -> str:
    return f"<tool_call>{name}{''.join(parameters)}</tool_call>"


def parameter(key: str, value: str) -> str:
    return f"<arg_key>{key}</arg_key><arg_value>{value}</arg_value>"


@pytest.mark.parametrize(
    ("raw", "right"),
    [
        (call("city", parameter("name", "a << </arg </arg_value b")), True),
        (call("city", parameter("name", ""), parameter("kind", "big")), True),
        (call("city", parameter("name", ""), parameter("kind", "huge")), False),
        (call("city", parameter("kind", "big")), False),
        (call("city", parameter("other", "x")), False),
        (call("none"), True),
        (call("none", parameter("a", "b")), False),
        (call("any", parameter("a", "b"), parameter("c", "")), True),
        (call("town"), False),
    ],
)
def test_arguments_have_the_shape_of_the_schema(raw: str, right: bool) -> None:
    assert admitted("glm47", raw) is right


def test_without_shapes_any_parameters_may_be_given() -> None:
    assert admitted("glm47", call("city", parameter("other", "x")), shaped=False)
    assert not admitted("glm47", call("town", parameter("other", "x")), shaped=False)


def test_dsml_says_that_a_text_is_a_text_and_a_number_is_not() -> None:
    def raw(name: str, number: str) -> str:
        return (
            '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="city">\n'
            f'<｜DSML｜parameter name="name" string="{name}">x</｜DSML｜parameter>\n'
            f'<｜DSML｜parameter name="size" string="{number}">5</｜DSML｜parameter>\n'
            "</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
        )

    # A reference is not followed for its type, so such a parameter is written as a text.
    assert admitted("deepseek_v4", raw("true", "true"))
    assert not admitted("deepseek_v4", raw("false", "true"))


def test_a_closing_tag_repeats_the_name_where_the_schema_has_it() -> None:
    def raw(name: str, key: str, end: str) -> str:
        return f'{MARK}<tool_call>\n{MARK}<invoke name="{name}">{MARK}<{key}>x ]<{MARK}</{end}>{MARK}</invoke>\n{MARK}</tool_call>'

    assert admitted("minimax_m3", raw("city", "name", "name"))
    assert not admitted("minimax_m3", raw("city", "name", "size"))
    assert admitted("minimax_m3", raw("any", "a", "a"))
    assert admitted("minimax_m3", raw("city", "other", "other"), shaped=False)
    assert not admitted("minimax_m3", raw("town", "other", "other"), shaped=False)
