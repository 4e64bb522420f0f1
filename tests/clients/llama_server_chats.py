"""What llama.cpp's server tests require of its chats: OpenAI's completions and responses, Anthropic's messages. Part of `check_llama_server`."""

from __future__ import annotations

import json
import re

from features import feature
from llama_server_requests import HELLO, NUMBER, SCHEMA, ask, text_of, told


@feature("chat")
def _() -> None:
    answer = ask("/v1/chat/completions", messages=HELLO, max_tokens=10)
    assert answer["usage"]["completion_tokens"] <= 10
    assert answer["choices"][0]["message"]["role"] == "assistant"


@feature("chat at /chat/completions, without /v1")
def _() -> None:
    assert ask("/chat/completions", messages=HELLO, max_tokens=4)["choices"]


@feature("chat, streamed, with timings")
def _() -> None:
    chunks = told(
        "/v1/chat/completions", messages=HELLO, max_tokens=10, stream_options={"include_usage": True}
    )
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert "timings" in chunks[-1] or "timings" in chunks[-2]
    assert chunks[-1]["usage"]["completion_tokens"] > 0


@feature("chat, streamed: one id, and the role in the first chunk alone")
def _() -> None:
    first, *others = told("/v1/chat/completions", messages=HELLO, max_tokens=10, return_progress=True)
    assert first["choices"][0]["delta"]["role"] == "assistant"
    assert not first["choices"][0]["delta"].get("content")
    assert all("role" not in choice["delta"] for chunk in others for choice in chunk["choices"])
    assert {chunk["id"] for chunk in others} == {first["id"]}


@feature("chat with a grammar")
def _() -> None:
    answer = ask("/v1/chat/completions", messages=HELLO, max_tokens=10, grammar=NUMBER, temperature=0)
    assert re.fullmatch(r"\{\d\}", text_of(answer)), text_of(answer)


@feature("chat with response_format json_object and a schema in it")
def _() -> None:
    format = {"type": "json_object", "schema": SCHEMA}
    answer = ask("/v1/chat/completions", messages=HELLO, max_tokens=400, response_format=format)
    assert isinstance(json.loads(text_of(answer))["a"], int)


@feature("chat with response_format json_schema")
def _() -> None:
    format = {"type": "json_schema", "json_schema": {"schema": SCHEMA}}
    answer = ask("/v1/chat/completions", messages=HELLO, max_tokens=400, response_format=format)
    assert isinstance(json.loads(text_of(answer))["a"], int)


@feature("chat with json_schema")
def _() -> None:
    answer = ask("/v1/chat/completions", messages=HELLO, max_tokens=20, json_schema={"const": "42"})
    assert json.loads(text_of(answer)) == "42"


@feature("chat with a response_format or messages that make no sense is refused")
def _() -> None:
    for format in (
        {"type": "sound"},
        *({"type": "json_object", "schema": wrong} for wrong in (123, {"type": 123})),
    ):
        assert ask("/v1/chat/completions", 400, messages=HELLO, response_format=format)["error"]
    file = {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}
    for wrong in (
        None,
        "string",
        [123],
        [{}],
        [{"role": 123}],
        [*HELLO, {}],
        [{"role": "user", "content": [file]}],
    ):
        assert ask("/v1/chat/completions", 400, messages=wrong)["error"]


@feature("chat with logprobs")
def _() -> None:
    answer = ask(
        "/v1/chat/completions", messages=HELLO, max_tokens=5, logprobs=True, top_logprobs=4, temperature=0
    )
    content = answer["choices"][0]["logprobs"]["content"]
    assert content
    assert all(len(token["top_logprobs"]) == 4 and token["bytes"] for token in content)


@feature("chat that goes on with the assistant's beginning")
def _() -> None:
    for beginning in ("I am", [{"type": "text", "text": "I"}, {"type": "text", "text": " am"}]):
        messages = [*HELLO, {"role": "assistant", "content": beginning}]
        answer = ask("/v1/chat/completions", messages=messages, max_tokens=8, temperature=0)
        assert answer["choices"][0]["message"] is not None


@feature("chat with chat_template_kwargs")
def _() -> None:
    ask("/v1/chat/completions", messages=HELLO, max_tokens=4, chat_template_kwargs={"enable_thinking": False})


@feature("chat with a tool that must be called")
def _() -> None:
    tool = {"type": "function", "function": {"name": "count", "description": "Counts.", "parameters": SCHEMA}}
    answer = ask("/v1/chat/completions", messages=HELLO, tools=[tool], tool_choice="required", max_tokens=400)
    call = answer["choices"][0]["message"]["tool_calls"][0]
    assert call["function"]["name"] == "count"
    assert isinstance(json.loads(call["function"]["arguments"])["a"], int)


@feature("n choices")
def _() -> None:
    assert len(ask("/v1/chat/completions", messages=HELLO, max_tokens=4, n=2)["choices"]) == 2


@feature("ids of completions are its own")
def _() -> None:
    first, second = (ask("/v1/chat/completions", messages=HELLO, max_tokens=1) for _ in range(2))
    assert first["id"].startswith("chatcmpl-")
    assert first["id"] != second["id"]


@feature("POST /v1/messages and count_tokens")
def _() -> None:
    answer = ask("/v1/messages", messages=HELLO, max_tokens=8)
    assert answer["type"] == "message"
    assert "timings" not in answer
    plain = ask("/v1/messages/count_tokens", messages=HELLO)["input_tokens"]
    assert ask("/v1/messages/count_tokens", messages=HELLO, system="Be brief.")["input_tokens"] > plain > 3


@feature("POST /v1/messages, streamed, and with a tool's result beside a text")
def _() -> None:
    kinds = [event["type"] for event in told("/v1/messages", messages=HELLO, max_tokens=20)]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert {"content_block_start", "content_block_delta", "content_block_stop"} <= set(kinds)
    use = {"type": "tool_use", "id": "tool_1", "name": "weather", "input": {"place": "Paris"}}
    result = {"type": "tool_result", "tool_use_id": "tool_1", "is_error": True, "content": "No such place."}
    messages = [
        {"role": "user", "content": "What is the weather?"},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "text", "text": "Here it is:"}, result]},
    ]
    assert ask("/v1/messages", messages=messages, max_tokens=40)["content"][0]["type"] == "text"


@feature("POST /v1/responses")
def _() -> None:
    answer = ask("/v1/responses", input="Hello", max_output_tokens=20)
    assert answer["object"] == "response"
    assert answer["id"].startswith("resp_")
    format = {"type": "json_schema", "name": "a", "schema": SCHEMA}
    answer = ask("/v1/responses", input="A number", max_output_tokens=400, text={"format": format})
    message = next(item for item in answer["output"] if item["type"] == "message")
    assert isinstance(json.loads(message["content"][0]["text"])["a"], int)
    ask("/v1/responses", 400, input="A number", text={"format": {"type": "json_schema", "name": "a"}})


@feature("tokens are counted: input_tokens of a chat and of a response")
def _() -> None:
    assert ask("/v1/chat/completions/input_tokens", messages=HELLO)["input_tokens"] > 3
    assert ask("/v1/responses/input_tokens", input="Hello")["input_tokens"] > 1
