"""Anthropic's tools as functions."""

from typing import Any

import pytest

from duologue.errors import BadRequest, Unsupported
from duologue.values.messages import Tool
from duologue.wire.anthropic.known_tools import AnthropicTool, AnthropicToolChoice, chosen, offered

SCHEMA: dict[str, object] = {"type": "object", "properties": {"city": {"type": "string"}}}


def tool(**fields: Any) -> AnthropicTool:
    return AnthropicTool.model_validate(fields)


def test_a_tool_of_the_client_is_a_function() -> None:
    long = "mcp__" + "n" * 123
    tools = offered([tool(name=long, description="d", input_schema=SCHEMA, strict=True, cache_control={})])
    assert tools == (Tool(long, "d", SCHEMA, True),)


def test_examples_are_told_to_the_model() -> None:
    [weather] = offered([tool(name="w", input_schema=SCHEMA, input_examples=[{"city": "Rome"}])])
    assert weather.description == 'Examples of its input:\n{"city":"Rome"}'


@pytest.mark.parametrize(
    ("kind", "name", "argument"),
    [
        ("bash_20250124", "bash", "restart"),
        ("text_editor_20250728", "str_replace_based_edit_tool", "insert_line"),
        ("memory_20250818", "memory", "new_path"),
    ],
)
def test_tools_that_the_client_runs_have_their_schema(kind: str, name: str, argument: str) -> None:
    [function] = offered([tool(type=kind, name=name)])
    assert function.name == name
    assert argument in function.parameters["properties"]  # type: ignore[operator]


@pytest.mark.parametrize(
    "kind",
    [
        "web_search_20250305",
        "web_fetch_20260318",
        "code_execution_20260521",
        "computer_20251124",
        "mcp_toolset",
    ],
)
def test_tools_of_other_servers_are_refused_by_name(kind: str) -> None:
    with pytest.raises(Unsupported, match=kind) as refused:
        offered([tool(name="own", input_schema={}), tool(type=kind, name="x")])
    assert refused.value.param == "tools[1].type"


def test_a_search_for_tools_is_left_out_as_all_are_offered() -> None:
    tools = offered(
        [
            tool(type="tool_search_tool_bm25_20251119", name="s"),
            tool(name="f", input_schema={}, defer_loading=True),
        ]
    )
    assert [function.name for function in tools] == ["f"]


def test_a_tool_for_code_alone_is_refused() -> None:
    with pytest.raises(Unsupported, match="allowed_callers"):
        offered([tool(name="f", input_schema={}, allowed_callers=["code_execution_20260521"])])
    assert offered([tool(name="f", input_schema={}, allowed_callers=["direct"])])


def test_a_tool_needs_a_name_and_a_schema() -> None:
    with pytest.raises(BadRequest, match=r"tools\[0\].name is missing"):
        offered([tool(input_schema={})])
    with pytest.raises(BadRequest, match=r"tools\[0\].input_schema is missing"):
        offered([tool(name="f")])


def test_choices() -> None:
    tools = (Tool("f"),)

    def choice(**fields: Any) -> str:
        return chosen(AnthropicToolChoice.model_validate(fields), tools)

    assert chosen(None, ()) == "auto"
    assert [choice(type=kind) for kind in ("auto", "any", "none")] == ["auto", "required", "none"]
    assert choice(type="tool", name="f") == "function:f"
    with pytest.raises(BadRequest, match="'g', which is not in tools"):
        choice(type="tool", name="g")
    with pytest.raises(BadRequest, match="there are no tools"):
        chosen(AnthropicToolChoice(type="any"), ())
