"""Requests to a server as llama.cpp's own tests make them. Used by `check_llama_server` and `llama_server_chats`."""

from __future__ import annotations

from typing import Any

import httpx
from features import KEY, MODEL, URL, events

# A connection for each request: llama.cpp's server closes kept ones without a word.
client = httpx.Client(
    base_url=URL,
    headers={"Authorization": f"Bearer {KEY}"},
    timeout=120,
    limits=httpx.Limits(max_keepalive_connections=0),
)
HELLO = [{"role": "user", "content": "Hello, who are you?"}]
ONCE = "Hello, who are you?"
NUMBER = 'root ::= "{" [0-9] "}"'
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 9}},
    "required": ["a"],
    "additionalProperties": False,
}


def ask(path: str, status: int = 200, **body: Any) -> Any:
    answer = client.post(path, json={"model": MODEL, **body})
    assert answer.status_code == status, f"{answer.status_code}: {answer.text[:200]}"
    return answer.json()


def told(path: str, **body: Any) -> list[Any]:
    with client.stream("POST", path, json={"model": MODEL, "stream": True, **body}) as answer:
        if answer.is_error:
            raise AssertionError(f"{answer.status_code}: {answer.read().decode()[:200]}")
        return list(events(answer.iter_lines()))


def text_of(answer: Any) -> str:
    return answer["choices"][0]["message"]["content"] or ""
