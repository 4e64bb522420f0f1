"""`POST /v1/parse`: the answer, whose format it is, and how wrong requests are refused."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from fastapi.testclient import TestClient

from duologue.errors import Problem
from duologue.gateway.dialects.parse_routes import router
from duologue.gateway.models.registry import ModelRegistry
from duologue.http.error_responses import problem_body, problem_status
from duologue.values.requests import ModelCard

CARDS = (
    ModelCard("thinker", "scripted", 1000, tool_format="hermes", thoughts="[THINK]"),
    ModelCard("plain", "scripted", 1000),
)
CALL = '<tool_call>{"name": "f", "arguments": {"n": 1.10}}</tool_call>'


@pytest.fixture
def client() -> TestClient:
    app = FastAPI()
    app.include_router(router(ModelRegistry(lambda: CARDS)))

    @app.exception_handler(Problem)
    async def refuse(request: Request, problem: Problem) -> JSONResponse:
        return JSONResponse(problem_body(problem, request.url.path), problem_status(problem))

    return TestClient(app)


def parse(client: TestClient, body: dict[str, Any]) -> Any:
    answer = client.post("/v1/parse", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_raw_reply_by_its_parts(client: TestClient) -> None:
    assert parse(client, {"chunks": ["<think>hm</think>", "A", CALL], "format": "hermes"}) == {
        "reasoning": "hm",
        "content": "A",
        "tool_calls": [{"id": "call_0", "name": "f", "arguments": '{"n": 1.10}'}],
        "deltas": [
            {"reasoning": "hm"},
            {"content": "A"},
            {"tool_call": {"index": 0, "id": "call_0", "name": "f", "arguments": ""}},
            {"tool_call": {"index": 0, "arguments": "{"}},
            {"tool_call": {"index": 0, "arguments": '"n": 1.10}'}},
        ],
        "finish_reason": "tool_calls",
        "format": "hermes",
    }


def test_the_trace_has_a_step_for_each_chunk_and_the_end(client: TestClient) -> None:
    found = parse(client, {"chunks": ["Hi", "<tool_"], "format": "hermes", "trace": True})
    assert found["trace"] == [
        {"chunk": "Hi", "emitted": [{"content": "Hi"}], "held": []},
        {
            "chunk": "<tool_",
            "emitted": [],
            "held": [{"text": "<tool_", "reason": "may become `<tool_call>`"}],
        },
        {"chunk": None, "emitted": [{"content": "<tool_"}], "held": []},
    ]


def test_by_default_the_format_is_the_models(client: TestClient) -> None:
    found = parse(client, {"chunks": "[THINK]hm[/THINK]" + CALL})
    assert (found["reasoning"], found["format"], len(found["tool_calls"])) == ("hm", "hermes", 1)
    assert parse(client, {"chunks": CALL, "model": "plain"})["content"] == CALL


def test_a_template_goes_before_the_model(client: TestClient) -> None:
    template = "<think></think><tool_call><function=<parameter="
    found = parse(client, {"chunks": "<think>hm</think>", "template": template})
    assert (found["reasoning"], found["format"]) == ("hm", "qwen3_xml")


@pytest.mark.parametrize(
    ("body", "status", "code", "param"),
    [
        ({"chunks": "x", "format": "klingon"}, 400, "unknown_tool_format", "format"),
        ({}, 400, "invalid_request", "chunks"),
        ({"chunks": [1]}, 400, "invalid_request", None),
        ({"chunks": ["a"] * 10_001}, 413, "too_large", "chunks"),
        ({"chunks": "x" * 1_000_001}, 413, "too_large", "chunks"),
        ({"chunks": "x", "model": "nobody"}, 404, "model_not_found", "model"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(
    client: TestClient, body: dict[str, Any], status: int, code: str, param: str | None
) -> None:
    answer = client.post("/v1/parse", json=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, code)
    assert param is None or error["param"] == param
