"""Requests of admins become rows of the audit log, without any route thinking of it."""

from typing import Annotated

import anyio
import httpx
import pytest
from fastapi import Depends, FastAPI, Path, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel
from starlette.middleware import Middleware

from duologue.config.sections.audit import AuditSettings
from duologue.errors import NotFound, Problem
from duologue.gateway.audit.admin_requests import ATTEMPT_SECONDS, ATTEMPTS, AdminRequests
from duologue.gateway.audit.audit_log import AuditLog
from duologue.gateway.auth.middleware import admin, keyed_admin
from duologue.gateway.middleware.admin_act import note

pytestmark = pytest.mark.anyio


class Recorded(AuditLog):
    def __init__(self):
        super().__init__(AuditSettings(), lambda: 0)
        self.rows = []

    async def record(self, actor, act, target="", *, outcome="done", details=None):
        self.rows.append((actor, act, target, outcome, details))


class Body(BaseModel):
    name: str = ""
    role: str = ""
    secret: str = ""


class Who:
    """Sets the user of a request as the authentication does."""

    state: dict

    def __init__(self, app, who):
        self.app, self.who = app, who

    async def __call__(self, scope, receive, send):
        scope.setdefault("state", {}).update(self.who)
        await self.app(scope, receive, send)


class House:
    def __init__(self):
        self.audit, self.now = Recorded(), 0.0
        self.who = {"user": "user_1", "name": "ada", "role": "admin", "keyed": True, "key": "key_1"}
        app = FastAPI(
            middleware=[
                Middleware(Who, who=self.who),
                Middleware(AdminRequests, self.audit, clock=lambda: self.now),
            ]
        )
        self.add_routes(app)

        @app.exception_handler(Problem)
        async def answer(request, problem):
            return JSONResponse({"code": problem.code}, problem.status)

        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=("10.0.0.1", 1))
        self.http = httpx.AsyncClient(transport=transport, base_url="http://localhost")

    def add_routes(self, app):
        @app.post("/api/keys", status_code=201, dependencies=[Depends(keyed_admin)])
        async def add(body: Body, request: Request):
            note(request.scope, key="key_9")
            assert self.audit.rows == [], "the row is written once the outcome is known"
            return {}

        @app.delete("/api/models/{name:path}", dependencies=[Depends(admin)])
        async def delete(name: Annotated[str, Path()]):
            raise NotFound("There is none.", code="model_not_found")

        @app.get("/api/models/{name:path}", dependencies=[Depends(admin)])
        async def read(name: str):
            return name

        @app.post("/api/new/{thing}", dependencies=[Depends(admin)])
        async def unnamed(thing: str):
            raise RuntimeError("a bug")

        @app.patch("/api/mcp/servers/{name}")
        async def switch(name: str):
            return {}

        @app.put("/api/avatars/{id}")
        async def change(id: str, request: Request):
            await request.json()
            return {}

        @app.post("/v1/chat/completions")
        async def chat():
            return {}

        @app.post("/v1/model/load", dependencies=[Depends(admin)])
        async def load(body: Body):
            async def progress():
                assert len(self.audit.rows) == 1, "the row is there before the first byte"
                yield b"1"

            return StreamingResponse(progress())


@pytest.fixture
async def house():
    house = House()
    async with house.http:
        yield house


async def test_an_act_is_recorded_with_who_what_and_to_whom_and_without_secrets(house):
    body = {"name": "bob", "role": "user", "secret": "x"}
    assert (await house.http.post("/api/keys", json=body)).status_code == 201
    ((actor, act, target, outcome, details),) = house.audit.rows
    assert actor == ("ada", "user_1", "key_1", "10.0.0.1")
    assert (act, target, outcome) == ("key.create", "bob", "done")
    assert details == {"role": "user", "key": "key_9"}


async def test_reading_and_ordinary_requests_are_not_recorded(house):
    await house.http.get("/api/models/x")
    await house.http.post("/v1/chat/completions", json={})
    await house.http.post("/nowhere")
    await house.http.put("/api/avatars/1", json={"name": "x"})
    assert house.audit.rows == []


async def test_refused_and_failed_acts_are_recorded_with_their_status(house):
    await house.http.delete("/api/models/a/b")
    await house.http.post("/api/keys", content=b"no json")
    await house.http.post("/api/new/thing")
    assert [row[1:] for row in house.audit.rows] == [
        ("model.delete", "a/b", "refused", {"status": 404}),
        ("key.create", "", "refused", {"status": 422}),
        ("POST /api/new/{thing}", "", "failed", {"status": 500}),
    ]


async def test_routes_of_other_rooms_are_known_by_their_path(house):
    await house.http.patch("/api/mcp/servers/x", json={"disabled": True})
    await house.http.put("/api/avatars/1", json={"shared": True})
    assert [row[1:] for row in house.audit.rows] == [
        ("tool_server.switch", "x", "done", {}),
        ("face.share", "1", "done", {"shared": True}),
    ]


async def test_a_stream_is_recorded_when_it_begins(house):
    assert (await house.http.post("/v1/model/load", json={"name": "m"})).text == "1"
    assert [row[1:3] for row in house.audit.rows] == [("model.load", "m")]


async def test_attempts_of_others_are_recorded_but_cannot_fill_the_log(house):
    house.who["role"] = "user"
    for _ in range(ATTEMPTS + 5):
        assert (await house.http.delete("/api/models/x")).status_code == 403
    assert len(house.audit.rows) == ATTEMPTS
    assert house.audit.rows[0][3:] == ("refused", {"status": 403})
    house.now = ATTEMPT_SECONDS
    await house.http.delete("/api/models/x")
    assert len(house.audit.rows) == ATTEMPTS + 1
    house.who["role"] = "admin"
    for _ in range(3):
        await house.http.delete("/api/models/x")
    assert len(house.audit.rows) == ATTEMPTS + 4


async def test_a_large_body_is_not_kept(house):
    await house.http.post("/api/keys", json={"name": "b" * 20_000, "role": "user"})
    assert house.audit.rows[0][2:] == ("", "done", {"key": "key_9"})


async def test_an_act_whose_request_was_cancelled_is_recorded(house):
    gate = anyio.Event()
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/x",
        "headers": [],
        "client": None,
        "state": house.who | {"admin_act": {}},
        "route": type("Route", (), {"path": "/api/upstreams/{name}"}),
    }

    async def waits(scope, receive, send):
        gate.set()
        await anyio.sleep_forever()

    async def never():
        await anyio.sleep_forever()
        return {}

    async def nowhere(message):
        raise AssertionError(message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(AdminRequests(waits, house.audit), scope, never, nowhere)
        await gate.wait()
        tasks.cancel_scope.cancel()
    assert house.audit.rows[0][3:] == ("failed", {"status": 500})
