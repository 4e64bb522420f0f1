"""Tools and choices of the Responses API."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.errors import BadRequest, Unsupported
from duologue.values.messages import Tool
from duologue.wire.responses.response_body import ResponseBody
from duologue.wire.responses.response_tools import (
    CUSTOM_PARAMETERS,
    CalledTool,
    OfferedTools,
    called_tools,
    offered,
)
from duologue.wire.validation import validate

PLAIN = {
    "type": "function",
    "name": "f",
    "description": "d",
    "parameters": {"type": "object"},
    "strict": True,
}
CUSTOM = {"type": "custom", "name": "c", "description": "d"}
SPACE = {"type": "namespace", "name": "s", "description": "", "tools": [PLAIN, CUSTOM]}


def asked(*tools: dict[str, Any], choice: Any = None) -> OfferedTools:
    body = validate(ResponseBody, {"input": "Hi", "tools": list(tools), "tool_choice": choice})
    return offered(body.tools, body.tool_choice, "refuse")


def refusal(*tools: dict[str, Any], choice: Any = None) -> BadRequest:
    with pytest.raises(BadRequest) as refused:
        asked(*tools, choice=choice)
    return refused.value


def test_functions_and_custom_tools_are_offered() -> None:
    given = asked(PLAIN, CUSTOM, {"type": "function", "name": "g"})
    assert given.choice == "auto"
    assert given.tools[:2] == (Tool("f", "d", {"type": "object"}, True), Tool("c", "d", CUSTOM_PARAMETERS))
    assert given.tools[2].parameters["properties"] == {}


def test_a_namespace_is_in_the_names() -> None:
    assert [tool.name for tool in asked(SPACE).tools] == ["s__f", "s__c"]
    body = validate(ResponseBody, {"input": "Hi", "tools": [SPACE, CUSTOM, PLAIN]})
    assert called_tools(body.tools) == {
        "s__f": CalledTool("f", "s"),
        "s__c": CalledTool("c", "s", custom=True),
        "c": CalledTool("c", custom=True),
    }


def test_choices() -> None:
    assert asked(PLAIN, choice="required").choice == "required"
    assert asked(PLAIN, choice={"type": "function", "name": "f"}).choice == "function:f"
    assert asked(CUSTOM, choice={"type": "custom", "name": "c"}).choice == "function:c"
    some = asked(
        PLAIN,
        CUSTOM,
        choice={
            "type": "allowed_tools",
            "mode": "required",
            "tools": [{"type": "function", "name": "f"}],
        },
    )
    assert (some.choice, [tool.name for tool in some.tools]) == ("required", ["f"])


def test_choices_that_cannot_be_kept() -> None:
    assert refusal(choice="required").param == "tool_choice"
    assert refusal(PLAIN, choice={"type": "function", "name": "x"}).param == "tool_choice"
    assert refusal(PLAIN, choice="any").param == "tool_choice"
    assert "file_search" in refusal(PLAIN, choice={"type": "file_search"}).message


def test_a_grammar_for_a_custom_tool_is_refused() -> None:
    grammar = {"type": "grammar", "syntax": "lark", "definition": "start: x"}
    refused = refusal({**CUSTOM, "format": grammar})
    assert isinstance(refused, Unsupported)
    assert refused.param == "tools[0].format"
    assert asked({**CUSTOM, "format": {"type": "text"}}).tools


@pytest.mark.parametrize(
    "kind", ["web_search", "web_search_preview", "file_search", "code_interpreter", "mcp", "image_generation"]
)
def test_hosted_tools_are_refused_by_name(kind: str) -> None:
    refused = refusal(PLAIN, {"type": kind})
    assert kind in refused.message
    assert (refused.param, refused.code) == ("tools[1]", "unsupported")


def test_a_broken_function_is_refused_with_its_place() -> None:
    assert refusal({"type": "function"}).param == "tools[0].name"
    assert refusal({"name": "f"}).param == "tools[0]"
