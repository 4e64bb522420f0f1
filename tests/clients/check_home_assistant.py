"""What Home Assistant sends: its agent for OpenAI (streamed responses with tools, nothing stored) and its integration of Ollama."""

from __future__ import annotations

import json
from typing import Any

import httpx
from features import KEY, MODEL, OLLAMA_URL, URL, events, feature, run

client = httpx.Client(base_url=f"{URL}/v1", headers={"Authorization": f"Bearer {KEY}"}, timeout=120)
ollama = httpx.Client(base_url=OLLAMA_URL, timeout=120)
PROMPT = """You are a voice assistant for Home Assistant.
Answer questions about the world truthfully.
Answer in plain text. Keep it simple and to the point.
An overview of the areas and the devices in this smart home:
- names: Lamp
  domain: light
  areas: Kitchen
"""
PARAMETERS = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "area": {"type": "string"},
        "domain": {"type": "array", "items": {"type": "string", "enum": ["light"]}},
        "brightness": {"type": "integer", "minimum": 0, "maximum": 100},
    },
    "required": [],
}
TURN_ON = {
    "name": "HassTurnOn",
    "description": "Turns on/opens/presses a device or entity",
    "parameters": PARAMETERS,
}
CLOCK = {
    "name": "GetDateTime",
    "description": "Provides the current date and time.",
    "parameters": {"type": "object", "properties": {}, "required": []},
}


def respond(items: list[dict[str, Any]], **more: Any) -> list[Any]:
    body = {
        "model": MODEL,
        "input": items,
        "max_output_tokens": 150,
        "top_p": 1.0,
        "temperature": 1.0,
        "user": "01JX0000000000000000000000",
        "store": False,
        "stream": True,
        **more,
    }
    with client.stream("POST", "/responses", json=body) as answer:
        if answer.is_error:
            raise AssertionError(f"{answer.status_code}: {answer.read().decode()[:200]}")
        return list(events(answer.iter_lines()))


def tool(function: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "strict": False, **function}


@feature("OpenAI: the key is tried")
def _() -> None:
    assert client.get("/models", timeout=10).raise_for_status().json()["data"]


@feature("OpenAI: an answer, streamed")
def _() -> None:
    items = [
        {"type": "message", "role": "developer", "content": PROMPT},
        {"type": "message", "role": "user", "content": "Hello"},
    ]
    found = respond(items)
    kinds = [event["type"] for event in found]
    assert kinds[-1] in ("response.completed", "response.incomplete")
    assert "response.output_item.added" in kinds
    assert "usage" in found[-1]["response"]


@feature("OpenAI: a tool is called and answered")
def _() -> None:
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "developer", "content": PROMPT},
        {"type": "message", "role": "user", "content": "What time is it?"},
    ]
    tools = [tool(CLOCK), tool(TURN_ON)]
    found = respond(items, tools=tools, tool_choice={"type": "function", "name": "GetDateTime"})
    done = next(event for event in found if event["type"] == "response.function_call_arguments.done")
    assert json.loads(done["arguments"]) == {}
    call = next(event["item"] for event in found if event["type"] == "response.output_item.done")
    while call["type"] != "function_call":
        call = next(
            event["item"]
            for event in found
            if event["type"] == "response.output_item.done" and event["item"]["type"] == "function_call"
        )
    items += [
        {
            "type": "function_call",
            "name": call["name"],
            "arguments": call["arguments"],
            "call_id": call["call_id"],
        },
        {"type": "function_call_output", "call_id": call["call_id"], "output": '{"time": "12:00:00"}'},
    ]
    assert respond(items, tools=tools)[-1]["type"] in ("response.completed", "response.incomplete")


@feature("OpenAI: data in a format (AI tasks)")
def _() -> None:
    schema = {
        "type": "object",
        "properties": {"count": {"type": "integer", "minimum": 0, "maximum": 9}},
        "required": ["count"],
        "additionalProperties": False,
        "strict": True,
    }
    found = respond(
        [{"type": "message", "role": "user", "content": "How many lamps?"}],
        text={"format": {"type": "json_schema", "name": "lamps", "schema": schema}},
    )
    text = "".join(event["delta"] for event in found if event["type"] == "response.output_text.delta")
    assert isinstance(json.loads(text)["count"], int)


@feature("OpenAI: thinking asked to be encrypted, as nothing is stored")
def _() -> None:
    found = respond(
        [{"type": "message", "role": "user", "content": "Hello"}],
        reasoning={"effort": "low", "summary": "auto"},
        include=["reasoning.encrypted_content"],
    )
    assert found[-1]["type"] in ("response.completed", "response.incomplete")


def chat(messages: list[dict[str, Any]], **more: Any) -> list[Any]:
    body = {
        "model": MODEL,
        "messages": messages,
        "stream": True,
        "keep_alive": "-1s",
        "options": {"num_ctx": 8192, "num_predict": 60},
        "think": False,
        **more,
    }
    with ollama.stream("POST", "/api/chat", json=body) as answer:
        if answer.is_error:
            raise AssertionError(f"{answer.status_code}: {answer.read().decode()[:200]}")
        return [json.loads(line) for line in answer.iter_lines() if line]


@feature("Ollama: the models are listed")
def _() -> None:
    assert ollama.get("/api/tags", timeout=10).raise_for_status().json()["models"]


@feature("Ollama: chat with tools, streamed")
def _() -> None:
    tools = [{"type": "function", "function": TURN_ON}]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": PROMPT},
        {"role": "user", "content": "Turn on the lamp.", "images": []},
    ]
    assert chat(messages, tools=tools)[-1]["done"] is True
    call = {"function": {"name": "HassTurnOn", "arguments": {"name": "Lamp"}}}
    messages += [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": '{"success": true}'},
    ]
    assert chat(messages, tools=tools)[-1]["done"] is True


@feature("Ollama: data in a format (AI tasks)")
def _() -> None:
    schema = {
        "type": "object",
        "properties": {"count": {"type": "integer", "minimum": 0, "maximum": 9}},
        "required": ["count"],
    }
    lines = chat([{"role": "user", "content": "How many lamps?"}], format=schema)
    assert isinstance(json.loads("".join(line["message"]["content"] for line in lines))["count"], int)


if __name__ == "__main__":
    run("Home Assistant (its calls)", "2026.x")
