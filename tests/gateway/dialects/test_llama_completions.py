"""llama-server's own endpoints over plain HTTP."""

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from duologue.config.settings import LimitSettings
from duologue.errors import Problem
from duologue.gateway.dialects.llama_completions import router
from duologue.gateway.dialects.raw_completions import RawCompletions
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested_models import RequestedModels
from duologue.http.error_responses import problem_body, problem_status
from duologue.values.events import Done, Failed, Prefilled, TextDelta, Usage
from duologue.values.requests import ModelCard

pytestmark = pytest.mark.anyio

CODER = ModelCard("coder", "scripted", 2048, verbs=("raw", "infill"))
PLAIN = ModelCard("plain", "scripted", 2048, verbs=("raw",))


@pytest.fixture
async def http(script: Any, serve: Any) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    completions = RawCompletions(script, LimitSettings())
    app.include_router(router(completions, RequestedModels(ModelRegistry(lambda: (CODER, PLAIN)))))

    async def answer(request: Request, problem: Exception) -> JSONResponse:
        return JSONResponse(problem_body(problem, request.url.path), problem_status(problem))

    app.add_exception_handler(Problem, answer)
    async with serve(app) as address, httpx.AsyncClient(base_url=f"http://{address}") as client:
        yield client


@pytest.mark.parametrize("path", ["/completion", "/completions"])
async def test_a_text_is_continued(script: Any, http: httpx.AsyncClient, path: str) -> None:
    script.plays(Prefilled(2), TextDelta("Hel"), TextDelta("lo"), Done("length", Usage(2, 2)))
    answer = (await http.post(path, json={"prompt": "Say: ", "n_predict": 2})).json()
    assert (answer["content"], answer["stop_type"], answer["tokens_predicted"]) == ("Hello", "limit", 2)
    [request] = script.requests
    assert (request.prompt, request.suffix, request.sampling.max_tokens) == ("Say: ", None, 2)


async def test_several_prompts_have_several_answers(script: Any, http: httpx.AsyncClient) -> None:
    script.plays(TextDelta("x"), Done("stop"))
    answers = (await http.post("/completion", json={"prompt": ["a", "b"]})).json()
    assert [(each["index"], each["prompt"], each["content"]) for each in answers] == [
        (0, "a", "x"),
        (1, "b", "x"),
    ]


async def test_a_stream_has_no_mark_behind_its_last_event(script: Any, http: httpx.AsyncClient) -> None:
    script.plays(TextDelta("Hel"), TextDelta("lo"), Done("stop", Usage(2, 2)))
    answer = await http.post("/completion", json={"prompt": "a", "stream": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [json.loads(frame.removeprefix("data: ")) for frame in answer.text.split("\n\n") if frame]
    assert [(event["content"], event["stop"]) for event in events] == [
        ("Hel", False),
        ("lo", False),
        ("", True),
    ]


async def test_a_gap_is_filled_where_the_model_can(script: Any, http: httpx.AsyncClient) -> None:
    script.plays(TextDelta("x"), Done("stop"))
    body = {"input_prefix": "a", "input_suffix": "b", "prompt": "c"}
    assert (await http.post("/infill", json=body)).json()["content"] == "x"
    assert (script.requests[0].prompt, script.requests[0].suffix) == ("ac", "b")
    answer = await http.post("/infill", json=body | {"model": "plain"})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["code"], error["param"]) == ("unsupported", "input_suffix")
    assert error["message"].startswith("input_suffix: ")


async def test_errors_come_early_with_their_status_and_late_as_an_event(
    script: Any, http: httpx.AsyncClient
) -> None:
    bodies: tuple[dict[str, Any], ...] = ({}, {"prompt": {}}, {"prompt": "a", "model": "none"})
    for body in bodies:
        assert (await http.post("/completion", json=body)).status_code in (400, 404)
    script.plays(Failed("busy", "Too much.", 503))
    assert (await http.post("/completion", json={"prompt": "a", "stream": True})).status_code == 503
    script.plays(TextDelta("x"), Failed("busy", "Too much.", 503))
    answer = await http.post("/completion", json={"prompt": "a", "stream": True})
    last = answer.text.strip().split("\n\n")[-1]
    assert json.loads(last.removeprefix("data: "))["error"]["message"] == "Too much."


async def test_a_client_that_leaves_ends_the_generation(script: Any, http: httpx.AsyncClient) -> None:
    script.plays(TextDelta("x"), None)
    async with http.stream("POST", "/completion", json={"prompt": "a", "stream": True}) as answer:
        await anext(answer.aiter_lines())
    with anyio.fail_after(60):
        while script.running:
            await anyio.lowlevel.checkpoint()
