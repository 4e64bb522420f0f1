"""The bodies of Ollama's `/api/chat` and `/api/generate` as requests."""

from __future__ import annotations

import base64
import json

import pytest
from tests.support.sample_files import drawing, encoded

from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest, Problem, TooLarge, Unsupported
from duologue.values.messages import ImagePart, Message, TextPart, Tool, ToolCall
from duologue.values.requests import ChatRequest, ModelCard
from duologue.wire.ollama.ollama_requests import OllamaChatBody, OllamaGenerateBody
from duologue.wire.validation import validate

CARD = ModelCard("mini", "scripted", 2048, verbs=("tools", "continue"))
LIMITS = LimitSettings()
PICTURE = encoded(drawing(4, 4), "PNG")
BASE64 = base64.b64encode(PICTURE).decode()
USER = {"role": "user", "content": "Hello"}


def chat(*messages: object, card: ModelCard = CARD, **fields: object) -> ChatRequest:
    body = validate(OllamaChatBody, {"model": "mini", "messages": list(messages), **fields})
    return body.request(LIMITS, card)


def generate(**fields: object) -> ChatRequest:
    return validate(OllamaGenerateBody, {"model": "mini", **fields}).request(LIMITS, CARD)


def test_a_conversation_with_a_picture() -> None:
    request = chat(
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is this?", "images": [BASE64]},
        {"role": "assistant", "content": "A line.", "thinking": "I see it."},
        USER,
    )
    assert request.messages == (
        Message("system", (TextPart("Be brief."),)),
        Message("user", (ImagePart(PICTURE, "image/png"), TextPart("What is this?"))),
        Message("assistant", (TextPart("A line."),), reasoning="I see it."),
        Message("user", (TextPart("Hello"),)),
    )
    assert not request.continue_final


def test_results_of_tools_find_their_calls() -> None:
    calls = [
        {"function": {"name": "weather", "arguments": {"city": "Bern"}}},
        {"function": {"name": "time", "arguments": {}}},
        {"id": "mine", "function": {"name": "weather", "arguments": '{"city": "Basel"}'}},
    ]
    request = chat(
        USER,
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "content": "noon", "tool_name": "time"},
        {"role": "tool", "content": "rain"},
        {"role": "tool", "content": "sun", "tool_call_id": "mine"},
        {"role": "tool", "content": "late", "tool_name": "nobody"},
    )
    assert request.messages[1].tool_calls == (
        ToolCall("call_1_0", "weather", '{"city":"Bern"}'),
        ToolCall("call_1_1", "time", "{}"),
        ToolCall("mine", "weather", '{"city":"Basel"}'),
    )
    assert [(each.tool_call_id, each.name) for each in request.messages[2:]] == [
        ("call_1_1", "time"),
        ("call_1_0", "weather"),
        ("mine", "weather"),
        (None, "nobody"),
    ]


def test_tools_are_those_of_openai() -> None:
    function = {"name": "weather", "description": "Tells it.", "parameters": {"type": "object"}}
    request = chat(USER, tools=[{"type": "function", "function": function}])
    assert request.tools == (Tool("weather", "Tells it.", {"type": "object"}),)


def test_a_reply_that_is_begun_is_gone_on_with() -> None:
    begun = {"role": "assistant", "content": "Once upon"}
    assert chat(USER, begun).continue_final
    assert not chat(USER, begun, card=ModelCard("mini", "scripted", 2048)).continue_final
    call = {"function": {"name": "time", "arguments": {}}}
    assert not chat(USER, {**begun, "tool_calls": [call]}).continue_final


def test_what_is_ignored_is_named() -> None:
    request = chat(USER, colour="red", options={"num_ctx": 9999, "num_gpu": 1})
    assert request.unknown == ("colour", "options.num_gpu", "options.num_ctx")


def test_a_prompt_is_a_system_message_and_one_of_the_user() -> None:
    request = generate(prompt="Why?", system="Be brief.", images=[BASE64], think="low", format="json")
    assert request.messages == (
        Message("system", (TextPart("Be brief."),)),
        Message("user", (ImagePart(PICTURE, "image/png"), TextPart("Why?"))),
    )
    assert (request.thinking, request.effort) == (True, "low")
    assert request.format is not None
    assert request.prompt is None


def test_a_raw_prompt_has_no_messages() -> None:
    request = generate(prompt="<|user|>Why?", raw=True)
    assert (request.prompt, request.messages) == ("<|user|>Why?", ())


def test_a_gap_is_filled_between_two_texts() -> None:
    request = generate(prompt="def f():", suffix="return x")
    assert (request.prompt, request.suffix, request.messages) == ("def f():", "return x", ())


def test_an_old_context_is_named_as_ignored() -> None:
    assert generate(prompt="Why?", context=[1, 2, 3]).unknown == ("context",)


@pytest.mark.parametrize(
    ("fields", "kind", "param"),
    [
        ({"suffix": "}", "system": "x"}, BadRequest, "system"),
        ({"template": "{{ .Prompt }}"}, Unsupported, "template"),
        ({"raw": True, "system": "x"}, BadRequest, "system"),
        ({"raw": True, "context": [1]}, BadRequest, "context"),
        ({"raw": True, "images": [BASE64]}, BadRequest, "images"),
        ({"images": ["?"]}, BadRequest, "images[0]"),
        ({"prompt": "x" * 2_000_000}, TooLarge, None),
    ],
)
def test_what_cannot_be_kept_is_refused(
    fields: dict[str, object], kind: type[Problem], param: str | None
) -> None:
    with pytest.raises(kind) as refused:
        generate(**{"prompt": "Why?", **fields})
    assert refused.value.param == param or param is None


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"role": "robot"}, "messages[0].role must be one of system, user, assistant or tool."),
        ({"role": "user", "content": ["x"]}, "messages[0].content must be a string."),
        ({"role": "user", "images": "x"}, "messages[0].images must be a list."),
        ({"role": "user", "images": ["?"]}, "messages[0].images[0] is not valid base64."),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "no"}}]},
            "messages[0].tool_calls[0].function.arguments must be an object.",
        ),
    ],
)
def test_a_wrong_message_is_named(message: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadRequest) as refused:
        chat(message)
    assert refused.value.message == sentence


def test_nothing_asked_is_nothing_to_answer() -> None:
    assert validate(OllamaChatBody, {"model": "mini"}).is_empty
    assert validate(OllamaGenerateBody, {"model": "mini", "prompt": ""}).is_empty
    assert not validate(OllamaGenerateBody, {"model": "mini", "images": [BASE64]}).is_empty
    assert validate(OllamaChatBody, json.loads('{"messages": null, "tools": null}')).is_empty
