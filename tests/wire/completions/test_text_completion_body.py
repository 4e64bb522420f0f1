"""The body of /v1/completions: what a prompt may be, which fields there are, and what is refused by name."""

from types import SimpleNamespace
from typing import Any

import pytest

from duologue.errors import BadRequest, Problem, TooLarge
from duologue.values.requests import ModelCard, OutputFormat, Sampling
from duologue.wire.completions.text_completion_body import USUAL_TOKENS, TextCompletionBody
from duologue.wire.validation import validate

LIMITS: Any = SimpleNamespace(text_mb=1, messages=10, tools=10, choices=8)
CARD = ModelCard("m", "scripted", 100, verbs=("raw", "logprobs"))


def read(card: ModelCard = CARD, **fields: Any):
    body = validate(TextCompletionBody, {"prompt": "hello"} | fields)
    return body.requests(LIMITS, card)


def refusal(card: ModelCard = CARD, **fields: Any) -> Problem:
    with pytest.raises(Problem) as caught:
        read(card, **fields)
    assert str(caught.value.param) in caught.value.message
    return caught.value


@pytest.mark.parametrize(
    ("prompt", "prompts"),
    [
        ("a", ("a",)),
        (["a", "b"], ("a", "b")),
        ([1, 2], ((1, 2),)),
        ([[1], [2, 3]], ((1,), (2, 3))),
        (["a", [1, 2]], ("a", (1, 2))),
        ("", ("",)),
    ],
    ids=str,
)
def test_a_prompt_is_a_text_or_tokens_or_several(prompt, prompts):
    assert tuple(request.prompt for request in read(prompt=prompt)) == prompts


@pytest.mark.parametrize("prompt", [[], 5, [1.5], [True], [-1], [1, "a"], {}, [[1, "a"]], [2**31]], ids=str)
def test_anything_else_is_no_prompt(prompt):
    assert refusal(prompt=prompt).param == "prompt"


def test_a_body_without_a_prompt_is_refused():
    with pytest.raises(BadRequest, match="prompt is missing"):
        validate(TextCompletionBody, {})
    with pytest.raises(BadRequest, match="prompt is missing"):
        validate(TextCompletionBody, {"prompt": None})


def test_a_request_has_no_messages_and_takes_every_shared_field():
    [request] = read(
        model="m",
        max_tokens=5,
        temperature=0.5,
        repeat_penalty=1.1,
        stop="x",
        seed=4,
        logprobs=2,
        logit_bias={"5": -1},
        banned_tokens=[6],
        guided_choice=["a", "b"],
        suffix="end",
        user="me",
        return_tokens_as_token_ids=True,
    )
    assert request.messages == ()
    assert request.sampling == Sampling(
        max_tokens=5,
        temperature=0.5,
        repetition_penalty=1.1,
        seed=4,
        logprobs=2,
        logit_bias={"5": -1.0, "6": -100.0},
    )
    assert (request.model, request.stop, request.suffix) == ("m", ("x",), "end")
    assert request.format == OutputFormat("choice", choices=("a", "b"), param="guided_choice")
    assert request.unknown == ("user", "return_tokens_as_token_ids")


def test_a_completion_has_sixteen_tokens_unless_someone_says_otherwise():
    preset = ModelCard("m", "scripted", 100, verbs=("raw",), defaults={"max_tokens": 7})
    unlimited = ModelCard("m", "scripted", 100, verbs=("raw",), defaults={"max_tokens": -1})
    assert read()[0].sampling.max_tokens == USUAL_TOKENS == 16
    assert read(unlimited)[0].sampling.max_tokens == 16
    assert read(preset)[0].sampling.max_tokens is None
    assert read(max_tokens=-1)[0].sampling.max_tokens is None
    assert read(n_predict=3)[0].sampling.max_tokens == 3
    assert read(max_tokens=0)[0].sampling.max_tokens == 0
    assert refusal(max_tokens=-2).param == "max_tokens"


def test_logprobs_are_a_number_and_false_is_none():
    assert read(logprobs=0)[0].sampling.logprobs == 0
    assert read(logprobs=20)[0].sampling.logprobs == 20
    assert read(logprobs=False)[0].sampling.logprobs is None
    assert refusal(logprobs=21).param == "logprobs"
    assert refusal(logprobs=True).param == "logprobs"


def test_prompts_times_completions_are_bounded():
    assert len(read(prompt=["a"] * 8)) == 8
    assert refusal(prompt=["a"] * 9).param == "prompt"
    assert refusal(prompt=["a"] * 4, n=3).param == "n"
    assert refusal(prompt=["a"] * 4, best_of=3).param == "best_of"


def test_the_best_need_log_probabilities():
    assert read(best_of=3)[0].sampling.logprobs == 0
    assert read(best_of=3, logprobs=2)[0].sampling.logprobs == 2
    assert read(best_of=1)[0].sampling.logprobs is None
    assert refusal(ModelCard("m", "scripted", 9, verbs=("raw",)), best_of=2).param == "best_of"
    # Of a model that is still loading nobody knows.
    assert read(ModelCard("m", "scripted", 0), best_of=2)[0].sampling.logprobs == 0
    assert refusal(n=3, best_of=2).param == "best_of"
    assert refusal(best_of=2, stream=True).param == "best_of"


def test_an_echo_needs_a_text_and_no_logprobs_of_it():
    body = validate(TextCompletionBody, {"prompt": ["a", "b"], "echo": True})
    assert body.echoed == ("a", "b")
    assert validate(TextCompletionBody, {"prompt": "a"}).echoed == ()
    assert refusal(echo=True, prompt=[1, 2]).param == "echo"
    assert refusal(echo=True, logprobs=1).param == "echo"


@pytest.mark.parametrize("field", ["prompt_logprobs", "use_beam_search", "min_tokens", "stop_token_ids"])
def test_what_would_constrain_the_answer_is_refused(field):
    asked: dict[str, Any] = {field: 1}
    assert refusal(**asked).param == field
    asked = {field: 0}
    assert read(**asked)[0].unknown == ()


def test_the_text_has_a_limit():
    with pytest.raises(TooLarge) as caught:
        read(prompt=["a" * 600_000, "b" * 600_000])
    assert caught.value.param == "prompt"
