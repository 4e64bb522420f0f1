"""Anthropic's request body becomes the request every engine knows."""

from typing import Any

import pytest

from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest, TooLarge, Unsupported
from duologue.values.messages import Message, TextPart, Tool
from duologue.values.requests import ChatRequest, OutputFormat, Sampling
from duologue.wire.anthropic.messages_body import MessagesBody, TokenCountBody, check_blocks
from duologue.wire.validation import validate

HELLO = [{"role": "user", "content": "Hello"}]
SCHEMA: dict[str, object] = {"type": "object", "properties": {"a": {"type": "integer"}}}
TOOL = {"name": "f", "description": "d", "input_schema": SCHEMA}


def request(**fields: Any) -> ChatRequest:
    body = validate(MessagesBody, {"model": "m", "max_tokens": 9, "messages": HELLO} | fields)
    return body.translated(LimitSettings()).request


def test_the_shortest_request_does_not_think() -> None:
    assert request() == ChatRequest(
        (Message("user", (TextPart("Hello"),)),), model="m", sampling=Sampling(max_tokens=9), thinking=False
    )


@pytest.mark.parametrize("name", ["model", "max_tokens", "messages"])
def test_what_is_required_is_named(name: str) -> None:
    fields = {"model": "m", "max_tokens": 9, "messages": HELLO}
    del fields[name]
    with pytest.raises(BadRequest, match=f"{name} is missing"):
        validate(MessagesBody, fields)


def test_parameters_reach_the_request() -> None:
    asked = request(temperature=0.5, top_p=0.9, top_k=5, stop_sequences=["END", ""], seed=3)
    assert asked.sampling == Sampling(max_tokens=9, temperature=0.5, top_p=0.9, top_k=5, seed=3)
    assert asked.stop == ("END",)
    assert asked.unknown == ()


def test_no_tokens_only_read_the_prompt() -> None:
    asked = request(max_tokens=0)
    assert (asked.ahead, asked.sampling.max_tokens) == (True, None)


def test_thinking_in_all_its_forms() -> None:
    def thinking(value: dict[str, Any] | None, **fields: Any) -> tuple[Any, ...]:
        asked = request(thinking=value, **fields)
        return asked.thinking, asked.thinking_tokens, asked.effort

    assert thinking({"type": "enabled", "budget_tokens": 1024}) == (True, 1024, None)
    assert thinking({"type": "adaptive"}) == (True, None, None)
    assert thinking({"type": "adaptive"}, output_config={"effort": "low"}) == (True, None, "low")
    assert thinking({"type": "adaptive"}, output_config={"effort": "max"}) == (True, None, None)
    assert thinking({"type": "disabled"}, output_config={"effort": "low"}) == (False, None, None)
    assert thinking({"type": "between_tools"}) == (False, None, None)


def test_tools_and_their_choice() -> None:
    asked = request(tools=[TOOL], tool_choice={"type": "any", "disable_parallel_tool_use": True})
    assert asked.tools == (Tool("f", "d", SCHEMA),)
    assert (asked.tool_choice, asked.parallel_tool_calls) == ("required", False)


@pytest.mark.parametrize("fields", [{"output_config": {"format": {}}}, {"output_format": {}}])
def test_a_schema_under_both_names(fields: dict[str, Any]) -> None:
    format = {"type": "json_schema", "schema": SCHEMA}
    fields = {"output_config": {"format": format}} if "output_config" in fields else {"output_format": format}
    name = "output_config.format" if "output_config" in fields else "output_format"
    assert request(**fields).format == OutputFormat("json_schema", schema=SCHEMA, param=name)
    with pytest.raises(BadRequest, match="mutually exclusive"):
        request(output_config={"format": format}, output_format=format)


def test_a_beginning_of_the_reply_is_continued() -> None:
    asked = request(messages=[*HELLO, {"role": "assistant", "content": "The answer is ("}])
    assert asked.continue_final
    use = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    with pytest.raises(BadRequest, match="send their results as tool_result"):
        request(messages=[*HELLO, {"role": "assistant", "content": [use]}])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mcp_servers", [{"type": "url", "url": "https://a.b", "name": "n"}]),
        ("container", "container_1"),
        ("thread", {"type": "create"}),
        ("compaction", {"type": "summarize"}),
    ],
)
def test_what_would_change_the_answer_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(Unsupported, match=f"^{name} is not supported: ") as refused:
        request(**{name: value})
    assert refused.value.param == name
    assert request(**{name: None}) == request()


def test_what_has_no_effect_is_named() -> None:
    asked = request(
        service_tier="auto",
        context_management={"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        metadata={"user_id": "u"},
        cache_control={"type": "ephemeral"},
        tools=[{"type": "tool_search_tool_regex_20251119", "name": "s"}],
        something_new=1,
    )
    assert asked.unapplied == ("service_tier", "context_management", "tools[0]")
    assert asked.unknown == ("something_new",)


def test_a_count_needs_no_limit() -> None:
    body = validate(TokenCountBody, {"model": "m", "messages": HELLO, "system": "Be nice.", "tools": [TOOL]})
    counted = body.translated(LimitSettings()).request
    assert ([message.role for message in counted.messages], len(counted.tools)) == (["system", "user"], 1)


def test_too_much_is_refused_before_it_is_read() -> None:
    limits = LimitSettings(messages=10)
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x"}] * 9}
    with pytest.raises(TooLarge, match="more than 10 messages and blocks"):
        check_blocks({"messages": [{"role": "user", "content": [result]}]}, limits)
    check_blocks({"messages": HELLO, "system": [{}] * 9}, limits)
    check_blocks({"messages": "wrong", "system": 1}, limits)


def test_an_unknown_block_lists_the_known_ones() -> None:
    with pytest.raises(BadRequest, match=r"messages\[0\].content\[0\].type must be one of text, image"):
        request(messages=[{"role": "user", "content": [{"type": "hologram"}]}])
    with pytest.raises(BadRequest, match=r"messages have no content"):
        request(messages=[{"role": "user", "content": []}])
