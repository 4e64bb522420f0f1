"""What a response repeats of its request, and its states."""

from __future__ import annotations

from typing import Any

from duologue.values.events import Usage
from duologue.values.requests import ModelCard
from duologue.wire.responses.response_body import ResponseBody
from duologue.wire.responses.response_object import failed_after, fixed_fields, shown_usage, snapshot
from duologue.wire.validation import validate

CARD = ModelCard("mini", "scripted", 2048, defaults={"temperature": 0.7})


def fixed(**fields: Any) -> dict[str, Any]:
    return fixed_fields(validate(ResponseBody, {"input": "Hi"} | fields), CARD, "resp_1", 1700000000)


def test_defaults_are_those_of_the_model_and_of_the_api() -> None:
    shown = fixed()
    assert (shown["temperature"], shown["top_p"]) == (0.7, 1.0)
    assert (shown["text"]["format"], shown["tool_choice"], shown["tools"]) == ({"type": "text"}, "auto", [])
    assert (shown["store"], shown["background"], shown["truncation"]) == (True, False, "disabled")
    assert shown["reasoning"] == {"effort": None, "summary": None}


def test_the_request_is_repeated() -> None:
    tools = [
        {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": True},
        {"type": "custom", "name": "c"},
    ]
    shown = fixed(
        temperature=0.2, metadata={"a": "b"}, instructions="Be brief.", tools=tools,
        tool_choice={"type": "custom", "name": "c"}, reasoning={"effort": "low", "summary": "auto"},
        text={"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}, "verbosity": "low"},
        conversation="conv_1", user="ann", max_output_tokens=9,
    )  # fmt: skip
    assert shown["temperature"] == 0.2
    assert shown["tools"][0] == tools[0]
    assert shown["tools"][1] == {"type": "custom", "name": "c", "format": {"type": "text"}}
    assert shown["tool_choice"] == {"type": "custom", "name": "c"}
    assert shown["text"]["format"]["schema"] == {"type": "object"}
    assert (shown["text"]["verbosity"], shown["conversation"]) == ("low", {"id": "conv_1"})
    assert (shown["reasoning"]["summary"], shown["max_output_tokens"]) == ("auto", 9)


def test_tool_choices() -> None:
    tools = [{"type": "function", "name": "f"}]
    named = {"type": "function", "name": "f"}
    assert fixed(tools=tools, tool_choice=named)["tool_choice"] == named
    assert fixed(tools=tools, tool_choice="required")["tool_choice"] == "required"
    allowed = {"type": "allowed_tools", "mode": "auto", "tools": [named]}
    assert fixed(tools=tools, tool_choice=allowed)["tool_choice"] == allowed


def test_states() -> None:
    assert snapshot(fixed(), "queued")["output"] == []
    failed = snapshot(fixed(), "failed", error=("x", "It broke."), extras={"ignored": ["top_k"]})
    assert (failed["error"], failed["ignored"]) == ({"code": "x", "message": "It broke."}, ["top_k"])
    left = failed_after(snapshot(fixed(), "in_progress"), "server_restarted", "Again.")
    assert (left["status"], left["error"]["code"], left["id"]) == ("failed", "server_restarted", "resp_1")


def test_estimates_say_so() -> None:
    assert shown_usage(Usage(1, 2, estimated=True))["estimated"] is True
