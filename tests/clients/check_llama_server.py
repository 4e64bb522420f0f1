"""What the tests of llama.cpp's own server require of it, written anew: its addresses, its fields and its answers."""

from __future__ import annotations

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import llama_server_chats  # noqa: F401
from features import MODEL, URL, feature, run
from llama_server_requests import HELLO, NUMBER, ONCE, SCHEMA, ask, client, told


@feature("GET /health and /v1/health")
def _() -> None:
    for path in ("/health", "/v1/health"):
        assert httpx.get(f"{URL}{path}").raise_for_status().json()["status"] in ("ok", "healthy")


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
    shorter = ask("/apply-template", messages=HELLO, add_generation_prompt=False)["prompt"]
    assert prompt.startswith(shorter)
    assert len(shorter) < len(prompt)


@feature("completion")
def _() -> None:
    answer = ask("/completion", prompt=ONCE, n_predict=8, temperature=0, ignore_eos=True)
    assert answer["stop"] is True
    assert answer["tokens_predicted"] == 8
    assert answer["stop_type"] == "limit"
    assert answer["timings"]["predicted_n"] == 8


@feature("completion: what it ends with, and its settings")
def _() -> None:
    body = {"prompt": ONCE, "n_predict": 8, "seed": 42, "temperature": 0, "ignore_eos": True}
    for answer in (ask("/completion", **body), told("/completion", **body)[-1]):
        assert answer["truncated"] is False
        assert isinstance(answer["has_new_line"], bool)
        assert answer["generation_settings"]["n_predict"] == 8
        assert answer["generation_settings"]["seed"] == 42


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


@feature("completion of several prompts, of texts and of tokens")
def _() -> None:
    answers = ask("/completion", prompt=[ONCE, "I believe"], n_predict=4)
    assert [answer["index"] for answer in answers] == [0, 1]
    tokens = ask("/tokenize", content=ONCE, add_special=True)["tokens"]
    first, second = ask("/completion", prompt=[tokens, ONCE], n_predict=6, temperature=0)
    assert first["content"] == second["content"]


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
    pieces = told("/completion", prompt=ONCE, n_predict=4, n_probs=5, temperature=0, ignore_eos=True)
    found += [token for piece in pieces for token in piece.get("completion_probabilities", ())]
    for token in found:
        assert token["logprob"] <= 0.001
        assert isinstance(token["bytes"], list)
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
    ids = ask("/tokenize", content=first["token"], add_special=False)["tokens"]
    by_id = {str(id): -100 for id in ids}
    for bias in (by_id, [[id, -100] for id in ids], {first["token"]: -100}):
        other = ask("/completion", prompt=ONCE, n_predict=1, n_probs=1, temperature=0, logit_bias=bias)
        assert first["token"] not in (other["content"], other["content"].strip()), bias


@feature("completion with the cache of its prompt")
def _() -> None:
    prompt = "The quick brown fox jumps over the lazy dog. " * 8
    ask("/completion", prompt=prompt, n_predict=1, cache_prompt=True)
    again = ask("/completion", prompt=prompt, n_predict=1, cache_prompt=True)
    assert again["timings"]["cache_n"] > 20


@feature("completion with response_fields")
def _() -> None:
    fields = ["content", "prompt", "generation_settings/n_predict"]
    answer = ask("/completion", prompt=ONCE, n_predict=2, response_fields=fields)
    assert set(answer) == set(fields), sorted(answer)
    assert answer["generation_settings/n_predict"] == 2
    assert ONCE in answer["prompt"]


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
    for wrong in ({"filename": 123}, {"filename": 123, "text": 456}):
        ask("/infill", 400, input_prefix="a", input_suffix="b", input_extra=[wrong])


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


@feature("a prompt that does not fit is refused, whole and streamed")
def _() -> None:
    long = "word " * 60_000
    for path, body in (
        ("/completion", {"prompt": long}),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": long}]}),
    ):
        for stream in (False, True):
            error = ask(path, 400, **body, stream=stream)["error"]
            assert "context" in error["message"], error


@feature("a completion without a limit ends with the context")
def _() -> None:
    answer = ask("/completion", prompt=ONCE, n_predict=-1, ignore_eos=True, temperature=0)
    assert answer["stop_type"] == "limit"
    assert answer["tokens_predicted"] > 100


@feature("a client that leaves frees its slot")
def _() -> None:
    with client.stream(
        "POST",
        "/completion",
        json={"model": MODEL, "prompt": ONCE, "n_predict": -1, "ignore_eos": True, "stream": True},
    ) as answer:
        next(answer.iter_lines())
    until = time.monotonic() + 30
    while any(slot["is_processing"] for slot in client.get("/slots").json()):
        assert time.monotonic() < until, "a slot is still in use"
        time.sleep(0.1)


@feature("errors: a missing prompt, a broken grammar, no messages")
def _() -> None:
    ask("/completion", 400, n_predict=1)
    ask("/completion", 400, prompt=ONCE, n_predict=1, grammar="root ::= (")
    error = ask("/v1/chat/completions", 400, messages=[])["error"]
    assert error["message"]


@feature("POST /rerank without documents is refused")
def _() -> None:
    for wrong in ([], None, 123, [1, 2, 3]):
        assert ask("/rerank", 400, query="a", documents=wrong)["error"]


@feature("models of the router: a state, /models/load of an unknown one, the list read anew")
def _() -> None:
    models = client.get("/models?reload=1").raise_for_status().json()["data"]
    assert all(model["status"]["value"] in ("loaded", "loading", "unloaded") for model in models)
    answer = client.post("/models/load", json={"model": "no-such-model"})
    assert answer.is_client_error
    assert answer.json()["error"]["message"]


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
    run("llama-server's own tests (rewritten)", "2026-11")
