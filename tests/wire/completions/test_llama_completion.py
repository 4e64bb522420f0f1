"""llama-server's own completions: bodies, answers, streams."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from duologue.errors import BadRequest, EngineFailed, Problem
from duologue.values.events import (
    Done,
    Failed,
    Prefilled,
    Progress,
    TextDelta,
    Timings,
    TokenLogprob,
    Usage,
)
from duologue.values.requests import ChatRequest, ModelCard, Sampling
from duologue.wire.completions.llama_completion import (
    InfillBody,
    LlamaCompletion,
    LlamaCompletionBody,
    LlamaStream,
    late_failure,
    settings_of,
)
from duologue.wire.validation import validate

LIMITS: Any = SimpleNamespace(text_mb=1, messages=10, tools=10, choices=3)
CARD = ModelCard("m", "scripted", 100, verbs=("raw", "logprobs"))
DONE = Done("stop", Usage(7, 3, 2), Timings(1, 10, 30, 4), "END")
SETTINGS = {"temperature": 0.5}


def read(**fields: Any) -> tuple[ChatRequest, ...]:
    return validate(LlamaCompletionBody, {"prompt": "hello"} | fields).requests(LIMITS, CARD)


def fill(**fields: Any) -> ChatRequest:
    [request] = validate(InfillBody, fields).requests(LIMITS, CARD)
    return request


def refusal(**fields: Any) -> str | None:
    with pytest.raises(BadRequest) as caught:
        read(**fields)
    return caught.value.param


def whole(*events: Any, prompts: tuple[object, ...] = ("hello",), probabilities: bool = False) -> Any:
    answer = LlamaCompletion("m", prompts, SETTINGS, probabilities=probabilities)
    answer.add([event if isinstance(event, tuple) else (0, event) for event in events])
    return json.loads(answer.body())


def stream(*events: Any, prompts: tuple[object, ...] = ("hello",)) -> list[Any]:
    encoder = LlamaStream("m", prompts, SETTINGS)
    data = encoder.encode([event if isinstance(event, tuple) else (0, event) for event in events])
    encoder.close()
    return [json.loads(frame.removeprefix("data: ")) for frame in data.decode().split("\n\n") if frame]


def test_a_completion_is_as_long_as_it_wants_unless_told() -> None:
    assert read()[0].sampling == Sampling()
    assert read(n_predict=-1)[0].sampling.max_tokens is None
    assert read(n_predict=5)[0].sampling.max_tokens == 5
    assert refusal(n_predict=-2) == "n_predict"


def test_the_fields_of_llama_server_are_known() -> None:
    [request] = read(
        n_probs=3,
        cache_prompt=False,
        id_slot=1,
        n_keep=5,
        repeat_penalty=1.5,
        dynatemp_range=0.5,
        json_schema={"type": "object"},
        stop=["x"],
        seed=-1,
    )
    assert request.sampling.logprobs == 3
    assert request.sampling.repetition_penalty == 1.5
    assert request.sampling.seed is None
    assert request.format is not None
    assert request.stop == ("x",)
    assert request.unknown == ("id_slot", "n_keep")


def test_biases_may_be_pairs() -> None:
    [request] = read(logit_bias=[[15, 1.5], ["word", -2], [7, False]])
    assert request.sampling.logit_bias == {"15": 1.5, "word": -2.0, "7": -10_000.0}
    assert read(logit_bias={"15": 1})[0].sampling.logit_bias == {"15": 1.0}
    for wrong in ([[1]], [5], [[1.5, 1]], [[1, "x"]], [[1, True]], [[1, 1e9]], [[1, 1]] * 100_001):
        assert str(refusal(logit_bias=wrong)).startswith("logit_bias")


def test_several_prompts_are_bounded_and_what_cannot_be_given_is_refused() -> None:
    assert [request.prompt for request in read(prompt=["a", [1]])] == ["a", (1,)]
    assert refusal(prompt=["a"] * 4) == "prompt"
    assert refusal(return_tokens=True) == "return_tokens"
    assert refusal(image_data=[{"data": "", "id": 1}]) == "image_data"
    assert refusal(n_probs=21) == "n_probs"


def test_an_infill_has_a_gap_between_two_texts() -> None:
    request = fill(input_prefix="def f(", input_suffix="): pass", prompt="a", n_predict=3)
    assert (request.prompt, request.suffix) == ("def f(a", "): pass")
    assert request.sampling.max_tokens == 3
    assert fill(input_prefix="a").suffix == ""
    extra = [{"filename": "x.py", "text": "x = 1"}, {"text": "y"}]
    assert fill(input_prefix="a", input_extra=extra).prompt == "x.py\nx = 1\n\ny\n\na"


def test_a_whole_answer() -> None:
    answer = whole(Prefilled(7, 2), TextDelta("one\n"), TextDelta("two"), DONE)
    assert answer == {
        "index": 0,
        "content": "one\ntwo",
        "tokens": [],
        "id_slot": -1,
        "stop": True,
        "model": "m",
        "tokens_predicted": 3,
        "tokens_evaluated": 7,
        "generation_settings": SETTINGS,
        "prompt": "hello",
        "has_new_line": True,
        "truncated": False,
        "stop_type": "word",
        "stopping_word": "END",
        "tokens_cached": 10,
        "timings": {
            "cache_n": 2,
            "prompt_n": 5,
            "prompt_ms": 10.0,
            "prompt_per_token_ms": 2.0,
            "prompt_per_second": 500.0,
            "predicted_n": 3,
            "predicted_ms": 30.0,
            "predicted_per_token_ms": 10.0,
            "predicted_per_second": 100.0,
        },
    }


def test_an_answer_may_have_chosen_fields_only() -> None:
    fields = ["content", "timings/predicted_n", "timings/none", "content/none", "none"]
    answer = LlamaCompletion("m", ("a",), SETTINGS, probabilities=False, fields=fields)
    answer.add([(0, TextDelta("x")), (0, DONE)])
    assert json.loads(answer.body()) == {"content": "x", "timings/predicted_n": 3}
    encoder = LlamaStream("m", ("a",), SETTINGS, ["stop", "content"])
    last = encoder.encode([(0, TextDelta("x")), (0, DONE)]).decode().strip().split("\n\n")[-1]
    assert json.loads(last.removeprefix("data: ")) == {"stop": True, "content": ""}


def test_why_it_stopped_and_what_was_ignored_are_told() -> None:
    assert whole(Done("length"))["stop_type"] == "limit"
    assert whole(Done("stop"))["stop_type"] == "eos"
    assert whole(Prefilled(1, 0, ("id_slot",)), Done("stop"))["ignored"] == ["id_slot"]


def test_several_prompts_have_a_list_of_answers() -> None:
    answers = whole((1, TextDelta("b")), (0, TextDelta("a")), (0, DONE), (1, DONE), prompts=("x", [1]))
    assert [(each["index"], each["content"], each["prompt"]) for each in answers] == [
        (0, "a", "x"),
        (1, "b", [1]),
    ]


def test_probabilities_of_tokens() -> None:
    top = (TokenLogprob("Hi", -0.5, b"Hi"), TokenLogprob("Yo", float("-inf"), b"Yo"))
    delta = TextDelta("Hi", (TokenLogprob("Hi", -0.5, b"Hi", top),))
    expected = {
        "token": "Hi",
        "bytes": [72, 105],
        "logprob": -0.5,
        "top_logprobs": [
            {"token": "Hi", "bytes": [72, 105], "logprob": -0.5},
            {"token": "Yo", "bytes": [89, 111], "logprob": -9999.0},
        ],
    }
    assert whole(delta, DONE, probabilities=True)["completion_probabilities"] == [expected]
    assert "completion_probabilities" not in whole(delta, DONE)
    assert stream(delta, DONE)[0]["completion_probabilities"] == [expected]


def test_a_stream_ends_with_an_event_that_says_stop() -> None:
    first, second, last = stream(Prefilled(7), TextDelta("a"), TextDelta("\n"), DONE)
    assert first == {
        "index": 0,
        "content": "a",
        "tokens": [],
        "stop": False,
        "id_slot": -1,
        "tokens_predicted": 1,
        "tokens_evaluated": 7,
    }
    assert (second["tokens_predicted"], last["content"], last["stop"]) == (2, "", True)
    assert (last["has_new_line"], last["stop_type"], last["prompt"]) == (True, "word", "hello")
    events = stream((0, TextDelta("a")), (0, DONE), (1, TextDelta("b")), (1, DONE), prompts=("x", "y"))
    assert [(each["index"], each["stop"]) for each in events] == [
        (0, False),
        (0, True),
        (1, False),
        (1, True),
    ]


def test_a_silence_has_a_comment_that_says_what_goes_on() -> None:
    encoder = LlamaStream("m", ("x",), {})
    notes = [encoder.note]
    for event in (Progress(5, 9), Prefilled(9)):
        assert encoder.encode([(0, event)]) == b""
        notes.append(encoder.note)
    assert notes == [b": waiting\n\n", b": prefill 5/9\n\n", b": writing\n\n"]


def test_what_failed_or_broke_off_is_an_error() -> None:
    for run in (whole, stream):
        with pytest.raises(Problem, match="no"):
            run(Failed("x", "no"))
        with pytest.raises(EngineFailed):
            run(TextDelta("a"))
        with pytest.raises(EngineFailed, match="cancelled"):
            run(Done("cancelled"))
    assert late_failure({"error": {"code": "x"}}) == b'data: {"error":{"code":"x"}}\n\n'


def test_the_settings_are_what_was_set() -> None:
    assert settings_of(ChatRequest((), "a", sampling=Sampling(top_k=3), stop=("x",))) == {
        "top_k": 3,
        "seed": -1,
        "n_predict": -1,
        "stop": ["x"],
    }


def test_the_settings_have_the_names_of_llama_server() -> None:
    told = settings_of(ChatRequest((), "a", sampling=Sampling(max_tokens=7, seed=3, repetition_penalty=1.1)))
    assert (told["n_predict"], told["seed"], told["repeat_penalty"]) == (7, 3, 1.1)
