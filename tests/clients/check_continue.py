"""What the editor extension Continue sends: chat, its agent's tools, completion of code, embeddings and ranking.

With the provider `openai` and a base address, as its documentation has it for servers of one's own, and with `llama.cpp`
and `ollama`. The prompts of its gaps are rendered by the extension itself, so a server must take them raw.
"""

from __future__ import annotations

import json
from typing import Any

import httpx
from features import KEY, MODEL, OLLAMA_URL, URL, events, feature, run

HEADERS = {
    "Authorization": f"Bearer {KEY}",
    "api-key": KEY,
    "x-api-key": KEY,
    "Content-Type": "application/json",
}
# A picture of one pixel.
DOT = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
client = httpx.Client(base_url=URL, headers=HEADERS, timeout=120)
GAP_STOPS = [
    "<fim_prefix>",
    "<fim_suffix>",
    "<fim_middle>",
    "<|endoftext|>",
    "/src/",
    "#- coding: utf-8",
    "```",
]
READ_FILE = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Use this tool if you need to view the contents of an existing file.",
        "parameters": {
            "type": "object",
            "required": ["filepath"],
            "properties": {
                "filepath": {"type": "string", "description": "The path of the file", "maxLength": 20}
            },
        },
    },
}


def ask(path: str, body: dict[str, Any]) -> list[Any]:
    with client.stream("POST", path, json={"model": MODEL, "stream": True, **body}) as answer:
        if answer.is_error:
            raise AssertionError(f"{answer.status_code}: {answer.read().decode()[:200]}")
        return list(events(answer.iter_lines()))


@feature("models")
def _() -> None:
    assert client.get("/v1/models").raise_for_status().json()["data"]


USAGE = {"stream_options": {"include_usage": True}}


@feature("chat, streamed with usage")
def _() -> None:
    # Parts of text are joined unless there is a picture; an empty reply of the assistant is sent as a space.
    messages = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": " "},
        {"role": "user", "content": "What is this?\n```python a.py\nprint(1)\n```"},
    ]
    chunks = ask("/v1/chat/completions", {"messages": messages, "max_tokens": 30, **USAGE})
    assert any(choice["delta"].get("content") for chunk in chunks for choice in chunk["choices"])
    assert chunks[-1]["usage"]["completion_tokens"] > 0


@feature("a picture with parts of text, where the model sees; else an error that says so")
def _() -> None:
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": DOT, "detail": "auto"}},
    ]
    body = {
        "model": MODEL,
        "stream": True,
        "messages": [{"role": "user", "content": parts}],
        "max_tokens": 30,
    }
    answer = client.post("/v1/chat/completions", json=body)
    if answer.is_error:
        assert answer.status_code in (400, 500), answer.status_code
        assert "image" in answer.json()["error"]["message"].lower(), answer.text


@feature("a rerank model, where there is one: scores in `data`")
def _() -> None:
    body = {"model": MODEL, "query": "adding numbers", "documents": ["def add(a, b)", "class Lamp"]}
    answer = client.post("/v1/rerank", json=body)
    if answer.is_success:
        assert [row["index"] for row in sorted(answer.json()["data"], key=lambda row: row["index"])] == [0, 1]
    else:
        assert answer.json()["error"]["message"]


@feature("the agent's tools, offered and answered")
def _() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "<important_rules>You are in agent mode.</important_rules>"},
        {"role": "user", "content": "Read a.py."},
    ]
    body = {
        "messages": messages,
        "tools": [READ_FILE],
        "parallel_tool_calls": False,
        "max_tokens": 60,
        **USAGE,
    }
    assert ask("/v1/chat/completions", body)
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "read_file", "arguments": '{"filepath":"a.py"}'},
    }
    messages += [
        {"role": "assistant", "content": " ", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "print(1)"},
    ]
    assert ask("/v1/chat/completions", body)


@feature("an edit: code that is predicted is let through")
def _() -> None:
    body = {
        "messages": [{"role": "user", "content": "Rename x to y in: x = 1"}],
        "prediction": {"type": "content", "content": "x = 1"},
        "max_tokens": 20,
    }
    assert ask("/v1/chat/completions", body)


@feature("a gap in code, rendered by the extension: /v1/completions")
def _() -> None:
    body = {
        "prompt": "<fim_prefix>def add(a, b):\n    return <fim_suffix>\n\nprint(add(1, 2))<fim_middle>",
        "max_tokens": 16,
        "temperature": 0.01,
        "stop": GAP_STOPS,
    }
    chunks = ask("/v1/completions", body)
    assert chunks[-1]["choices"][0]["finish_reason"] in ("stop", "length")
    assert all("text" in choice for chunk in chunks for choice in chunk["choices"])


@feature("llama.cpp: /completion")
def _() -> None:
    body = {
        "prompt": "def add(a, b):\n    return ",
        "n_predict": 8,
        "frequency_penalty": 0,
        "presence_penalty": 0,
        "top_p": 0.9,
        "top_k": 40,
        "min_p": 0,
        "mirostat": 0,
        "temperature": 0.01,
        "stop": GAP_STOPS,
    }
    pieces = ask("/completion", body)
    assert pieces[-1]["stop"] is True
    assert all(isinstance(piece["content"], str) for piece in pieces)


@feature("ollama: /api/show, /api/chat, a raw /api/generate")
def _() -> None:
    shown = client.post(f"{OLLAMA_URL}/api/show", json={"name": MODEL}).raise_for_status().json()
    # It reads the context from these lines, and takes a template with a suffix for one that fills gaps.
    assert isinstance(shown.get("parameters", ""), str)
    assert isinstance(shown.get("template", ""), str)
    tags = client.get(f"{OLLAMA_URL}/api/tags").raise_for_status().json()["models"]
    assert all(isinstance(model["name"], str) for model in tags)
    body: dict[str, Any] = {
        "model": MODEL,
        "messages": [{"role": "user", "content": "Hello"}],
        "options": {
            "num_predict": 20,
            "num_ctx": 2048,
            "temperature": 0.5,
            "stop": [],
            "num_thread": 4,
            "use_mmap": True,
            "num_gpu": 0,
        },
        "think": False,
        "keep_alive": 1800,
        "stream": True,
    }
    lines = client.post(f"{OLLAMA_URL}/api/chat", json=body).raise_for_status().text.splitlines()
    assert json.loads(lines[-1])["done"] is True
    raw = {
        "model": MODEL,
        "prompt": "def add(a, b):\n    return ",
        "raw": True,
        "options": {"num_predict": 8},
    }
    answer = (
        client.post(f"{OLLAMA_URL}/api/generate", json={**raw, "stream": False}).raise_for_status().json()
    )
    assert answer["done"] is True


if __name__ == "__main__":
    run("Continue (its calls)", "1.3.40")
