from contextlib import asynccontextmanager
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from tests.tools.fakes import Person, Row, Rows, Servers, Time, until
from tests.tools.mcp.test_registry import Guarded

from duologue.config import Settings
from duologue.errors import Problem
from duologue.tools import routes
from duologue.tools.toolbox import Toolbox

pytestmark = pytest.mark.anyio
WEB = {"url": "https://web.example/mcp", "headers": {"Authorization": "Bearer s3cret-s3cret"}}


class As:
    """Says who asks, as the gateway's own door does."""

    def __init__(self, app, user, role, keyed):
        self.app, self.state = app, {"user": user, "role": role, "keyed": keyed}

    async def __call__(self, scope, receive, send):
        scope["state"] = dict(self.state)
        await self.app(scope, receive, send)


@asynccontextmanager
async def asking(*rows, role="admin", keyed=False, servers=None, store=None):
    time, person = Time(), Person()
    store = store or Rows(*rows)
    box = Toolbox(
        Settings.model_validate({"mcp": {"servers": {"time": {"command": "true"}}}}),
        store,
        now=time.now,
        sleep=time.sleep,
        open_server=(servers or Servers()).server,
    )

    async def keep(user, data, name, mime):
        return await person.keep(data, name, mime)

    app = FastAPI()
    app.include_router(routes.router(box, keep))

    @app.exception_handler(Problem)
    async def problem_response(request, problem):
        return JSONResponse({"code": problem.code, "message": problem.message}, problem.status)

    async with box.running():
        await (await box.registry.connection("time", "ann")).wait_for_attempt()
        transport = httpx.ASGITransport(As(app, "ann", role, keyed))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8006/api/mcp") as client:
            cast(Any, client).box = box
            yield client


async def test_the_list_shows_servers_their_health_and_tools():
    async with asking() as client:
        answer = await client.get("http://127.0.0.1:8006/api/mcp")
        builtin, time = answer.json()["servers"]
        assert builtin["name"] == "builtin"
        assert (time["phase"], time["source"], time["transport"]) == ("ready", "config", "stdio")
        assert time["offers"] == [
            {"name": "echo", "title": "Echo", "description": "Says it.", "read_only": False}
        ]
        assert answer.headers["cache-control"] == "no-store"


async def test_an_admin_adds_switches_and_removes_a_server():
    async with asking() as client:
        answer = await client.post("/servers", json={"name": "web", "config": WEB})
        assert (answer.status_code, answer.json()["name"], answer.json()["source"]) == (201, "web", "admin")
        assert "s3cret" not in answer.text
        assert (await client.patch("/servers/web", json={"disabled": True})).json()["phase"] == "off"
        assert (await client.delete("/servers/web")).status_code == 204
        assert (await client.delete("/servers/web")).status_code == 404


async def test_others_change_nothing_and_read_no_log():
    async with asking(Row("web", WEB), role="user") as client:
        answers = [
            await client.post("/servers", json={"name": "x", "config": WEB}),
            await client.patch("/servers/web", json={"disabled": True}),
            await client.delete("/servers/web"),
            await client.get("/servers/web/log"),
        ]
        assert [answer.status_code for answer in answers] == [403] * 4
        assert (await client.get("http://127.0.0.1:8006/api/mcp")).status_code == 200


@pytest.mark.parametrize(("keyed", "status"), [(False, 403), (True, 201), (None, 403), ("yes", 403)])
async def test_a_command_is_added_only_by_an_admin_who_used_a_key(keyed, status):
    async with asking(keyed=keyed) as client:
        answer = await client.post("/servers", json={"name": "sh", "config": {"command": "sh"}})
        assert answer.status_code == status


async def test_a_body_with_more_than_it_should_have_is_refused():
    async with asking() as client:
        answer = await client.post("/servers", json={"name": "x", "config": {}, "shell": True})
        assert answer.status_code == 422


async def test_the_log_and_a_new_try():
    async with asking() as client:
        lines = (await client.get("/servers/time/log")).json()["lines"]
        assert lines[-1]["text"] == "ready: 1 tool."
        assert (await client.post("/servers/time/reconnect")).json()["phase"] == "ready"


async def test_resources_prompts_and_completion():
    async with asking() as client:
        assert (await client.get("/resources")).json() == {"servers": []}
        assert (await client.get("/prompts")).json() == {"servers": []}
        read = await client.post("/resources/read", json={"server": "time", "uri": "a://b"})
        assert read.json() == {"content": [{"type": "text", "text": "a://b"}]}
        got = await client.post(
            "/prompts/get", json={"server": "time", "name": "letter", "arguments": {"to": "B"}}
        )
        assert got.json() == {"description": "letter", "messages": [{"role": "user", "text": "{'to': 'B'}"}]}
        completed = await client.post(
            "/complete", json={"server": "time", "name": "p", "argument": "a", "value": "v"}
        )
        assert completed.json() == {"values": ["v!"]}
        assert (await client.post("/resources/read", json={"server": "none", "uri": "a"})).status_code == 404


async def test_signing_in_leads_out_and_back():
    store = Rows(Row("web", {"url": "https://web.example"}))
    async with asking(store=store, servers=Guarded(store)) as client:
        box = client.box
        await (await box.registry.connection("web", "ann")).wait_for_attempt()
        begun = (await client.post("/servers/web/login")).json()
        assert (begun["phase"], begun["login"]) == ("login", "https://auth.example/?state=state-of-ann")
        connection = await box.registry.connection("web", "ann")
        assert connection.login.redirect == "http://127.0.0.1:8006/api/mcp/oauth/callback"
        wrong = await client.get("/oauth/callback", params={"code": "c", "state": "<b>"})
        assert wrong.status_code == 400
        back = await client.get("/oauth/callback", params={"code": "c", "state": "state-of-ann"})
        assert back.status_code == 200
        assert "signed in" in back.text
        assert back.headers["referrer-policy"] == "no-referrer"
        await until(lambda: connection.phase == "ready")
        assert (await client.delete("/servers/web/login")).status_code == 204


async def test_a_sign_in_that_was_turned_down_says_so_without_being_a_page_of_its_own():
    store = Rows(Row("web", {"url": "https://web.example"}))
    async with asking(store=store, servers=Guarded(store)) as client:
        await (await client.box.registry.connection("web", "ann")).wait_for_attempt()
        await client.post("/servers/web/login")
        back = await client.get(
            "/oauth/callback",
            params={
                "state": "state-of-ann",
                "error": "access_denied",
                "error_description": "<script>x</script>",
            },
        )
        assert "not signed in" in back.text
        assert "<script>" not in back.text


async def test_only_an_admin_sees_what_a_command_is_called_with():
    for role, address in (("user", ""), ("admin", "true")):
        async with asking(role=role) as client:
            rows = (await client.get("http://127.0.0.1:8006/api/mcp")).json()["servers"]
            assert [row["address"] for row in rows] == ["", address]


@pytest.mark.parametrize(("role", "tries"), [("user", 1), ("admin", 2)])
async def test_a_server_others_use_is_connected_anew_only_for_an_admin(role, tries):
    servers = Servers()
    async with asking(role=role, servers=servers) as client:
        assert (await client.post("/servers/time/reconnect")).json()["phase"] == "ready"
        assert servers.tries == tries
