"""OpenAI's Responses and Conversations APIs of a running server, with the official client: the bundled model, scripted replies, and a
server that falls while it writes in the background."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import OpenAI
from pydantic import BaseModel
from tests.e2e.conftest import Server

pytestmark = pytest.mark.system

WEATHER: Any = {
    "type": "function",
    "name": "weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    "strict": False,
}


def client(server: Server) -> Any:
    """Without types: what a union of the client's holds is what these tests are about."""
    return OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0, timeout=60)


def raw(text: str) -> str:
    """A step that writes exactly this text, a few characters at a time."""
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
    return "/raw " + json.dumps(pieces).replace("<", "\\u003c")


def call(name: str, **arguments: str) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def test_the_bundled_model_answers_goes_on_and_writes_json(bundled: Server) -> None:
    class Sum(BaseModel):
        total: int

    with client(bundled) as api:
        first = api.responses.create(input="Say hello", max_output_tokens=32)
        assert (first.status, first.model) == ("completed", "duologue-mini")
        assert first.output_text
        second = api.responses.create(input="And again", previous_response_id=first.id, max_output_tokens=32)
        assert second.usage.input_tokens > first.usage.input_tokens
        parsed = api.responses.parse(
            model=first.model, input="2+3", text_format=Sum, max_output_tokens=64, store=False
        )
        assert isinstance(parsed.output_parsed, Sum)
        counted = api.responses.input_tokens.count(model=first.model, input="Say hello")
        assert counted.input_tokens == first.usage.input_tokens
        chosen = api.responses.create(
            input="Weather in Oslo?", tools=[WEATHER], tool_choice={"type": "function", "name": "weather"},
            max_output_tokens=64,
        )  # fmt: skip
        calls = [item for item in chosen.output if item.type == "function_call"]
        assert [one.name for one in calls] == ["weather"]
        json.loads(calls[0].arguments)
        with api.responses.stream(model=first.model, input="Say hello", max_output_tokens=32) as stream:
            numbers = [event.sequence_number for event in stream]
        assert numbers == list(range(len(numbers)))


def test_a_tool_loop_with_thoughts_over_stored_responses(server: Server) -> None:
    script = "\n".join(
        (raw("<think>I look.</think>\n\n" + call("weather", city="Oslo")), "/then", "/say It is sunny.")
    )
    with client(server) as api:
        with api.responses.stream(model="scripted", input=script, tools=[WEATHER]) as stream:
            kinds = list(dict.fromkeys(event.type for event in stream))
            first = stream.get_final_response()
        assert "response.reasoning_text.delta" in kinds
        assert "response.function_call_arguments.delta" in kinds
        thought, asked = first.output
        assert (thought.content[0].text, json.loads(asked.arguments)) == ("I look.", {"city": "Oslo"})
        result = {"type": "function_call_output", "call_id": asked.call_id, "output": "sunny"}
        second = api.responses.create(input=[result], previous_response_id=first.id, tools=[WEATHER])
        assert second.output_text == "It is sunny."
        assert [item.type for item in api.responses.input_items.list(second.id)] == ["function_call_output"]


def test_a_conversation_is_shared_by_responses(server: Server) -> None:
    with client(server) as api:
        made = api.conversations.create(metadata={"topic": "names"})
        for text in ("/say One", "/say Two"):
            api.responses.create(input=text, conversation=made.id)
        items = list(api.conversations.items.list(made.id, order="asc"))
        assert [item.content[0].text for item in items] == ["/say One", "One", "/say Two", "Two"]
        api.conversations.delete(made.id)
        with pytest.raises(openai.NotFoundError):
            api.conversations.retrieve(made.id)


def test_a_background_response_outlives_its_reader_and_is_cancelled(server: Server) -> None:
    with client(server) as api:
        stream = api.responses.create(input="/say Hello\n/hang", background=True, stream=True)
        seen = []
        for event in stream:
            seen.append(event)
            if event.type == "response.output_text.delta":
                break
        stream.close()
        id = seen[0].response.id
        assert api.responses.retrieve(id).status == "in_progress"
        cancelled = api.responses.cancel(id)
        assert (cancelled.status, cancelled.output_text) == ("cancelled", "Hello")
        rest = list(api.responses.retrieve(id, stream=True, starting_after=seen[-1].sequence_number))
        assert rest[0].sequence_number == seen[-1].sequence_number + 1
        assert rest[-1].response.status == "cancelled"
        done = api.responses.create(input="/say Done", background=True)
        server.until(lambda: api.responses.retrieve(done.id).status == "completed")
        assert api.responses.retrieve(done.id).output_text == "Done"


def test_a_stored_file_is_read_and_a_batch_asks_for_responses(server: Server) -> None:
    with client(server) as api:
        file = api.files.create(file=("a.txt", b"Some words."), purpose="user_data")
        content = [
            {"type": "input_text", "text": "What is in it?"},
            {"type": "input_file", "file_id": file.id},
        ]
        answer = api.responses.create(input=[{"role": "user", "content": content}])
        assert "Some words." in answer.output_text
        line = {"custom_id": "a", "method": "POST", "url": "/v1/responses", "body": {"input": "/say Hello"}}
        lines = api.files.create(file=("in.jsonl", json.dumps(line).encode()), purpose="batch")
        batch = api.batches.create(input_file_id=lines.id, endpoint="/v1/responses", completion_window="24h")
        server.until(lambda: api.batches.retrieve(batch.id).status in ("completed", "failed"))
        written = json.loads(api.files.content(api.batches.retrieve(batch.id).output_file_id).text)
        response = written["response"]["body"]
        assert response["output"][0]["content"][0]["text"] == "Hello"
        assert api.responses.retrieve(response["id"]).output_text == "Hello"


def test_what_a_fallen_server_left_has_failed(serve: Callable[..., Server], tmp_path: Path) -> None:
    data = str(tmp_path / "kept")
    fallen = serve("--engine", "scripted", "--data", data).ready()
    with client(fallen) as api:
        kept = api.responses.create(input="/say Hello")
        begun = api.responses.create(input="/say Hello\n/hang", background=True)
    fallen.stop(signal.SIGKILL)
    again = serve("--engine", "scripted", "--data", data).ready()
    with client(again) as api:
        left = api.responses.retrieve(begun.id)
        assert (left.status, left.error.code) == ("failed", "server_restarted")
        on = api.responses.create(input="/say On", previous_response_id=kept.id)
        assert on.output_text == "On"
