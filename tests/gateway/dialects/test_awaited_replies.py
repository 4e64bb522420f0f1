"""The dialects of other servers while the model that a request names is being loaded for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from fastapi import FastAPI
from tests.gateway.requested_stand_in import LATE, MINI, Requested
from tests.support.stand_in import StandIn

from duologue.config import Settings
from duologue.errors import EngineFailed
from duologue.gateway.anthropic import anthropic_messages
from duologue.gateway.dialects import text_completions
from duologue.gateway.dialects.reply import ReplyPipeline
from duologue.gateway.embeddings import embedding_routes
from duologue.gateway.models.available import AvailableModels
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.ollama import ollama_embeddings, ollama_replies
from duologue.gateway.ollama.ollama_names import OllamaNames
from duologue.gateway.speech.service import SpeechService
from duologue.http.error_responses import exception_handlers
from duologue.values.events import Done, Prefilled, TextDelta
from duologue.values.questions.worker_answers import Counted
from duologue.values.requests import ChatRequest

pytestmark = pytest.mark.anyio
HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
BODIES: dict[str, dict[str, Any]] = {
    "/v1/messages": {"messages": HELLO, "max_tokens": 9},
    "/v1/completions": {"prompt": "a"},
    "/completion": {"prompt": "a"},
    "/infill": {"input_prefix": "a", "input_suffix": "b"},
    "/api/chat": {"messages": HELLO},
    "/api/generate": {"prompt": "a"},
}
EVERY_DIALECT = pytest.mark.parametrize("path", list(BODIES))
PATIENT = 60.0


def body_of(path: str, *, stream: bool, model: str = "other") -> dict[str, Any]:
    return {**BODIES[path], "model": model, "stream": stream}


async def count(request: ChatRequest, user: str) -> Counted:
    return Counted(tokens=1)


async def unload(name: str) -> None:
    raise AssertionError


class NoEmbedder(StandIn):
    """Is asked for nothing: its model does not come."""


def application(script: Any, requested: Requested, data: Path, patience: float = 0.0) -> FastAPI:
    app = FastAPI(exception_handlers=exception_handlers())
    models = ModelRegistry(lambda: [MINI, LATE] if requested.gate.is_set() else [MINI])
    names = OllamaNames(models, requested, AvailableModels(Settings(engine="scripted", data=data), []))
    times: Any = {"patience": patience, "keep_alive": 60}
    app.include_router(text_completions.router(script, requested, **times))
    app.include_router(anthropic_messages.router(script, requested, count, **times))
    pipeline = ReplyPipeline(script, SpeechService(None))
    app.include_router(ollama_replies.router(pipeline, names, unload, **times))
    embedder = NoEmbedder()
    app.include_router(embedding_routes.router(embedder, requested))
    app.include_router(ollama_embeddings.router(names, embedder))
    script.plays(Prefilled(2), TextDelta("Hi"), Done("stop"))
    return app


@pytest.fixture
def requested() -> Requested:
    return Requested()


@pytest.fixture
def app(script: Any, requested: Requested, tmp_path: Path) -> FastAPI:
    return application(script, requested, tmp_path)


async def lines_of(serve: Any, app: FastAPI, requested: Requested, path: str) -> list[str]:
    """The lines of a stream that are not empty. The model comes after the first one."""
    seen: list[str] = []
    async with (
        serve(app) as address,
        httpx.AsyncClient(timeout=60) as client,
        client.stream("POST", f"http://{address}{path}", json=body_of(path, stream=True)) as answer,
    ):
        assert answer.status_code == 200
        async for line in answer.aiter_lines():
            seen += [line] if line else []
            requested.gate.set()
    return seen


@EVERY_DIALECT
async def test_a_stream_is_kept_alive_until_the_model_is_there(
    app: FastAPI, serve: Any, requested: Requested, path: str
) -> None:
    first, *rest = await lines_of(serve, app, requested, path)
    if path.startswith("/api"):
        silence = json.loads(first)
        text = silence["response"] if path == "/api/generate" else silence["message"]["content"]
        assert (silence["done"], silence["model"], text) == (False, "other", "")
        assert json.loads(rest[-1])["done"]
    else:
        assert first == ": waiting"
        assert any('"late"' in line for line in rest)
    assert any('"Hi"' in line for line in rest)


@EVERY_DIALECT
async def test_a_whole_reply_waits_for_the_model(
    app: FastAPI, serve: Any, requested: Requested, path: str
) -> None:
    answers: list[httpx.Response] = []
    async with serve(app) as address, httpx.AsyncClient(timeout=60) as client:

        async def ask() -> None:
            answers.append(await client.post(f"http://{address}{path}", json=body_of(path, stream=False)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await requested.asked.wait()
            requested.gate.set()
    assert answers[0].json()["model"] == ("other" if path.startswith("/api") else "late")
    assert '"Hi"' in answers[0].text


CANNOT: dict[str, dict[str, Any]] = {
    "/v1/messages": {"tools": [{"name": "a", "input_schema": {}}]},
    "/api/chat": {"tools": [{"type": "function", "function": {"name": "a"}}]},
    "/api/generate": {"raw": True},
}
"""What the model `mini` is asked for in vain, where it is more than a raw prompt."""
LOADS = ("/api/chat", {"model": "other"})
EMBEDS = ("/v1/embeddings", {"input": "a", "model": "other"})
RERANKS = ("/v1/rerank", {"query": "a", "documents": ["b"], "model": "other"})
OLLAMA_EMBEDS = ("/api/embed", {"input": "a", "model": "other"})
COUNTS = ("/v1/messages/count_tokens", {"messages": HELLO, "model": "other"})


@pytest.mark.parametrize(
    ("path", "body"),
    [(path, body_of(path, stream=stream)) for path in BODIES for stream in (False, True)]
    + [LOADS, COUNTS, EMBEDS, RERANKS, OLLAMA_EMBEDS],
)
async def test_who_leaves_waits_no_more(
    script: Any, serve: Any, requested: Requested, tmp_path: Path, path: str, body: dict[str, Any]
) -> None:
    app = application(script, requested, tmp_path, PATIENT)
    async with serve(app) as address, httpx.AsyncClient(timeout=60) as client:
        with anyio.CancelScope() as leaving:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: client.post(f"http://{address}{path}", json=body))
                await requested.asked.wait()
                leaving.cancel()
        with anyio.fail_after(60):
            await requested.left.wait()
    assert not script.requests


@EVERY_DIALECT
@pytest.mark.parametrize("stream", [False, True])
async def test_an_early_error_has_its_status(
    script: Any, serve: Any, requested: Requested, tmp_path: Path, path: str, stream: bool
) -> None:
    requested.problem = EngineFailed("It broke.", code="load_failed", status=507)
    requested.gate.set()
    app = application(script, requested, tmp_path, PATIENT)
    async with serve(app) as address, httpx.AsyncClient(timeout=60) as client:
        answer = await client.post(f"http://{address}{path}", json=body_of(path, stream=stream))
    assert (answer.status_code, answer.json()["error"]["message"]) == (507, "It broke.")


@EVERY_DIALECT
async def test_an_error_after_the_stream_began_has_the_dialects_form(
    app: FastAPI, serve: Any, requested: Requested, path: str
) -> None:
    requested.problem = EngineFailed("It broke.", code="load_failed", status=507)
    _, *rest = await lines_of(serve, app, requested, path)
    if path.startswith("/api"):
        assert [json.loads(line) for line in rest] == [{"error": "It broke."}]
        return
    if path == "/v1/messages":
        assert rest.pop(0) == "event: error"
    if path == "/v1/completions":
        assert rest.pop() == "data: [DONE]"
    [last] = rest
    assert json.loads(last.removeprefix("data: "))["error"]["message"] == "It broke."


@EVERY_DIALECT
async def test_what_the_model_cannot_do_is_an_early_error_too(
    script: Any, serve: Any, requested: Requested, tmp_path: Path, path: str
) -> None:
    body = body_of(path, stream=True, model="mini") | CANNOT.get(path, {})
    app = application(script, requested, tmp_path, PATIENT)
    async with serve(app) as address, httpx.AsyncClient(timeout=60) as client:
        answer = await client.post(f"http://{address}{path}", json=body)
    assert answer.status_code == 400, answer.text


async def test_loading_alone_answers_when_the_model_is_there(
    app: FastAPI, serve: Any, requested: Requested
) -> None:
    requested.gate.set()
    async with serve(app) as address, httpx.AsyncClient(timeout=60) as client:
        answer = await client.post(f"http://{address}{LOADS[0]}", json=LOADS[1])
    assert (answer.json()["done"], answer.json()["done_reason"]) == (True, "load")
