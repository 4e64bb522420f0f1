"""A generation in llama.cpp's words; nothing it would drop in silence gets through."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from duologue.engines.contracts import Generation
from duologue.engines.llama.request import (
    COMPACT,
    FIELDS,
    MAX_CONSTRAINT,
    NOT_APPLIED,
    RANDOM_SEED,
    CompletionChunk,
    EngineError,
    Logprobs,
    Token,
    format_fields,
    generate_request,
    prefill_request,
    probe_request,
    problem_of,
    sampling_defaults,
    sampling_fields,
    token_logprobs,
)
from duologue.errors import BadRequest, ContextExceeded, EngineFailed
from duologue.values.events import TokenLogprob
from duologue.values.requests import OutputFormat, Sampling

VALUES: dict[str, Any] = {
    "dry_sequence_breakers": ("\n",),
    "samplers": ("top_k",),
    "ignore_eos": True,
    "logit_bias": {"5": 1.0},
}


def test_every_sampling_field_is_sent_or_declared_not_applied() -> None:
    assert set(FIELDS) | NOT_APPLIED == set(Sampling.__struct_fields__)
    assert not set(FIELDS) & NOT_APPLIED


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_a_field_that_is_asked_is_in_the_request_and_no_other(name: str) -> None:
    fields = sampling_fields(Sampling(**{name: VALUES.get(name, 2)}))
    assert set(fields) == {"n_predict", FIELDS[name]}


def test_nothing_asked_leaves_everything_to_the_model() -> None:
    assert sampling_fields(Sampling()) == {"n_predict": -1}


def test_what_is_not_applied_is_not_sent() -> None:
    assert sampling_fields(Sampling(length_penalty=1.2)) == {"n_predict": -1}


def test_the_engines_own_settings_are_told_by_our_names() -> None:
    told = {
        "temperature": 0.30000001192092896,
        "n_predict": -1,
        "seed": RANDOM_SEED,
        "n_probs": 0,
        "n_keep": 0,
    }
    assert sampling_defaults(told | {"samplers": ["top_k"], "ignore_eos": False, "repeat_last_n": 64}) == {
        "temperature": 0.3,
        "max_tokens": -1,
        "seed": -1,
        "samplers": ("top_k",),
        "ignore_eos": False,
        "repetition_window": 64,
        "dry_sequence_breakers": ("\n", ":", '"', "*"),
    }
    assert sampling_defaults({"seed": 5})["seed"] == 5


def test_a_window_of_minus_one_is_the_whole_context() -> None:
    fields = sampling_fields(Sampling(repetition_window=-1, dry_penalty_last_n=-1))
    assert fields["repeat_last_n"] > 100_000
    assert fields["dry_penalty_last_n"] > 100_000
    assert sampling_fields(Sampling(repetition_window=0))["repeat_last_n"] == 0


@pytest.mark.parametrize(
    ("seed", "sent"),
    [(0, 0), (7, 7), (-1, RANDOM_SEED), (RANDOM_SEED - 1, RANDOM_SEED - 1)],
)
def test_any_whole_number_is_a_seed_and_none_but_minus_one_means_chance(seed: int, sent: int) -> None:
    assert sampling_fields(Sampling(seed=seed))["seed"] == sent


def test_seeds_of_64_bits_stay_apart_and_none_means_chance() -> None:
    far = [seed * RANDOM_SEED + 1000 for seed in range(200)]
    seeds = [
        *far,
        *(seed << 32 for seed in range(1, 200)),
        *range(-200, -1),
        RANDOM_SEED,
        2**63 - 1,
        -(2**63),
    ]
    sent = [sampling_fields(Sampling(seed=seed))["seed"] for seed in seeds]
    assert len(set(sent)) == len(seeds)
    assert all(0 <= seed < RANDOM_SEED for seed in sent)


def test_samplers_go_by_several_names() -> None:
    fields = sampling_fields(Sampling(samplers=("Top-K", "typical_p", "temp", "min_p")))
    assert fields["samplers"] == ["top_k", "typ_p", "temperature", "min_p"]


def test_an_unknown_sampler_is_refused() -> None:
    with pytest.raises(BadRequest, match="no sampler 'magic'") as caught:
        sampling_fields(Sampling(samplers=("top_k", "magic")))
    assert caught.value.param == "samplers"


def test_a_bias_is_by_token_or_by_text() -> None:
    fields = sampling_fields(Sampling(logit_bias={"12": 1.5, "hello": -2.0, "²": 1.0}), 100)
    assert fields["logit_bias"] == [[12, 1.5], ["hello", -2.0], ["²", 1.0]]


def test_a_bias_for_a_token_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadRequest, match="token 100, but this model has 100 tokens") as caught:
        sampling_fields(Sampling(logit_bias={"100": 1.0}), 100)
    assert caught.value.param == "logit_bias"


def test_zero_alternatives_are_asked_as_one() -> None:
    assert sampling_fields(Sampling(logprobs=0))["n_probs"] == 1
    assert sampling_fields(Sampling(logprobs=5))["n_probs"] == 5


def test_a_prefill_reads_and_makes_nothing() -> None:
    request = prefill_request(3, (1, 2))
    assert (request["id_slot"], request["prompt"], request["n_predict"]) == (3, [1, 2], 0)
    assert request["cache_prompt"] is True
    assert request["return_progress"] is True


def test_a_generation_names_its_slot_and_its_markers() -> None:
    request = generate_request(
        1, (1,), Generation(Sampling(max_tokens=4), preserved=("<think>",)), vocabulary=9
    )
    assert (request["id_slot"], request["n_predict"], request["preserved_tokens"]) == (1, 4, ["<think>"])
    assert "preserved_tokens" not in generate_request(1, (1,), Generation(), vocabulary=9)


def test_a_probe_makes_one_token_under_the_constraint() -> None:
    request = probe_request(0, (1,), OutputFormat("json_object"), never_first=93)
    assert (request["n_predict"], request["json_schema"]) == (1, {"type": "object"} | COMPACT)
    assert request["logit_bias"][0][0] == 93


@pytest.mark.parametrize(
    ("format", "fields"),
    [
        (None, {}),
        (OutputFormat("json_object"), {"json_schema": {"type": "object"} | COMPACT}),
        (OutputFormat("json_schema", schema={"type": "array"}), {"json_schema": {"type": "array"} | COMPACT}),
        (OutputFormat("json_schema", schema={}), {"json_schema": {"type": "object"} | COMPACT}),
        (OutputFormat("grammar", grammar='root ::= "a"'), {"grammar": 'root ::= "a"'}),
    ],
)
def test_a_format_is_a_schema_or_a_grammar(format: OutputFormat | None, fields: dict[str, object]) -> None:
    assert format_fields(format) == fields


@pytest.mark.parametrize(
    "format",
    [
        OutputFormat("grammar"),
        OutputFormat("grammar", grammar="  "),
        OutputFormat("grammar", grammar="%llguidance {}\nstart: x"),
        OutputFormat("grammar", grammar="#" * (MAX_CONSTRAINT + 1)),
        OutputFormat("json_schema"),
        OutputFormat("json_schema", schema={"description": "x" * MAX_CONSTRAINT}),
        OutputFormat("json_schema", schema={"items": [{"minItems": 10_000_000}]}),
        OutputFormat("json_schema", schema={"properties": {"a": {"maxLength": 1e12}}}),
        OutputFormat("json_schema", schema={"items": {"maxItems": 90_000}}),
        OutputFormat("json_schema", schema={"properties": {f"p{at}": {} for at in range(401)}}),
        OutputFormat("json_schema", schema={"enum": [f"c{at}" for at in range(3001)]}),
        OutputFormat("json_schema", schema={"items": {"anyOf": [{"enum": ["a"] * 1000}] * 3}}),
    ],
)
def test_a_format_that_is_none_or_too_much_is_refused(format: OutputFormat) -> None:
    with pytest.raises(BadRequest) as caught:
        format_fields(format)
    assert caught.value.param == "response_format"


def test_a_property_may_be_called_like_a_keyword() -> None:
    schema: dict[str, object] = {"properties": {"minItems": {"type": "integer"}}}
    assert "minItems" in str(format_fields(OutputFormat("json_schema", schema=schema)))


def test_logprobs_become_values() -> None:
    other = Token("b", (98,), -3.4e38)
    logprobs = Logprobs((Token("a", (97,), -0.5, (Token("a", (97,), -0.5), other)),))
    assert token_logprobs(logprobs, 2) == (
        TokenLogprob("a", -0.5, b"a", (TokenLogprob("a", -0.5, b"a"), TokenLogprob("b", -9999.0, b"b"))),
    )
    assert token_logprobs(logprobs, 0) == (TokenLogprob("a", -0.5, b"a"),)
    assert token_logprobs(logprobs, None) == ()
    assert token_logprobs(None, 3) == ()


def test_half_a_character_is_spelt_by_its_bytes() -> None:
    logprobs = Logprobs((Token("a", (97,), -0.5, (Token(" ", (32, 0xF0, 0x9F), -0.7),)),))
    [entry] = token_logprobs(logprobs, 1)
    assert entry.top == (TokenLogprob(" \\xf0\\x9f", -0.7, b" \xf0\x9f"),)


def test_a_chunk_is_read_whatever_else_is_in_it() -> None:
    chunk = msgspec.json.decode(
        b'{"choices":[{"text":"a","index":0,"logprobs":null,"finish_reason":null}],"id":"x","new":{"y":1},'
        b'"timings":{"predicted_n":3,"predicted_ms":1.5}}',
        type=CompletionChunk,
    )
    assert chunk.choices[0].text == "a"
    assert chunk.timings.predicted_n == 3


def test_an_overflow_says_both_numbers() -> None:
    found = problem_of(EngineError("too long", "exceed_context_size_error", 600, 512))
    assert isinstance(found, ContextExceeded)
    assert "600" in found.message
    assert "512" in found.message


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("Field 'repeat_last_n': Value must be between 0 and 5", "repetition_window"),
        ("Field 'json_schema': nonsense", "response_format"),
        ("Field 'lora': nonsense", "lora"),
        ("Failed to initialize samplers: failed to parse grammar", "response_format"),
        ("Prompt contains invalid tokens", None),
    ],
)
def test_a_refusal_names_the_callers_own_field(message: str, param: str | None) -> None:
    found = problem_of(EngineError(message, "invalid_request_error"))
    assert isinstance(found, BadRequest)
    assert found.param == param


def test_a_failure_of_the_engine_is_its_own() -> None:
    assert isinstance(problem_of(EngineError("decode failed", "server_error")), EngineFailed)
    assert isinstance(
        problem_of(EngineError("Context size has been exceeded.", "server_error")), ContextExceeded
    )
    assert isinstance(problem_of(EngineError("Unexpected empty grammar stack", "server_error")), BadRequest)
