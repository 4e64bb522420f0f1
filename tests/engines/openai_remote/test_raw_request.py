"""A raw prompt for another server: what is sent to which kind, what is refused, and how the answer is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from duologue.engines.openai_remote.engine import RemoteOptions
from duologue.engines.openai_remote.known_model import KnownModel, card_of
from duologue.engines.openai_remote.raw_text import reading_of
from duologue.engines.openai_remote.request import check_raw, estimate_tokens, raw_body
from duologue.engines.openai_remote.server_kinds import KINDS, server_kind
from duologue.engines.openai_remote.stream import ReplyTranslator
from duologue.errors import Unsupported
from duologue.values.events import Done, Prefilled, TextDelta, TokenLogprob
from duologue.values.requests import ChatRequest, OutputFormat, RawFormat, Sampling, UpstreamModel

SCHEMA = OutputFormat("json_schema", schema={"type": "object"})


def raw(prompt: str | tuple[int, ...] = "Once", **more: Any) -> ChatRequest:
    return ChatRequest((), prompt, **more)


def body(kind: str, request: ChatRequest) -> dict[str, Any]:
    return raw_body(request, "m", server_kind(kind))


def translated(*chunks: dict[str, Any], request: ChatRequest | None = None) -> list[Any]:
    reading = reading_of(RawFormat(), request or raw())
    translator = ReplyTranslator(0.0, 1, reading=reading)
    events = [event for chunk in chunks for event in translator.feed(json.dumps(chunk).encode(), 1.0)]
    return [*events, *(translator.finished(1.0) or ())]


def chunk(text: str, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "text": text, "finish_reason": finish, **more}]}


def test_the_prompt_goes_as_it_is() -> None:
    sent = body("vllm", raw(stop=("x",), sampling=Sampling(max_tokens=5, top_k=3, logprobs=0)))
    assert sent == {
        "model": "m",
        "prompt": "Once",
        "stream": True,
        "max_tokens": 5,
        "top_k": 3,
        "logprobs": 1,
        "stream_options": {"include_usage": True},
        "stop": ["x"],
    }
    assert body("vllm", raw((1, 2)))["prompt"] == (1, 2)
    assert body("duologue", raw(suffix="end"))["suffix"] == "end"


def test_the_limit_has_the_older_name_and_is_always_there() -> None:
    assert body("openai", raw(sampling=Sampling(max_tokens=5)))["max_tokens"] == 5
    assert body("llamacpp", raw())["max_tokens"] == -1
    assert body("vllm", raw())["max_tokens"] is None


def test_a_schema_goes_where_it_is_kept_and_is_refused_elsewhere() -> None:
    assert body("llamacpp", raw(format=SCHEMA))["json_schema"] == {"type": "object"}
    assert body("vllm", raw(format=SCHEMA))["response_format"]["type"] == "json_schema"
    grammar = OutputFormat("grammar", grammar="root ::= [a]")
    assert body("llamacpp", raw(format=grammar))["grammar"] == "root ::= [a]"
    check_raw(raw(format=SCHEMA), server_kind("sglang"))
    for kind in ("", "openai", "lmstudio"):
        with pytest.raises(Unsupported) as refusal:
            check_raw(raw(format=SCHEMA), server_kind(kind))
        assert refusal.value.param == "response_format"


def test_only_servers_with_the_older_api_continue_a_raw_prompt() -> None:
    cards = {
        name: card_of(RemoteOptions("http://x", kind=name), KnownModel(UpstreamModel("m"), name))
        for name in KINDS
    }
    without = {name for name, card in cards.items() if "raw" not in card.verbs}
    assert without == {"anthropic", "google", "mistral", "groq", "deepseek", "ollama"}
    assert {name for name, card in cards.items() if "infill" in card.verbs} == {"openai", "duologue"}


def test_the_text_of_the_answer_is_not_read_any_further() -> None:
    text = '  <think>no</think><tool_call>{"name": "x"}</tool_call>\n'
    prefilled, *deltas, done = translated(*(chunk(each) for each in text), chunk("", "length"))
    assert isinstance(prefilled, Prefilled)
    assert "".join(delta.text for delta in deltas) == text
    assert isinstance(done, Done)
    assert done.finish == "length"


def test_the_stop_is_told() -> None:
    assert translated(chunk("a"), chunk("", "stop", stop_str="END"))[-1].stop == "END"
    assert translated(chunk("a"), chunk("", "stop", stop_reason="END"))[-1].stop == "END"


def test_logprobs_are_read_in_either_shape() -> None:
    request = raw(sampling=Sampling(logprobs=1))
    older = {
        "tokens": ["Hi", "!"],
        "token_logprobs": [-0.5, None],
        "top_logprobs": [{"Hi": -0.5, "Yo": -1.0}, None],
        "text_offset": [0, 2],
    }
    [_, delta, _] = translated(chunk("Hi!", "stop", logprobs=older), request=request)
    top = (TokenLogprob("Hi", -0.5, b"Hi"), TokenLogprob("Yo", -1.0, b"Yo"))
    assert delta == TextDelta("Hi!", (TokenLogprob("Hi", -0.5, b"Hi", top), TokenLogprob("!", 0.0, b"!")))
    newer = {"content": [{"token": "Hi!", "logprob": -1.0, "bytes": [72, 105, 33]}]}
    [_, delta, _] = translated(chunk("Hi!", "stop", logprobs=newer), request=request)
    assert delta.logprobs == (TokenLogprob("Hi!", -1.0, b"Hi!"),)
    for damaged in ({"tokens": 5}, {"tokens": ["a"], "token_logprobs": []}, {}, 5):
        [_, delta, _] = translated(chunk("Hi!", "stop", logprobs=damaged), request=request)
        assert (delta.text, delta.logprobs) == ("Hi!", ())


def test_an_answer_in_one_piece_is_read_too() -> None:
    whole = chunk("Hello", "stop") | {"usage": {"prompt_tokens": 2, "completion_tokens": 1}}
    [_, delta, done] = translated(whole)
    assert (delta.text, done.usage.input, done.usage.output) == ("Hello", 2, 1)


def test_a_prompt_is_estimated_where_nobody_counts() -> None:
    assert estimate_tokens(raw("x" * 40)) == 10
    assert estimate_tokens(raw((1, 2, 3))) == 3
