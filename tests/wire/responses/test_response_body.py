"""The body of a response becomes the request that every engine knows; what cannot be kept is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest, TooLarge, Unsupported
from duologue.values.messages import Message, TextPart
from duologue.values.requests import ChatRequest, OutputFormat
from duologue.wire.responses.item_messages import placed
from duologue.wire.responses.response_body import ResponseBody, check_item_counts
from duologue.wire.validation import validate

LIMITS = LimitSettings()


def body(**fields: Any) -> ResponseBody:
    return validate(ResponseBody, {"input": "Hello"} | fields)


def request(**fields: Any) -> ChatRequest:
    asked = body(**fields)
    return asked.request(placed(asked.input, "input"), {}, LIMITS)


def refusal(**fields: Any) -> BadRequest:
    with pytest.raises(BadRequest) as refused:
        request(**fields)
    return refused.value


def test_the_shortest_request() -> None:
    assert request() == ChatRequest((Message("user", (TextPart("Hello"),)),))
    asked = body()
    assert (asked.store, asked.background, asked.stream, asked.truncation) == (True, False, False, "disabled")


def test_null_means_not_given() -> None:
    names = (
        "instructions previous_response_id conversation store background stream include tools tool_choice "
        "parallel_tool_calls max_output_tokens max_tool_calls top_logprobs text reasoning truncation metadata user "
        "service_tier prompt temperature top_p"
    )
    assert request(**dict.fromkeys(names.split())) == request()


def test_instructions_come_first() -> None:
    asked = request(instructions="Be brief.")
    assert [message.role for message in asked.messages] == ["system", "user"]
    assert request(input=[], instructions="Begin.").messages[0].text == "Begin."


def test_parameters_reach_the_request() -> None:
    asked = request(
        model="mini", max_output_tokens=5, temperature=0.5, top_p=0.25, top_k=4, min_p=0.125, seed=7,
        parallel_tool_calls=False, stop=["END"],
    )  # fmt: skip
    assert (asked.model, asked.stop, asked.parallel_tool_calls) == ("mini", ("END",), False)
    assert {name: getattr(asked.sampling, name) for name in asked.sampling.asked()} == {
        "max_tokens": 5, "temperature": 0.5, "top_k": 4, "top_p": 0.25, "min_p": 0.125, "seed": 7,
    }  # fmt: skip


def test_logprobs_are_asked_for_in_either_way() -> None:
    assert request().sampling.logprobs is None
    assert request(include=["message.output_text.logprobs"]).sampling.logprobs == 0
    assert request(top_logprobs=3).sampling.logprobs == 3
    assert request(top_logprobs=0).sampling.logprobs is None


def test_reasoning_is_as_in_chats() -> None:
    assert (request().thinking, request().effort) == (None, None)
    high = request(reasoning={"effort": "high", "summary": "auto"})
    assert (high.thinking, high.effort) == (True, "high")
    assert request(reasoning={"effort": "none"}).thinking is False
    assert body(reasoning={"summary": "auto"}).wants_summary
    assert body(reasoning={"generate_summary": "concise"}).wants_summary
    assert not body(reasoning={"summary": "none"}).wants_summary
    assert not body(reasoning={"effort": "low"}).wants_summary


def test_text_formats() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert request(text={"format": {"type": "text"}, "verbosity": "low"}).format is None
    assert request(text={"format": {"type": "json_object"}}).format == OutputFormat(
        "json_object", param="text.format"
    )
    asked = {"type": "json_schema", "name": "a", "schema": schema, "strict": True}
    assert request(text={"format": asked}).format == OutputFormat(
        "json_schema", schema=schema, strict=True, param="text.format"
    )
    assert refusal(text={"format": {"type": "json_schema", "name": "a"}}).param == "text.format.schema"
    assert refusal(text={"format": {"type": "xml"}}).param == "text.format.type"
    guided = request(guided_choice=["yes", "no"]).format
    assert guided is not None
    assert guided.choices == ("yes", "no")
    assert refusal(text={"format": {"type": "json_object"}}, guided_choice=["a"]).param == "guided_choice"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": []}, "input"),
        ({"input": 5}, "input"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt"),
        ({"previous_response_id": "resp_1", "conversation": "conv_1"}, "previous_response_id"),
        ({"background": True, "store": False}, "store"),
        ({"conversation": {"id": "conv_1"}, "store": False}, "store"),
        ({"include": ["everything"]}, "include"),
        ({"truncation": "sometimes"}, "truncation"),
        ({"metadata": {str(number): "" for number in range(17)}}, "metadata"),
        ({"metadata": {"k" * 65: ""}}, "metadata"),
        ({"metadata": {"k": "v" * 513}}, "metadata"),
        ({"metadata": {"k": 1}}, "metadata.k"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"top_logprobs": 21}, "top_logprobs"),
        ({"max_tool_calls": 0}, "max_tool_calls"),
        ({"temperature": -1}, "temperature"),
        ({"input": [{"type": "computer_call_output", "call_id": "c"}]}, "input"),
        ({"input": [{"role": "tool", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": "user"}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": [{"type": "image"}]}]}, "input[0].content[0].type"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_refused_with_its_name(fields: dict[str, Any], param: str) -> None:
    assert refusal(**fields).param == param


def test_hosted_tools_are_refused_by_name_or_left_out() -> None:
    tools = [{"type": "web_search", "external_web_access": True}, {"type": "function", "name": "f"}]
    refused = refusal(tools=tools)
    assert isinstance(refused, Unsupported)
    assert refused.param == "tools[0]"
    assert "web_search" in refused.message
    asked = body(tools=tools)
    left = asked.request(placed(asked.input, "input"), {}, LIMITS, "ignore")
    assert ([tool.name for tool in left.tools], left.unapplied) == (["f"], ("tools[0].web_search",))


def test_the_tools_of_namespaces_count() -> None:
    inner = [{"type": "function", "name": f"f{number}"} for number in range(100)]
    spaces = [{"type": "namespace", "name": name, "tools": inner} for name in ("a", "b")]
    assert len(request(tools=spaces[:1]).tools) == 100
    assert refusal(tools=spaces).param == "tools"


def test_unknown_fields_are_named() -> None:
    assert request(client_metadata={"a": 1}, prompt_cache_retention="24h").unknown == (
        "client_metadata",
        "prompt_cache_retention",
    )


def test_too_many_items_and_tools_are_refused_before_they_are_read() -> None:
    limits = LimitSettings(messages=4, tools=2)
    check_item_counts({"input": "text"}, limits)
    check_item_counts({"input": [{"content": ["a", "b"]}, {"output": "x"}]}, limits)
    with pytest.raises(TooLarge):
        check_item_counts({"input": [{"content": ["a", "b"]}, {"output": ["c"]}]}, limits)
    with pytest.raises(TooLarge):
        check_item_counts({"items": [1] * 5}, limits, "items")
    with pytest.raises(BadRequest) as refused:
        check_item_counts({"tools": [1] * 3}, limits)
    assert refused.value.param == "tools"


def test_too_much_text_is_refused() -> None:
    with pytest.raises(TooLarge):
        request(input="x" * 2**20 + "y")
