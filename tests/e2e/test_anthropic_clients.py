"""Anthropic's official client against real servers: a scripted engine, one that sees, and the bundled model."""

from __future__ import annotations

import base64
import json
from typing import Any, Literal

import anthropic
import pytest
from anthropic import Anthropic
from pydantic import BaseModel
from tests.e2e.conftest import Server
from tests.support.sample_files import drawing, encoded

pytestmark = pytest.mark.system

KEY = "a-key-of-some-length"
WEATHER: Any = {
    "name": "get_weather",
    "description": "The weather in a city.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def client_of(server: Server, **options: Any) -> Any:
    """The client, without its types: requests here are wrong on purpose, or put together from parts."""
    asked: Any = {"base_url": server.url, "api_key": "any", "max_retries": 0, "timeout": 60} | options
    return Anthropic(**asked, http_client=anthropic.DefaultHttpxClient(verify=False))


@pytest.fixture
def client(server: Server) -> Any:
    return client_of(server)


def said(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def test_a_tool_round_trip_comes_from_the_cache(client: Any) -> None:
    call = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
    talk = said(f"/say I look.{call}\n/then\n/say It is warm.")
    with client.messages.stream(model="scripted", max_tokens=99, messages=talk, tools=[WEATHER]) as stream:
        first = stream.get_final_message()
    assert first.stop_reason == "tool_use"
    text, use = first.content
    assert (text.text, use.name, use.input) == ("I look.", "get_weather", {"city": "Rome"})
    result: Any = {"type": "tool_result", "tool_use_id": use.id, "content": "25 degrees"}
    talk += [first.to_param(), {"role": "user", "content": [result]}]
    last = client.messages.create(model="scripted", max_tokens=99, messages=talk, tools=[WEATHER])
    assert (last.content[0].text, last.stop_reason) == ("It is warm.", "end_turn")
    assert last.usage.cache_read_input_tokens > last.usage.input_tokens > 0
    counted = client.messages.count_tokens(model="scripted", messages=talk, tools=[WEATHER])
    assert counted.input_tokens >= last.usage.cache_read_input_tokens + last.usage.input_tokens


def test_thoughts_stops_beginnings_and_limits(client: Any) -> None:
    def ask(text: str, *more: Any, **fields: Any) -> Any:
        return client.messages.create(
            **{"model": "scripted", "max_tokens": 99, "messages": [*said(text), *more]} | fields
        )

    thought = ask("/say <think>hm</think>So.", thinking={"type": "adaptive"})
    assert [block.type for block in thought.content] == ["thinking", "text"]
    assert (thought.content[0].thinking, thought.content[1].text) == ("hm", "So.")
    stopped = ask("/say eight nine ten", stop_sequences=["nine"])
    assert (stopped.stop_reason, stopped.stop_sequence, stopped.content[0].text) == (
        "stop_sequence",
        "nine",
        "eight ",
    )
    continued = ask("/say eight nine ten", {"role": "assistant", "content": "eight"})
    assert continued.content[0].text == " nine ten"
    assert ask("/say eight nine ten", max_tokens=2).stop_reason == "max_tokens"
    warmed = ask("/say eight nine ten", max_tokens=0)
    assert (warmed.content, warmed.usage.output_tokens, warmed.stop_reason) == ([], 0, "max_tokens")


def test_errors_have_the_clients_own_classes(client: Any, serve: Any) -> None:
    for fields, kind in (
        ({"model": "nope"}, anthropic.NotFoundError),
        ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, anthropic.BadRequestError),
        ({"messages": said("/fail Oh no.")}, anthropic.ServiceUnavailableError),
    ):
        with pytest.raises(kind) as caught:
            client.messages.create(**{"model": "scripted", "max_tokens": 9, "messages": said("Hi")} | fields)
        assert caught.value.request_id
    with (
        pytest.raises(anthropic.APIStatusError, match="Oh no") as late,
        client.messages.stream(
            model="scripted", max_tokens=9, messages=said("/say Hi\n/fail Oh no.")
        ) as stream,
    ):
        stream.until_done()
    assert (late.value.type, late.value.error_code) == ("overloaded_error", "scripted_failure")
    with pytest.raises(anthropic.NotFoundError):
        client.messages.batches.retrieve("msgbatch_1")
    locked = serve("--engine", "scripted", DUOLOGUE_KEY=KEY).ready()
    with pytest.raises(anthropic.AuthenticationError) as refused:
        client_of(locked).models.list()
    assert refused.value.type == "authentication_error"
    for options in ({"api_key": KEY}, {"api_key": None, "auth_token": KEY}):
        assert [model.id for model in client_of(locked, **options).models.list()] == ["scripted"]
    by_header = client_of(locked, default_headers={"x-api-key": KEY, "Authorization": anthropic.omit})
    assert by_header.models.retrieve("scripted").max_input_tokens == 1_000_000


def test_pictures_in_messages_and_in_results(serve: Any) -> None:
    options = json.dumps({"kind": "chat", "modalities": ["text", "image"]})
    seeing = client_of(serve("--engine", "scripted", DUOLOGUE_OPTIONS=options).ready())
    data = base64.b64encode(encoded(drawing())).decode()
    picture: Any = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    use: Any = {"type": "tool_use", "id": "toolu_1", "name": "screenshot", "input": {}}
    result: Any = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [picture]}
    message = seeing.messages.create(
        model="scripted",
        max_tokens=99,
        messages=[
            {"role": "user", "content": [{"type": "text", "text": "Look."}, picture]},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result, {"type": "text", "text": "/got"}]},
        ],
    )
    assert [word.partition(":")[0] for word in message.content[0].text.split()] == ["image/png"] * 2
    away: Any = {"type": "image", "source": {"type": "url", "url": "http://127.0.0.1:1/a.png"}}
    with pytest.raises(anthropic.PermissionDeniedError, match=r"messages\[0\]\.content\[0\]: 127"):
        seeing.messages.create(model="scripted", max_tokens=9, messages=[{"role": "user", "content": [away]}])


def test_a_schema_and_a_forced_call_on_the_bundled_model(bundled: Server) -> None:
    class Sky(BaseModel):
        city: Literal["Rome", "Oslo"]
        warm: bool

    client = client_of(bundled)
    asked: Any = {"model": "duologue-mini", "max_tokens": 200, "messages": said("Is Rome warm?")}
    assert isinstance(client.messages.parse(**asked, output_format=Sky).parsed_output, Sky)
    schema = {"type": "object", "properties": {"city": {"enum": ["Rome", "Oslo"]}}, "required": ["city"]}
    tool = {"name": "get_weather", "input_schema": schema}
    for choice in ({"type": "any"}, {"type": "tool", "name": "get_weather"}):
        with client.messages.stream(**asked, tools=[tool], tool_choice=choice) as stream:
            message = stream.get_final_message()
        assert (message.stop_reason, message.content[-1].name) == ("tool_use", "get_weather")
        assert message.content[-1].input["city"] in ("Rome", "Oslo")
    with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
        client.messages.create(**asked | {"messages": said("word " * 5000)})


def test_what_an_agent_sends_is_answered_by_the_bundled_model(bundled: Server) -> None:
    client = client_of(bundled)
    [model] = [entry.id for entry in client.models.list()][:1]
    cached: Any = {"type": "ephemeral"}
    tools: Any = [
        {**WEATHER, "cache_control": cached},
        {"type": "bash_20250124", "name": "bash"},
        {
            "name": "Task",
            "description": "Starts an agent.",
            "input_schema": {"type": "object", "properties": {}},
        },
    ]
    fields: Any = {
        "model": model,
        "system": [
            {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1; cch=1;"},
            {"type": "text", "text": "You are an agent. " * 20, "cache_control": cached},
        ],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "<system-reminder>Be brief.</system-reminder>"},
                    {"type": "text", "text": "Say hello.", "cache_control": cached},
                ],
            }
        ],
        "tools": tools,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    counted = client.messages.count_tokens(**fields)
    with client.beta.messages.stream(
        **fields,
        max_tokens=40,
        betas=["claude-code-20250219", "interleaved-thinking-2025-05-14"],
        context_management={"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        metadata={"user_id": "user_1"},
    ) as stream:
        message = stream.get_final_message()
    assert message.stop_reason in ("end_turn", "max_tokens", "tool_use")
    assert message.usage.input_tokens + (message.usage.cache_read_input_tokens or 0) == counted.input_tokens
    again = client.messages.create(**fields, max_tokens=8)
    assert again.usage.cache_read_input_tokens > again.usage.input_tokens
