"""Requests in the form that tools had before: what they ask for, and what is refused."""

from typing import Any

import pytest

from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest
from duologue.values.messages import ToolCall
from duologue.values.requests import ChatRequest
from duologue.wire.openai import ChatCompletionBody
from duologue.wire.validation import FUNCTION_CALL, validate

CLOCK = {"name": "clock", "description": "Tells the time.", "parameters": {"type": "object"}}
HI = {"role": "user", "content": "hi"}


def request(*messages: dict[str, Any], **fields: Any) -> ChatRequest:
    body = {"messages": list(messages) or [HI], **fields}
    return validate(ChatCompletionBody, body).request(LimitSettings())


def test_functions_are_tools_of_which_one_is_called():
    asked = request(functions=[CLOCK])
    assert [(tool.name, tool.description) for tool in asked.tools] == [("clock", "Tells the time.")]
    assert (asked.tool_choice, asked.parallel_tool_calls, asked.unknown) == ("auto", False, ())


@pytest.mark.parametrize(
    ("sent", "choice"),
    [("none", "none"), ("auto", "auto"), (None, "auto"), ({"name": "clock"}, "function:clock")],
)
def test_the_call_is_chosen_as_with_tools(sent: object, choice: str):
    assert request(functions=[CLOCK], function_call=sent).tool_choice == choice


def test_a_conversation_in_the_old_form_is_one_of_tool_calls():
    call = {"role": "assistant", "content": None, "function_call": {"name": "clock", "arguments": "{}"}}
    _, assistant, result = request(
        HI, call, {"role": "function", "name": "clock", "content": "noon"}
    ).messages
    assert assistant.tool_calls == (ToolCall(FUNCTION_CALL, "clock", "{}"),)
    assert (result.role, result.tool_call_id, result.name, result.text) == (
        "tool",
        FUNCTION_CALL,
        "clock",
        "noon",
    )


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"functions": [CLOCK], "tools": [{"function": CLOCK}]}, "functions"),
        ({"functions": [CLOCK], "function_call": {"name": "map"}}, "function_call"),
        ({"function_call": {"name": "clock"}}, "function_call"),
        ({"functions": [CLOCK], "function_call": "required"}, "function_call"),
        ({"functions": [{}]}, "functions[0].name"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(fields: dict[str, Any], param: str):
    with pytest.raises(BadRequest) as refused:
        request(**fields)
    assert refused.value.param == param
