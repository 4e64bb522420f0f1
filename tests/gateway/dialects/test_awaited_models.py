"""Both chat dialects while the model that a request names is being loaded for it."""

from __future__ import annotations

import json
from typing import Any

import anyio
import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from tests.gateway.requested_stand_in import LATE, MINI, Requested
from websockets.asyncio.client import connect

from duologue.errors import EngineFailed, ModelNotFound, Problem
from duologue.gateway.dialects import chat_completions, chat_socket
from duologue.gateway.models.registry import ModelRegistry
from duologue.http.error_responses import problem_body, problem_status
from duologue.values.events import Done, TextDelta

pytestmark = pytest.mark.anyio
HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
PATH = "/v1/chat/completions"


@pytest.fixture
def requested() -> Requested:
    return Requested()


@pytest.fixture
def app(script: Any, requested: Requested) -> FastAPI:
    app = FastAPI()
    models = ModelRegistry(lambda: [MINI, LATE] if requested.gate.is_set() else [MINI])
    app.include_router(chat_completions.router(script, models, requested, patience=0.0, keep_alive=60))
    app.include_router(chat_socket.router(script, models, requested=requested))

    async def answer(request: Request, problem: Exception) -> JSONResponse:
        return JSONResponse(problem_body(problem, request.url.path), problem_status(problem))

    app.add_exception_handler(Problem, answer)
    script.plays(TextDelta("Hi"), Done("stop"))
    return app


async def test_a_stream_is_kept_alive_until_the_model_is_there_and_tells_which(
    app: FastAPI, serve: Any, requested: Requested
) -> None:
    body = {"model": "other", "messages": HELLO, "stream": True}
    seen: list[str] = []
    async with (
        serve(app) as address,
        httpx.AsyncClient(timeout=60) as client,
        client.stream("POST", f"http://{address}{PATH}", json=body) as answer,
    ):
        async for line in answer.aiter_lines():
            seen.append(line)
            requested.gate.set()
    assert seen[0] == ": waiting"
    chunk = json.loads(next(line for line in seen if "chunk" in line).removeprefix("data: "))
    assert (chunk["model"], seen[-2]) == ("late", "data: [DONE]")


async def test_a_whole_reply_waits_and_tells_which_model_answered(
    app: FastAPI, serve: Any, requested: Requested
) -> None:
    answers: list[httpx.Response] = []
    async with serve(app) as address, httpx.AsyncClient(timeout=60) as client:

        async def ask() -> None:
            answers.append(
                await client.post(f"http://{address}{PATH}", json={"model": "other", "messages": HELLO})
            )

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await requested.asked.wait()
            requested.gate.set()
    assert answers[0].json()["model"] == "late"


async def test_who_leaves_waits_no_more(app: FastAPI, serve: Any, requested: Requested) -> None:
    async with serve(app) as address, httpx.AsyncClient(timeout=60) as client:
        with anyio.CancelScope() as leaving:
            async with anyio.create_task_group() as tasks:
                body = {"model": "other", "messages": HELLO}
                tasks.start_soon(lambda: client.post(f"http://{address}{PATH}", json=body))
                await requested.asked.wait()
                leaving.cancel()
        with anyio.fail_after(60):
            await requested.left.wait()


async def test_a_load_that_fails_is_an_error_with_its_code(
    app: FastAPI, serve: Any, requested: Requested
) -> None:
    requested.problem = EngineFailed("It broke.", code="load_failed", status=500)
    requested.gate.set()
    async with serve(app) as address, httpx.AsyncClient(timeout=60) as client:
        answer = await client.post(f"http://{address}{PATH}", json={"model": "other", "messages": HELLO})
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "load_failed")


async def test_what_a_request_may_have_loaded_is_listed_and_found(app: FastAPI) -> None:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        listed = (await client.get("/v1/models")).json()["data"]
        one = (await client.get("/v1/models/late")).json()
    assert [(row["id"], row["status"]["value"]) for row in listed] == [
        ("mini", "loaded" if MINI.context else ""),
        ("late", "unloaded"),
    ]
    assert one == listed[1]


async def asked(socket: Any, **fields: Any) -> None:
    await socket.send(json.dumps({"messages": HELLO, "model": "other", **fields}))


async def heard(socket: Any) -> dict[str, Any]:
    with anyio.fail_after(60):
        while (message := json.loads(await socket.recv()))["type"] not in ("done", "error"):
            pass
        return dict(message)


async def test_a_socket_waits_for_the_model_and_answers(
    app: FastAPI, serve: Any, requested: Requested
) -> None:
    async with serve(app) as address, connect(f"ws://{address}/ws/chat") as socket:
        await asked(socket, id=1)
        await requested.asked.wait()
        await asked(socket, id=2)
        assert (await heard(socket))["code"] == "busy"
        requested.gate.set()
        done = await heard(socket)
    assert (done["type"], done["text"], done["id"]) == ("done", "Hi", 1)


async def test_a_socket_may_cancel_the_wait_and_ask_again(
    app: FastAPI, serve: Any, requested: Requested
) -> None:
    async with serve(app) as address, connect(f"ws://{address}/ws/chat") as socket:
        await asked(socket, id=1)
        await requested.asked.wait()
        await socket.send(json.dumps({"type": "cancel"}))
        done = await heard(socket)
        assert (done["finish_reason"], done["text"], done["id"]) == ("cancelled", "", 1)
        await asked(socket, id=2, model="mini")
        assert (await heard(socket))["text"] == "Hi"
    assert requested.left.is_set()


async def test_a_socket_hears_that_there_is_no_such_model(
    app: FastAPI, serve: Any, requested: Requested
) -> None:
    requested.problem = ModelNotFound("No.", param="model")
    requested.gate.set()
    async with serve(app) as address, connect(f"ws://{address}/ws/chat") as socket:
        await asked(socket, id=1)
        error = await heard(socket)
        assert (error["code"], error["id"]) == ("model_not_found", 1)
        await asked(socket, id=2, model="mini")
        assert (await heard(socket))["text"] == "Hi"
