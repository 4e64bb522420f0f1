from __future__ import annotations

import json
from typing import Any

import pytest

from duologue.errors import BadRequest
from duologue.http.openapi import model_schema
from duologue.wire.embeddings.rerank_body import RerankBody, ScoreBody, rerank_answer, score_answer
from duologue.wire.validation import validate


def read(**fields: Any) -> RerankBody:
    return validate(RerankBody, {"query": "q", **fields})


def test_documents_are_texts_or_objects_with_one() -> None:
    body = read(documents=["a", {"text": "b", "title": "B"}])
    assert body.contents == ["a", "b"]


@pytest.mark.parametrize("documents", [[], "a", [5], [{"title": "b"}], ["a"] * 2049, [None]])
def test_what_is_no_list_of_documents_is_refused_by_its_name(documents: object) -> None:
    with pytest.raises(BadRequest) as refusal:
        read(documents=documents)
    assert refusal.value.param == "documents"


@pytest.mark.parametrize(
    ("fields", "param"), [({}, "documents"), ({"documents": ["a"], "raw_scores": True}, "raw_scores")]
)
def test_what_cannot_be_answered_is_refused(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        _ = read(**fields).contents
    assert refusal.value.param == param


@pytest.mark.parametrize("top_n", [0, -1, "2"])
def test_a_number_of_results_is_at_least_one(top_n: object) -> None:
    with pytest.raises(BadRequest):
        read(documents=["a"], top_n=top_n)


def test_the_best_come_first_and_equal_ones_in_their_order() -> None:
    body = read(documents=["a", "b", "c", "d"], top_n=3, max_tokens_per_doc=5)
    answer = json.loads(rerank_answer(body, [0.5, 0.9, 0.5, 0.1], 12, "m", "rerank-1"))
    # Continue reads `data`, as Voyage calls the results.
    assert answer.pop("data") == answer["results"]
    assert answer == {
        "id": "rerank-1",
        "object": "list",
        "model": "m",
        "results": [
            {"index": 1, "relevance_score": 0.9},
            {"index": 0, "relevance_score": 0.5},
            {"index": 2, "relevance_score": 0.5},
        ],
        "usage": {"prompt_tokens": 12, "total_tokens": 12},
        "ignored": ["max_tokens_per_doc"],
    }


def test_a_result_has_its_document_where_that_was_asked_for() -> None:
    body = read(documents=["a", {"text": "b"}], return_documents=True)
    results = json.loads(rerank_answer(body, [0.1, 0.2], 4, "m", "i"))["results"]
    assert [result["document"] for result in results] == [{"text": "b"}, {"text": "a"}]


def test_the_form_of_tei_is_answered_with_a_bare_list() -> None:
    body = read(texts=["a", "b"], return_text=True, top_n=99)
    assert json.loads(rerank_answer(body, [0.1, 0.2], 4, "m", "i")) == [
        {"index": 1, "score": 0.2, "text": "b"},
        {"index": 0, "score": 0.1, "text": "a"},
    ]


@pytest.mark.parametrize(
    ("one", "two", "pairs"),
    [
        ("q", "a", [("q", "a")]),
        ("q", ["a", "b"], [("q", "a"), ("q", "b")]),
        (["p", "q"], ["a", "b"], [("p", "a"), ("q", "b")]),
    ],
)
def test_pairs_are_one_text_with_others_or_as_many(one: object, two: object, pairs: object) -> None:
    assert validate(ScoreBody, {"text_1": one, "text_2": two}).pairs == pairs


def test_numbers_of_texts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(BadRequest, match="text_1 has 2"):
        _ = validate(ScoreBody, {"text_1": ["p", "q"], "text_2": ["a"]}).pairs


def test_scores_stay_in_the_order_of_the_request() -> None:
    body = validate(ScoreBody, {"text_1": "q", "text_2": ["a", "b"], "priority": 1})
    answer = json.loads(score_answer(body, [0.1, 0.2], 4, "m", "i"))
    assert [entry["score"] for entry in answer["data"]] == [0.1, 0.2]
    assert {entry["object"] for entry in answer["data"]} == {"score"}
    assert answer["ignored"] == ["priority"]


def test_the_documentation_shows_what_documents_are() -> None:
    assert model_schema(RerankBody)["properties"]["documents"]["type"] == "array"
