"""Which requests begin work, and what becomes of them while the server drains."""

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from duologue.gateway.life.drain import Drain
from duologue.gateway.life.work_gate import WorkGate, begins_work

WORKING = [
    "/v1/chat/completions",
    "/v1/completions",
    "/completion",
    "/infill",
    "/v1/responses",
    "/v1/messages",
    "/v1/embeddings",
    "/v2/rerank",
    "/reranking",
    "/v1/score",
    "/v1/audio/speech",
    "/api/conversations/c1/runs",
    "/api/chat",
    "/api/avatars/a1/clips",
]
PASSING = [
    "/v1/batches",
    "/v1/chat/completions/control",
    "/v1/responses/r1/cancel",
    "/v1/files",
    "/api/runs/r1/stop",
    "/api/runs/r1/steer",
    "/api/approvals/a1",
    "/api/session",
    "/api/admin/drain",
    "/api/conversations",
    "/v1/model/load",
]


@pytest.mark.parametrize("path", WORKING)
def test_what_has_a_model_or_the_voice_work_is_work(path):
    assert begins_work("http", "POST", path)
    assert not begins_work("http", "GET", path)


@pytest.mark.parametrize("path", PASSING)
def test_what_ends_or_steers_work_or_only_stores_is_not(path):
    assert not begins_work("http", "POST", path)


def test_calls_and_chats_begin_on_their_sockets():
    assert begins_work("websocket", "", "/ws/chat")
    assert begins_work("websocket", "", "/ws/voice")
    assert begins_work("websocket", "", "/ws/duplex/adx_1")
    assert not begins_work("websocket", "", "/ws/other")


@pytest.mark.anyio
async def test_a_server_that_drains_refuses_new_work_with_a_time_and_answers_the_rest():
    drain = Drain(lambda: 0.0)
    counts: list[int] = []

    async def answer(request: Request) -> JSONResponse:
        counts.append(drain.running)
        return JSONResponse({})

    paths = ["/v1/chat/completions", "/api/session"]
    app = Starlette(
        routes=[Route(path, answer, methods=["GET", "POST"]) for path in paths],
        middleware=[Middleware(WorkGate, drain)],
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        assert (await client.post("/v1/chat/completions")).status_code == 200
        drain.begin("admin")
        refused = await client.post("/v1/chat/completions")
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "server_draining"
        assert int(refused.headers["retry-after"]) == 30
        assert (await client.post("/api/session")).status_code == 200
        assert (await client.get("/v1/chat/completions")).status_code == 200
    assert counts == [1, 0, 0]
    assert drain.running == 0
