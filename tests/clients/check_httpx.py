"""A program without a client library: plain requests with httpx, as a shell script with curl would send them."""

from __future__ import annotations

import json

import httpx
from features import KEY, MODEL, URL, events, feature, run

client = httpx.Client(base_url=URL, headers={"Authorization": f"Bearer {KEY}"}, timeout=120)
HELLO = [{"role": "user", "content": "Hello, who are you?"}]


@feature("models")
def _() -> None:
    answer = client.get("/v1/models").raise_for_status().json()
    assert answer["object"] == "list"
    assert MODEL in [model["id"] for model in answer["data"]]


@feature("chat")
def _() -> None:
    body = {"model": MODEL, "messages": HELLO, "max_tokens": 20}
    answer = client.post("/v1/chat/completions", json=body).raise_for_status().json()
    assert answer["object"] == "chat.completion"
    assert answer["choices"][0]["message"]["content"]


@feature("chat, streamed to [DONE]")
def _() -> None:
    body = {"model": MODEL, "messages": HELLO, "max_tokens": 20, "stream": True}
    with client.stream("POST", "/v1/chat/completions", json=body) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in answer.iter_lines() if line.startswith("data:")]
    assert lines[-1] == "data: [DONE]"
    first = next(events(lines))
    assert first["object"] == "chat.completion.chunk"
    assert first["choices"][0]["delta"]["role"] == "assistant"


@feature("a body in UTF-8 with a media type of its own")
def _() -> None:
    body = {"model": MODEL, "messages": [{"role": "user", "content": "Grüße, 世界 🦉"}], "max_tokens": 5}
    content = json.dumps(body, ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json; charset=utf-8"}
    client.post("/v1/chat/completions", content=content, headers=headers).raise_for_status()


@feature("a body that is no JSON is refused with a message")
def _() -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.post("/v1/chat/completions", content=b"{", headers=headers)
    assert answer.status_code in (400, 422), answer.status_code
    assert answer.json()["error"]["message"]


@feature("an unknown address is 404 with a JSON body")
def _() -> None:
    answer = client.get("/v1/no-such-thing")
    assert answer.status_code == 404
    assert answer.json()["error"]


@feature("a wrong method is 405 with Allow")
def _() -> None:
    answer = client.get("/v1/chat/completions")
    assert answer.status_code == 405, answer.status_code
    assert "POST" in answer.headers["allow"]


@feature("a client that leaves stops its reply")
def _() -> None:
    body = {"model": MODEL, "messages": HELLO, "max_tokens": 500, "stream": True, "ignore_eos": True}
    with client.stream("POST", "/v1/chat/completions", json=body) as answer:
        next(answer.iter_lines())
    short = {"model": MODEL, "messages": HELLO, "max_tokens": 2}
    client.post("/v1/chat/completions", json=short, timeout=20).raise_for_status()


if __name__ == "__main__":
    run("httpx", httpx.__version__)
