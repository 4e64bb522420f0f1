from __future__ import annotations

import base64
import json
import struct
from array import array
from typing import Any

import pytest

from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest, TooLarge
from duologue.http.openapi import model_schema
from duologue.wire.embeddings.embedding_body import (
    MOST_INPUTS,
    ContentBody,
    EmbeddingBody,
    check_size,
    content_answer,
    embedding_answer,
)
from duologue.wire.validation import validate


def read(**fields: Any) -> EmbeddingBody:
    return validate(EmbeddingBody, fields)


@pytest.mark.parametrize(
    ("value", "inputs"),
    [
        ("a text", ["a text"]),
        ("", [""]),
        (["one", "two"], ["one", "two"]),
        ([1, 2, 3], [(1, 2, 3)]),
        ([[1, 2], [3]], [(1, 2), (3,)]),
        (["one", [1, 2]], ["one", (1, 2)]),
        ([1] * (MOST_INPUTS + 1), [(1,) * (MOST_INPUTS + 1)]),
    ],
)
def test_the_inputs_come_in_every_form_of_the_api(value: object, inputs: list[object]) -> None:
    assert read(input=value).inputs == inputs


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([], "must be a text"),
        (5, "must be a text"),
        ({"text": "x"}, "must be a text"),
        (["a", 5], "entry 1"),
        ([5, "a"], "entry 0"),
        ([[1], [-1]], "entry 1"),
        ([[1], [True]], "entry 1"),
        ([[1.5]], "entry 0"),
        ([[2**40]], "entry 0"),
        (["a", None], "entry 1"),
        (["a"] * (MOST_INPUTS + 1), "at most 2,048"),
    ],
)
def test_what_is_no_input_is_refused_by_its_name(value: object, sentence: str) -> None:
    with pytest.raises(BadRequest, match=sentence) as refusal:
        read(input=value)
    assert refusal.value.param == "input"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("encoding_format", "int8"),
        ("dimensions", 0),
        ("dimensions", "64"),
        ("truncate_prompt_tokens", 100),
        ("truncate", True),
    ],
)
def test_a_field_that_cannot_be_kept_is_refused(field: str, value: object) -> None:
    with pytest.raises(BadRequest) as refusal:
        read(input="a", **{field: value})
    assert refusal.value.param == field


def test_a_missing_input_is_named() -> None:
    with pytest.raises(BadRequest) as refusal:
        read()
    assert refusal.value.param == "input"


def test_what_is_not_known_is_named_as_ignored() -> None:
    body = read(input="a", user="me", input_type="query", truncate=False, dimensions=None)
    assert body.unknown() == ("input_type",)


def test_the_text_of_a_request_is_limited_and_tokens_count_too() -> None:
    limits = LimitSettings(text_mb=1)
    check_size(["a" * 1024 * 1024], limits, "input")
    with pytest.raises(TooLarge, match=r"limits\.text_mb"):
        check_size(["a" * 1024 * 1024, "b"], limits, "input")
    with pytest.raises(TooLarge):
        check_size([(1,) * 300_000], limits, "input")


def test_the_answer_has_numbers_or_their_bytes() -> None:
    vectors = [array("f", [0.5, -0.25]), array("f", [1.0, 0.0])]
    numbers = json.loads(embedding_answer(vectors, 7, "m", in_base64=False, ignored=()))
    assert numbers == {
        "object": "list",
        "data": [
            {"object": "embedding", "index": 0, "embedding": [0.5, -0.25]},
            {"object": "embedding", "index": 1, "embedding": [1.0, 0.0]},
        ],
        "model": "m",
        "usage": {"prompt_tokens": 7, "total_tokens": 7},
    }
    packed = json.loads(embedding_answer(vectors, 7, "m", in_base64=True, ignored=("x",)))
    assert struct.unpack("<2f", base64.b64decode(packed["data"][0]["embedding"])) == (0.5, -0.25)
    assert packed["ignored"] == ["x"]


def test_llama_servers_body_has_content_or_input() -> None:
    assert validate(ContentBody, {"content": "a"}).inputs == ["a"]
    assert validate(ContentBody, {"input": [[1], "b"]}).inputs == [(1,), "b"]
    for fields in ({}, {"content": "a", "embd_normalize": -1}):
        with pytest.raises(BadRequest):
            _ = validate(ContentBody, fields).inputs
    assert json.loads(content_answer([array("f", [1.0])])) == [{"index": 0, "embedding": [[1.0]]}]


def test_the_documentation_shows_the_forms_of_the_input() -> None:
    assert "anyOf" in model_schema(EmbeddingBody)["properties"]["input"]
