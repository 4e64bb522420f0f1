"""What Home Assistant sends: its integrations llama.cpp and LiteLLM (chat completions at an address), OpenAI (responses, nothing stored;
it has no field for an address, so a server stands in for OpenAI's by its name), and Ollama."""

from __future__ import annotations

import io
import json
import wave
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
        "safety_identifier": "01JX0000000000000000000000",
        "prompt_cache_key": "01JX0000000000000000000001",
        "prompt_cache_retention": "24h",
        "service_tier": "auto",
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
        text={"format": {"type": "json_schema", "name": "lamps", "schema": schema, "strict": True}},
    )
    text = "".join(event["delta"] for event in found if event["type"] == "response.output_text.delta")
    assert isinstance(json.loads(text)["count"], int)


@feature("OpenAI: an earlier thought comes back with its encrypted content")
def _() -> None:
    more = {"reasoning": {"effort": "low", "summary": "auto"}, "text": {"verbosity": "medium"}}
    # Up to 2026.2 it asked for the encrypted content; later versions send back what there is.
    found = respond(
        [{"type": "message", "role": "user", "content": "Hello"}],
        include=["reasoning.encrypted_content"],
        max_output_tokens=400,
        **more,
    )
    ended = [event["item"] for event in found if event["type"] == "response.output_item.done"]
    thought = next(item for item in ended if item["type"] == "reasoning")
    items = [
        {"type": "message", "role": "user", "content": "Hello"},
        {
            "type": "reasoning",
            "id": thought["id"],
            "summary": [{"type": "summary_text", "text": part["text"]} for part in thought["summary"]],
            "encrypted_content": thought["encrypted_content"],
        },
        {"type": "message", "role": "assistant", "content": "Hello!"},
        {"type": "message", "role": "user", "content": "Who are you?"},
    ]
    assert respond(items, **more)[-1]["type"] in ("response.completed", "response.incomplete")


@feature("OpenAI: speech and transcription")
def _() -> None:
    body = {
        "model": "gpt-4o-mini-tts",
        "voice": "alloy",
        "input": "Hello",
        "instructions": "None",
        "speed": 1.0,
        "response_format": "mp3",
    }
    assert len(client.post("/audio/speech", json=body).raise_for_status().content) > 1000
    silence = io.BytesIO()
    with wave.open(silence, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(bytes(32_000))
    fields = {
        "model": "gpt-4o-mini-transcribe",
        "response_format": "json",
        "language": "en",
        "prompt": "The following conversation is a smart home user talking to a voice assistant.",
    }
    files = {"file": ("a.wav", silence.getvalue(), "audio/wav")}
    heard = client.post("/audio/transcriptions", data=fields, files=files).raise_for_status()
    assert isinstance(heard.json()["text"], str)


FUNCTIONS = [{"type": "function", "function": CLOCK}, {"type": "function", "function": TURN_ON}]
SYSTEM = {"role": "system", "content": PROMPT}


def complete(messages: list[dict[str, Any]], *, stream: bool, **more: Any) -> list[Any]:
    body = {
        "model": MODEL,
        "messages": messages,
        "max_tokens": 100,
        "top_p": 1.0,
        "temperature": 0.7,
        "user": "01JX0000000000000000000000",
        "stream": stream,
        **more,
    }
    with client.stream("POST", "/chat/completions", json=body) as answer:
        if answer.is_error:
            raise AssertionError(f"{answer.status_code}: {answer.read().decode()[:200]}")
        return list(events(answer.iter_lines())) if stream else [json.loads(answer.read())]


@feature("llama.cpp: the model is tried with a tool and three tokens, whole and streamed")
def _() -> None:
    messages = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "What is the capital of France?"},
    ]
    tool = {
        "type": "function",
        "function": {
            "name": "test_function",
            "description": "Test function.",
            "parameters": {"type": "object", "properties": {}},
        },
    }
    body = {"model": MODEL, "messages": messages, "tools": [tool], "max_tokens": 3}
    assert (
        client.post("/chat/completions", json=body | {"stream": False}).raise_for_status().json()["choices"]
    )
    with client.stream("POST", "/chat/completions", json=body | {"stream": True}) as answer:
        answer.raise_for_status()
        chunks = list(events(answer.iter_lines()))
    assert any(choice["finish_reason"] for chunk in chunks for choice in chunk["choices"])


@feature("llama.cpp: an answer with tools offered, streamed")
def _() -> None:
    chunks = complete([SYSTEM, {"role": "user", "content": "Hello"}], stream=True, tools=FUNCTIONS)
    first = next(chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"])
    assert first["role"] == "assistant"
    assert [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"]][-1]


@feature("llama.cpp: a tool's result, with its data and its error")
def _() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "GetDateTime", "arguments": "{}"}}
    messages = [
        SYSTEM,
        {"role": "user", "content": "What time is it?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": '{"data":{"time":"12:00:00"},"error":null}'},
    ]
    assert complete(messages, stream=True, tools=FUNCTIONS)


@feature("llama.cpp: data in a format (strict)")
def _() -> None:
    schema = {
        "type": "object",
        "properties": {"count": {"type": "integer", "minimum": 0, "maximum": 9}},
        "required": ["count"],
    }
    format = {"type": "json_schema", "json_schema": {"name": "lamps", "strict": True, "schema": schema}}
    answer = complete(
        [SYSTEM, {"role": "user", "content": "How many lamps?"}],
        stream=False,
        response_format=format,
        max_tokens=400,
    )[0]
    assert isinstance(json.loads(answer["choices"][0]["message"]["content"])["count"], int)


@feature("LiteLLM: an answer, whole")
def _() -> None:
    body = {
        "model": MODEL,
        "user": "01JX0000000000000000000000",
        "tools": FUNCTIONS,
        "messages": [SYSTEM, {"role": "user", "content": "Hello"}],
    }
    answer = client.post("/chat/completions", json=body).raise_for_status().json()
    assert answer["choices"][0]["message"]["role"] == "assistant"


def chat(messages: list[dict[str, Any]], **more: Any) -> list[Any]:
    body = {
        "model": MODEL,
        "messages": messages,
        "stream": True,
        "keep_alive": -1,
        # Its forms give numbers with a point. It does not send num_predict, which keeps this short.
        "options": {"num_ctx": 8192.0, "num_predict": 60},
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
        {"role": "user", "content": "Turn on the lamp."},
    ]
    assert chat(messages, tools=tools)[-1]["done"] is True
    call = {"function": {"name": "HassTurnOn", "arguments": {"name": "Lamp"}}}
    messages += [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": '{"data": {"success": true}, "error": null}'},
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
    run("Home Assistant (its calls)", "2026.11.0")
