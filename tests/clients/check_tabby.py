"""What clients of tabbyAPI (SillyTavern, its own loaders) send: models, tokens, templates, presets, permission and its extra fields."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
from features import KEY, MODEL, URL, events, feature, run

# tabbyAPI takes a key in any of these headers.
client = httpx.Client(
    base_url=URL,
    headers={"x-api-key": KEY, "x-admin-key": KEY, "Authorization": f"Bearer {KEY}"},
    timeout=120,
)
HELLO = [{"role": "user", "content": "Hello, who are you?"}]


def ask(path: str, **body: Any) -> Any:
    answer = client.post(path, json=body)
    assert answer.is_success, f"{answer.status_code}: {answer.text[:200]}"
    return answer.json() if answer.content else None


def read(path: str) -> Any:
    return client.get(path).raise_for_status().json()


@feature("GET /health")
def _() -> None:
    assert httpx.get(f"{URL}/health").raise_for_status().json()["status"]


@feature("GET /v1/auth/permission")
def _() -> None:
    assert read("/v1/auth/permission")["permission"] in ("admin", "api")


@feature("GET /v1/model")
def _() -> None:
    assert read("/v1/model")["id"] == MODEL


@feature("GET /v1/models and /v1/model/list")
def _() -> None:
    for path in ("/v1/models", "/v1/model/list"):
        assert MODEL in [model["id"] for model in read(path)["data"]]


@feature("POST /v1/model/unload, and load with its progress streamed")
def _() -> None:
    ask("/v1/model/unload")
    body = {"name": MODEL, "model_name": MODEL, "max_seq_len": 2048, "cache_mode": "FP16"}
    with client.stream("POST", "/v1/model/load", json=body) as answer:
        assert answer.is_success, f"{answer.status_code}: {answer.read().decode()[:200]}"
        assert "text/event-stream" in answer.headers["content-type"]
        last = list(events(answer.iter_lines()))[-1]
    assert last["status"] == "finished", last
    assert read("/v1/model")["id"] == MODEL


@feature("POST /v1/token/encode and decode")
def _() -> None:
    found = ask("/v1/token/encode", text="Hello there", add_bos_token=False, encode_special_tokens=True)
    assert found["length"] == len(found["tokens"]) > 1
    assert ask("/v1/token/decode", tokens=found["tokens"])["text"].strip() == "Hello there"


@feature("POST /v1/token/encode of messages")
def _() -> None:
    assert ask("/v1/token/encode", text=HELLO)["length"] > 4


@feature("templates: list, unload")
def _() -> None:
    for path in ("/v1/templates", "/v1/template/list"):
        assert isinstance(read(path)["data"], list)
    assert client.post("/v1/template/unload").is_success
    answer = client.post("/v1/template/switch", json={"prompt_template_name": "no-such-template"})
    assert answer.status_code in (400, 404), answer.status_code


@feature("sampling overrides: list, switch, unload")
def _() -> None:
    for path in ("/v1/sampling/overrides", "/v1/sampling/override/list"):
        assert isinstance(read(path)["presets"], list)
    ask("/v1/sampling/override/switch", overrides={"max_tokens": {"override": 3, "force": True}})
    try:
        answer = ask("/v1/chat/completions", model=MODEL, messages=HELLO, max_tokens=20)
        assert answer["usage"]["completion_tokens"] <= 3, answer["usage"]
    finally:
        assert client.post("/v1/sampling/override/unload").is_success


@feature("LoRA adapters: list, those in use")
def _() -> None:
    for path in ("/v1/loras", "/v1/lora/list", "/v1/lora"):
        assert isinstance(read(path)["data"], list)


@feature("POST /v1/completions with its samplers, streamed")
def _() -> None:
    body = {
        "prompt": "Once upon a time",
        "max_tokens": 8,
        "stream": True,
        "min_p": 0.05,
        "repetition_penalty": 1.05,
        "penalty_range": 256,
        "temperature_last": True,
        "xtc_probability": 0,
        "dry_multiplier": 0,
        "token_healing": False,
        "add_bos_token": True,
        "ban_eos_token": False,
        "skip_special_tokens": True,
        "stop": ["\n\n\n"],
    }
    with client.stream("POST", "/v1/completions", json=body) as answer:
        assert answer.is_success, f"{answer.status_code}: {answer.read().decode()[:200]}"
        chunks = list(events(answer.iter_lines()))
    assert "".join(choice["text"] for chunk in chunks for choice in chunk["choices"])


@feature("chat with template_vars and response_prefix")
def _() -> None:
    answer = ask(
        "/v1/chat/completions",
        model=MODEL,
        messages=HELLO,
        max_tokens=8,
        template_vars={"enable_thinking": False},
        response_prefix="I am",
    )
    assert answer["choices"][0]["message"]["content"] is not None


@feature("chat with json_schema, regex_pattern and grammar_string")
def _() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}
    common = {"model": MODEL, "messages": HELLO, "max_tokens": 40}
    first = ask("/v1/chat/completions", **common, json_schema=schema)["choices"][0]["message"]["content"]
    assert isinstance(json.loads(first)["a"], bool)
    second = ask("/v1/chat/completions", **common, regex_pattern="[0-9]{2}")["choices"][0]["message"][
        "content"
    ]
    assert re.fullmatch("[0-9]{2}", second), second
    third = ask("/v1/chat/completions", **common, grammar_string='root ::= "yes" | "no"')
    assert third["choices"][0]["message"]["content"] in ("yes", "no")


@feature("a reply says its usage")
def _() -> None:
    answer = ask("/v1/chat/completions", model=MODEL, messages=HELLO, max_tokens=4)
    assert answer["usage"]["total_tokens"] > 4


@feature("errors are said, not tracebacks")
def _() -> None:
    answer = client.post("/v1/model/load", json={"name": "no-such-model"})
    assert answer.status_code in (400, 404), answer.status_code
    assert "Traceback" not in answer.text


if __name__ == "__main__":
    run("tabbyAPI's clients (their calls)", "2026-08")
