"""What the tests of llama.cpp's own server demand of it, in our words: its addresses, its fields and its answers."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
from features import KEY, MODEL, URL, events, feature, run

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


@feature("GET /health")
def _() -> None:
    assert httpx.get(f"{URL}/health").raise_for_status().json()["status"] in ("ok", "healthy")


@feature("GET /v1/models and /models")
def _() -> None:
    for path in ("/v1/models", "/models"):
        model = client.get(path).raise_for_status().json()["data"][0]
        assert isinstance(model["id"], str)


@feature("GET /props")
def _() -> None:
    props = client.get("/props").raise_for_status().json()
    assert props["total_slots"] >= 1
    assert props["default_generation_settings"]["n_ctx"] > 0
    assert "{%" in props["chat_template"] or "{{" in props["chat_template"]


@feature("GET /slots")
def _() -> None:
    slots = client.get("/slots").raise_for_status().json()
    assert all(isinstance(slot["id"], int) and "is_processing" in slot for slot in slots)


@feature("tokens: there and back")
def _() -> None:
    text = "Hello, wörld 🦉"
    tokens = ask("/tokenize", content=text)["tokens"]
    assert tokens
    assert all(isinstance(token, int) for token in tokens)
    assert ask("/detokenize", tokens=tokens)["content"].strip() == text


@feature("tokens with the beginning of a text, and without")
def _() -> None:
    bare = ask("/tokenize", content=ONCE, add_special=False)["tokens"]
    whole = ask("/tokenize", content=ONCE, add_special=True)["tokens"]
    assert whole[-len(bare) :] == bare
    assert len(whole) - len(bare) in (0, 1, 2)


@feature("tokens with their pieces")
def _() -> None:
    tokens = ask("/tokenize", content="Hello 🦉", with_pieces=True)["tokens"]
    pieces = b"".join(
        piece.encode() if isinstance(piece := token["piece"], str) else bytes(piece) for token in tokens
    )
    assert pieces.decode().strip() == "Hello 🦉"


@feature("POST /apply-template")
def _() -> None:
    prompt = ask("/apply-template", messages=HELLO)["prompt"]
    assert "Hello, who are you?" in prompt
    assert not prompt.endswith("Hello, who are you?")


@feature("completion")
def _() -> None:
    answer = ask("/completion", prompt=ONCE, n_predict=8, temperature=0, ignore_eos=True)
    assert answer["stop"] is True
    assert answer["tokens_predicted"] == 8
    assert answer["stop_type"] == "limit"
    assert answer["timings"]["predicted_n"] == 8


@feature("completion, streamed: the same text")
def _() -> None:
    whole = ask("/completion", prompt=ONCE, n_predict=12, temperature=0, ignore_eos=True)
    pieces = told("/completion", prompt=ONCE, n_predict=12, temperature=0, ignore_eos=True)
    assert "".join(piece["content"] for piece in pieces) == whole["content"]
    assert [piece["stop"] for piece in pieces] == [False] * (len(pieces) - 1) + [True]


@feature("completion of token ids")
def _() -> None:
    tokens = ask("/tokenize", content=ONCE, add_special=True)["tokens"]
    assert ask("/completion", prompt=tokens, n_predict=4, ignore_eos=True)["tokens_predicted"] == 4


@feature("completion of several prompts")
def _() -> None:
    answers = ask("/completion", prompt=[ONCE, "I believe"], n_predict=4)
    assert [answer["index"] for answer in answers] == [0, 1]


@feature("completion with a stop word")
def _() -> None:
    whole = ask("/completion", prompt=ONCE, n_predict=16, temperature=0, ignore_eos=True)["content"]
    word = re.findall(r"\w{2,}", whole)[1]
    answer = ask("/completion", prompt=ONCE, n_predict=16, temperature=0, stop=[word])
    assert word not in answer["content"]
    assert (answer["stop_type"], answer["stopping_word"]) == ("word", word)


@feature("completion with a grammar")
def _() -> None:
    answer = ask("/completion", prompt=ONCE, n_predict=10, grammar=NUMBER)
    assert re.fullmatch(r"\{\d\}", answer["content"]), answer["content"]


@feature("completion with json_schema")
def _() -> None:
    answer = ask("/completion", prompt="A number: ", n_predict=100, json_schema=SCHEMA)
    assert isinstance(json.loads(answer["content"])["a"], int)


@feature("completion with n_probs")
def _() -> None:
    answer = ask("/completion", prompt=ONCE, n_predict=4, n_probs=5, temperature=0, ignore_eos=True)
    found = answer["completion_probabilities"]
    assert len(found) == 4
    for token in found:
        assert token["logprob"] <= 0.001
        assert len(token["top_logprobs"]) == 5


@feature("completion with a seed: the same text")
def _() -> None:
    body = {"prompt": ONCE, "n_predict": 12, "seed": 42, "temperature": 1.0}
    ask("/completion", **body)  # afterwards the prompt is cached
    assert ask("/completion", **body)["content"] == ask("/completion", **body)["content"]


@feature("completion without the token of a bias")
def _() -> None:
    first = ask("/completion", prompt=ONCE, n_predict=1, n_probs=1, temperature=0, ignore_eos=True)[
        "completion_probabilities"
    ][0]
    banned = ask(
        "/completion",
        prompt=ONCE,
        n_predict=1,
        n_probs=1,
        temperature=0,
        ignore_eos=True,
        logit_bias=[[first["token"], False]],
    )
    assert banned["completion_probabilities"][0]["token"] != first["token"]


@feature("completion with the cache of its prompt")
def _() -> None:
    prompt = "The quick brown fox jumps over the lazy dog. " * 8
    ask("/completion", prompt=prompt, n_predict=1, cache_prompt=True)
    again = ask("/completion", prompt=prompt, n_predict=1, cache_prompt=True)
    assert again["timings"]["cache_n"] > 20


@feature("completion with response_fields")
def _() -> None:
    answer = ask("/completion", prompt=ONCE, n_predict=2, response_fields=["content", "timings/predicted_n"])
    assert set(answer) <= {"content", "timings/predicted_n", "predicted_n", "timings"}, sorted(answer)


@feature("samplers of its own are taken")
def _() -> None:
    ask(
        "/completion",
        prompt=ONCE,
        n_predict=4,
        top_k=20,
        min_p=0.05,
        typical_p=1.0,
        repeat_last_n=32,
        repeat_penalty=1.1,
        dry_multiplier=0.0,
        xtc_probability=0.0,
        mirostat=0,
        samplers=["top_k", "temperature"],
    )


@feature("infill")
def _() -> None:
    """A model without tokens for gaps says so; that is what the server itself does."""
    body = {"model": MODEL, "input_prefix": "def add(a, b):\n", "input_suffix": "\n", "n_predict": 4}
    answer = client.post("/infill", json=body)
    if answer.is_success:
        assert "content" in answer.json()
    else:
        assert answer.status_code in (400, 501), answer.status_code
        assert answer.json()["error"]["message"]


@feature("chat")
def _() -> None:
    answer = ask("/v1/chat/completions", messages=HELLO, max_tokens=10)
    assert answer["usage"]["completion_tokens"] <= 10
    assert answer["choices"][0]["message"]["role"] == "assistant"


@feature("chat at /chat/completions, without /v1")
def _() -> None:
    assert ask("/chat/completions", messages=HELLO, max_tokens=4)["choices"]


@feature("chat, streamed, with timings")
def _() -> None:
    chunks = told(
        "/v1/chat/completions", messages=HELLO, max_tokens=10, stream_options={"include_usage": True}
    )
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert "timings" in chunks[-1] or "timings" in chunks[-2]
    assert chunks[-1]["usage"]["completion_tokens"] > 0


@feature("chat with a grammar")
def _() -> None:
    answer = ask("/v1/chat/completions", messages=HELLO, max_tokens=10, grammar=NUMBER, temperature=0)
    assert re.fullmatch(r"\{\d\}", text_of(answer)), text_of(answer)


@feature("chat with response_format json_object and a schema in it")
def _() -> None:
    format = {"type": "json_object", "schema": SCHEMA}
    answer = ask("/v1/chat/completions", messages=HELLO, max_tokens=400, response_format=format)
    assert isinstance(json.loads(text_of(answer))["a"], int)


@feature("chat with response_format json_schema")
def _() -> None:
    format = {"type": "json_schema", "json_schema": {"schema": SCHEMA}}
    answer = ask("/v1/chat/completions", messages=HELLO, max_tokens=400, response_format=format)
    assert isinstance(json.loads(text_of(answer))["a"], int)


@feature("chat with logprobs")
def _() -> None:
    answer = ask(
        "/v1/chat/completions", messages=HELLO, max_tokens=5, logprobs=True, top_logprobs=4, temperature=0
    )
    content = answer["choices"][0]["logprobs"]["content"]
    assert content
    assert all(len(token["top_logprobs"]) == 4 and token["bytes"] for token in content)


@feature("chat that goes on with the assistant's beginning")
def _() -> None:
    messages = [*HELLO, {"role": "assistant", "content": "I am"}]
    answer = ask("/v1/chat/completions", messages=messages, max_tokens=8, temperature=0)
    assert answer["choices"][0]["message"] is not None


@feature("chat with chat_template_kwargs")
def _() -> None:
    ask("/v1/chat/completions", messages=HELLO, max_tokens=4, chat_template_kwargs={"enable_thinking": False})


@feature("chat with a tool that must be called")
def _() -> None:
    tool = {"type": "function", "function": {"name": "count", "description": "Counts.", "parameters": SCHEMA}}
    answer = ask("/v1/chat/completions", messages=HELLO, tools=[tool], tool_choice="required", max_tokens=400)
    call = answer["choices"][0]["message"]["tool_calls"][0]
    assert call["function"]["name"] == "count"
    assert isinstance(json.loads(call["function"]["arguments"])["a"], int)


@feature("n choices")
def _() -> None:
    assert len(ask("/v1/chat/completions", messages=HELLO, max_tokens=4, n=2)["choices"]) == 2


@feature("ids of completions are its own")
def _() -> None:
    first, second = (ask("/v1/chat/completions", messages=HELLO, max_tokens=1) for _ in range(2))
    assert first["id"].startswith("chatcmpl-")
    assert first["id"] != second["id"]


@feature("POST /v1/completions with logprobs")
def _() -> None:
    answer = ask("/v1/completions", prompt=ONCE, max_tokens=4, logprobs=3, temperature=0, ignore_eos=True)
    assert answer["object"] == "text_completion"
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["choices"][0]["logprobs"]


@feature("eight at a time")
def _() -> None:
    with ThreadPoolExecutor(8) as threads:
        found = [
            threads.submit(ask, "/completion", prompt=f"{number} and", n_predict=6) for number in range(8)
        ]
        assert all(answer.result()["tokens_predicted"] <= 6 for answer in found)


@feature("a prompt that does not fit is refused")
def _() -> None:
    answer = client.post("/completion", json={"model": MODEL, "prompt": "word " * 60_000, "n_predict": 1})
    assert answer.status_code == 400, answer.status_code
    assert answer.json()["error"]["message"]


@feature("errors: a missing prompt, a broken grammar, no messages")
def _() -> None:
    ask("/completion", 400, n_predict=1)
    ask("/completion", 400, prompt=ONCE, n_predict=1, grammar="root ::= (")
    error = ask("/v1/chat/completions", 400, messages=[])["error"]
    assert error["message"]


@feature("POST /v1/messages and count_tokens")
def _() -> None:
    answer = ask("/v1/messages", messages=HELLO, max_tokens=8)
    assert answer["type"] == "message"
    assert ask("/v1/messages/count_tokens", messages=HELLO)["input_tokens"] > 3


@feature("POST /v1/responses")
def _() -> None:
    answer = ask("/v1/responses", input="Hello", max_output_tokens=20)
    assert answer["object"] == "response"


@feature("GET /lora-adapters")
def _() -> None:
    assert isinstance(client.get("/lora-adapters").raise_for_status().json(), list)


@feature("GET /metrics, where it is on")
def _() -> None:
    answer = client.get("/metrics")
    if answer.is_success:
        assert "# TYPE" in answer.text
    else:  # off unless it was asked for, in both servers
        assert answer.status_code in (403, 404, 501), answer.status_code


@feature("pages of other origins may be told (CORS)")
def _() -> None:
    headers = {
        "Origin": URL,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    answer = client.options("/v1/chat/completions", headers=headers)
    assert answer.is_success, answer.status_code


if __name__ == "__main__":
    run("llama-server's own tests (in our words)", "2026-08")
