"""What Open WebUI sends to a connection: the OpenAI one (chat completions, or responses where the connection is set so), with its own
tasks beside the chat, and the Ollama one."""

from __future__ import annotations

import io
import json
import wave
from typing import Any

import httpx
from features import KEY, MODEL, OLLAMA_URL, URL, events, feature, run

# The headers about its user are sent where ENABLE_FORWARD_USER_INFO_HEADERS is set.
HEADERS = {
    "Authorization": f"Bearer {KEY}",
    "Content-Type": "application/json",
    "X-OpenWebUI-User-Name": "Anna%20M%C3%BCller",
    "X-OpenWebUI-User-Id": "3f0c",
    "X-OpenWebUI-User-Email": "anna@example.org",
    "X-OpenWebUI-User-Role": "user",
    "X-OpenWebUI-Auth-Type": "jwt",
    "X-OpenWebUI-Chat-Id": "9b1d",
}
client = httpx.Client(base_url=f"{URL}/v1", headers=HEADERS, timeout=120)
ollama = httpx.Client(base_url=OLLAMA_URL, headers=HEADERS, timeout=120)
HISTORY = """### Chat History:
<chat_history>
USER: Hello, who are you?
ASSISTANT: I am a small model.
</chat_history>"""
TASKS = {
    "title": '### Task:\nGenerate a concise, 3-5 word title with an emoji.\n### Output:\nJSON format: { "title": "..." }\n',
    "tags": '### Task:\nGenerate 1-3 broad tags.\n### Output:\nJSON format: { "tags": ["tag1", "tag2"] }\n',
    "follow-ups": '### Task:\nSuggest 3-5 relevant follow-up questions.\nJSON format: { "follow_ups": ["?"] }\n',
    "queries": '### Task:\nDetermine whether to search.\nReturn: { "queries": ["query1"] }\n',
}
CLOCK = {
    "type": "function",
    "function": {
        "name": "get_current_time",
        "description": "Get the current time.",
        "parameters": {"type": "object", "properties": {}, "required": []},
    },
}


@feature("the connection is verified: models")
def _() -> None:
    answer = client.get("/models").raise_for_status().json()
    assert all(isinstance(model["id"], str) for model in answer["data"])


@feature("chat, streamed with usage")
def _() -> None:
    body = {
        "model": MODEL,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [
            {"role": "system", "content": "User Context:\n\n"},
            {"role": "user", "content": "Hello, who are you?"},
        ],
        "max_tokens": 40,
        "temperature": 0.8,
        "top_p": 0.9,
        "frequency_penalty": 0.1,
        "seed": 42,
    }
    with client.stream("POST", "/chat/completions", json=body) as answer:
        answer.raise_for_status()
        assert "text/event-stream" in answer.headers["content-type"]
        chunks = list(events(answer.iter_lines()))
    assert chunks[-1]["usage"]["completion_tokens"] > 0
    assert any(choice["delta"].get("content") for chunk in chunks for choice in chunk["choices"])


for task, prompt in TASKS.items():

    @feature(f"its task: {task}")
    def _(prompt: str = prompt) -> None:
        body = {
            "model": MODEL,
            "messages": [{"role": "user", "content": f"{prompt}{HISTORY}"}],
            "stream": False,
            "max_tokens": 60,
        }
        answer = client.post("/chat/completions", json=body).raise_for_status().json()
        assert isinstance(answer["choices"][0]["message"]["content"], str)


@feature("native tools")
def _() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "What time is it?"}]
    body = {"model": MODEL, "messages": messages, "tools": [CLOCK], "stream": True, "max_tokens": 60}
    with client.stream("POST", "/chat/completions", json=body) as answer:
        answer.raise_for_status()
        list(events(answer.iter_lines()))
    call = {
        "index": 0,
        "id": "call_a",
        "type": "function",
        "function": {"name": "get_current_time", "arguments": "{}"},
    }
    messages += [
        # For connections of the kind llama.cpp the thought comes back beside the call.
        {"role": "assistant", "content": "", "reasoning_content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_a", "content": '{"current_time": "12:00"}'},
    ]
    with client.stream("POST", "/chat/completions", json=body) as answer:
        answer.raise_for_status()
        assert list(events(answer.iter_lines()))


@feature("speech and transcription")
def _() -> None:
    body = {"model": "tts-1", "input": "Hello", "voice": "alloy"}
    spoken = client.post("/audio/speech", json=body).raise_for_status()
    assert len(spoken.content) > 1000
    silence = io.BytesIO()
    with wave.open(silence, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(bytes(32_000))
    headers = {"Authorization": HEADERS["Authorization"]}
    heard = httpx.post(
        f"{URL}/v1/audio/transcriptions",
        files={"file": ("a.wav", silence.getvalue(), "audio/wav")},
        data={"model": "whisper-1"},
        headers=headers,
        timeout=60,
    )
    assert isinstance(heard.raise_for_status().json()["text"], str)


@feature("a reply that is continued (connections of the kind llama.cpp)")
def _() -> None:
    body = {
        "model": MODEL,
        "messages": [
            {"role": "user", "content": "Hello, who are you?"},
            {"role": "assistant", "content": "I am"},
        ],
        "continue_final_message": True,
        "add_generation_prompt": False,
        "stream": True,
        "max_tokens": 20,
    }
    with client.stream("POST", "/chat/completions", json=body) as answer:
        answer.raise_for_status()
        chunks = list(events(answer.iter_lines()))
    text = "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])
    assert not text.startswith("I am"), text


@feature("states of models (connections of the kind llama.cpp)")
def _() -> None:
    models = httpx.get(f"{URL}/models", headers=HEADERS, timeout=30).raise_for_status().json()["data"]
    assert {model["status"]["value"] for model in models} <= {"loaded", "sleeping", "loading", "unloaded"}


@feature("the Responses API, streamed, with a tool and its result")
def _() -> None:
    tool = {"type": "function", "strict": False, **CLOCK["function"]}
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "What time is it?"}]},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "I look."}],
        },
        {"type": "function_call", "call_id": "call_a", "name": "get_current_time", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_a", "output": '{"current_time": "12:00"}'},
    ]
    body = {
        "model": MODEL,
        "stream": True,
        "instructions": "User Context:\n\n",
        "input": items,
        "tools": [tool],
        "max_output_tokens": 60,
    }
    with client.stream("POST", "/responses", json=body) as answer:
        answer.raise_for_status()
        found = list(events(answer.iter_lines()))
    assert found[-1]["type"] in ("response.completed", "response.incomplete")


@feature("tokens of an Anthropic request, at the OpenAI connection")
def _() -> None:
    body = {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}]}
    assert client.post("/messages/count_tokens", json=body).raise_for_status().json()["input_tokens"] > 0


@feature("embeddings of documents, where a model makes them")
def _() -> None:
    body = {"input": ["a chunk", "another chunk"], "model": MODEL}
    answer = client.post("/embeddings", json=body)
    if answer.is_success:
        assert len(answer.json()["data"]) == 2
    else:  # The model of the test is for chat; the connection must say so, and not break.
        assert answer.status_code in (400, 404, 501), answer.status_code
        assert answer.json()["error"]["message"]


@feature("Ollama: version, tags, ps")
def _() -> None:
    assert ollama.get("/api/version").raise_for_status().json()["version"]
    tags = ollama.get("/api/tags").raise_for_status().json()["models"]
    assert any(model["model"].startswith(MODEL) for model in tags)
    assert "models" in ollama.get("/api/ps").raise_for_status().json()


@feature("Ollama: chat")
def _() -> None:
    body = {
        "model": f"{MODEL}:latest",
        "messages": [{"role": "user", "content": "Hello"}],
        "options": {"num_predict": 30, "temperature": 0.8, "num_ctx": 2048},
        "stream": True,
    }
    with ollama.stream("POST", "/api/chat", json=body) as answer:
        answer.raise_for_status()
        assert "ndjson" in answer.headers["content-type"]
        lines = [json.loads(line) for line in answer.iter_lines() if line]
    assert lines[-1]["done"] is True
    assert lines[-1]["eval_count"] > 0


if __name__ == "__main__":
    run("Open WebUI (its calls)", "0.12.4")
