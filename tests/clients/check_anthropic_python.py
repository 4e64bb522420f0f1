"""The Python client of Anthropic's API against a server."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
from anthropic import Anthropic, AsyncAnthropic
from features import KEY, MODEL, URL, feature, run

client = Anthropic(base_url=URL, api_key=KEY, max_retries=0, timeout=120)
HELLO: Any = [{"role": "user", "content": "Hello, who are you?"}]
WEATHER: Any = {
    "name": "weather",
    "description": "The weather of a city",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 12}},
        "required": ["city"],
        "additionalProperties": False,
    },
}


def text_of(message: Any) -> str:
    """The text of its blocks; there may be thoughts before it."""
    return "".join(block.text for block in message.content if block.type == "text")


@feature("messages")
def _() -> None:
    reply = client.messages.create(model=MODEL, max_tokens=400, messages=HELLO)
    assert reply.role == "assistant"
    assert text_of(reply)
    assert reply.stop_reason in ("end_turn", "max_tokens")
    assert reply.usage.output_tokens > 0


@feature("messages.stream")
def _() -> None:
    with client.messages.stream(model=MODEL, max_tokens=400, messages=HELLO) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text
    assert text_of(final) == text
    assert final.usage.input_tokens + (final.usage.cache_read_input_tokens or 0) > 0


@feature("messages, asynchronous")
def _() -> None:
    async def ask() -> str:
        async with AsyncAnthropic(base_url=URL, api_key=KEY, max_retries=0) as other:
            reply = await other.messages.create(model=MODEL, max_tokens=10, messages=HELLO)
            return reply.id

    assert asyncio.run(ask())


@feature("system blocks with cache_control")
def _() -> None:
    reply = client.messages.create(
        model=MODEL,
        max_tokens=10,
        system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        messages=HELLO,
    )
    assert reply.content


@feature("stop_sequences")
def _() -> None:
    # The newest models of Anthropic take no temperature, so that its client has no argument for it.
    always: Any = {"temperature": 0}
    whole = client.messages.create(model=MODEL, max_tokens=400, messages=HELLO, extra_body=always)
    word = text_of(whole).split()[2]
    cut = client.messages.create(
        model=MODEL, max_tokens=400, messages=HELLO, stop_sequences=[word], extra_body=always
    )
    assert (cut.stop_reason, cut.stop_sequence) == ("stop_sequence", word)


@feature("max_tokens")
def _() -> None:
    assert client.messages.create(model=MODEL, max_tokens=1, messages=HELLO).stop_reason == "max_tokens"


@feature("a forced tool and its result")
def _() -> None:
    messages: Any = [{"role": "user", "content": "The weather in Oslo?"}]
    reply = client.messages.create(
        model=MODEL,
        max_tokens=400,
        messages=messages,
        tools=[WEATHER],
        tool_choice={"type": "tool", "name": "weather"},
    )
    call: Any = next(block for block in reply.content if block.type == "tool_use")
    assert reply.stop_reason == "tool_use"
    assert isinstance(call.input["city"], str)
    messages += [
        {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in reply.content]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "sunny"}]},
    ]
    answer = client.messages.create(
        model=MODEL, max_tokens=400, messages=messages, tools=[WEATHER], tool_choice={"type": "none"}
    )
    assert text_of(answer)


@feature("a tool call, streamed")
def _() -> None:
    with client.messages.stream(
        model=MODEL,
        max_tokens=400,
        messages=[{"role": "user", "content": "The weather in Oslo?"}],
        tools=[WEATHER],
        tool_choice={"type": "any"},
    ) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_message()
    assert "input_json" in kinds
    assert final.stop_reason == "tool_use"


@feature("thinking")
def _() -> None:
    reply = client.messages.create(
        model=MODEL,
        max_tokens=2000,
        thinking={"type": "enabled", "budget_tokens": 1024},
        messages=[{"role": "user", "content": "What is 17 + 25?"}],
    )
    assert [block.type for block in reply.content][-1] == "text"
    thoughts: Any = [block for block in reply.content if block.type == "thinking"]
    assert all(thought.signature for thought in thoughts)
    again = client.messages.create(
        model=MODEL,
        max_tokens=2000,
        messages=[
            {"role": "user", "content": "What is 17 + 25?"},
            {
                "role": "assistant",
                "content": [block.model_dump(exclude_none=True) for block in reply.content],
            },
            {"role": "user", "content": "Thank you."},
        ],
    )
    assert again.content


@feature("messages.count_tokens")
def _() -> None:
    assert client.messages.count_tokens(model=MODEL, messages=HELLO).input_tokens > 3


@feature("models.list and retrieve")
def _() -> None:
    assert MODEL in [model.id for model in client.models.list()]
    assert client.models.retrieve(MODEL).display_name


@feature("errors have their types")
def _() -> None:
    try:
        client.messages.create(model="no-such-model", max_tokens=1, messages=HELLO)
    except anthropic.NotFoundError as error:
        body: Any = error.body
        assert body["error"]["type"] == "not_found_error"
    else:
        raise AssertionError("an unknown model was answered")
    try:
        client.messages.create(model=MODEL, max_tokens=1, messages=[])
    except anthropic.BadRequestError as error:
        body = error.body
        assert body["error"]["type"] == "invalid_request_error"
    else:
        raise AssertionError("no messages were taken")


if __name__ == "__main__":
    run("anthropic-sdk-python", anthropic.__version__)
