"""`GET /api/admin/audit`: pages and CSV, for admins."""

import csv
import io

import anyio
import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from starlette.middleware import Middleware

from duologue.config.sections.audit import AuditSettings
from duologue.errors import Problem
from duologue.gateway.audit.audit_log import Actor, AuditLog
from duologue.gateway.audit.audit_routes import COLUMNS, router
from duologue.store.accounts.audit_rows import AuditRows
from duologue.store.database import Database

pytestmark = pytest.mark.anyio


class Who:
    def __init__(self, app, state):
        self.app, self.state = app, state

    async def __call__(self, scope, receive, send):
        scope["state"] = dict(self.state)
        await self.app(scope, receive, send)


@pytest.fixture
async def house():
    state = {"user": "local", "role": "admin"}
    audit = AuditLog(AuditSettings(), lambda: 1_800_000_000_123)
    app = FastAPI(middleware=[Middleware(Who, state=state)])
    app.include_router(router(audit))

    @app.exception_handler(Problem)
    async def answer(request, problem):
        return JSONResponse({"code": problem.code}, problem.status)

    transport = httpx.ASGITransport(app)
    async with Database.memory() as database, anyio.create_task_group() as tasks:
        await tasks.start(audit.run, AuditRows(database))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            yield http, audit, state
        tasks.cancel_scope.cancel()


async def test_the_log_is_read_a_page_at_a_time(house):
    http, audit, _ = house
    for name in ("ada", "bob", "ada"):
        await audit.record(Actor(name), "key.create", "x")
    page = (await http.get("/api/admin/audit?limit=2")).json()
    assert [row["name"] for row in page["rows"]] == ["ada", "bob"]
    assert page["rows"][0]["at"] == 1_800_000_000_123
    last = (await http.get(f"/api/admin/audit?limit=2&before={page['next']}")).json()
    assert [row["name"] for row in last["rows"]] == ["ada"]
    assert last["next"] is None
    assert len((await http.get("/api/admin/audit?actor=ada&act=key.")).json()["rows"]) == 2


async def test_as_csv_it_opens_in_a_spreadsheet_and_no_cell_is_a_formula(house):
    http, audit, _ = house
    await audit.record(Actor("=cmd|' /C calc'!A0"), "key.create", '+1,"2"', details={"role": "user"})
    answer = await http.get("/api/admin/audit?format=csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "audit.csv" in answer.headers["content-disposition"]
    header, row = csv.reader(io.StringIO(answer.text))
    assert tuple(header) == COLUMNS
    cells = dict(zip(header, row, strict=True))
    assert cells["time"] == "2027-01-15T08:00:00.123+00:00"
    assert (cells["name"], cells["target"]) == ("'=cmd|' /C calc'!A0", '\'+1,"2"')
    assert cells["details"] == '{"role": "user"}'


async def test_only_admins_read_it_and_reading_is_no_act(house):
    http, _, state = house
    state["role"] = "user"
    assert (await http.get("/api/admin/audit")).json()["code"] == "admin_needed"
    state["role"] = "admin"
    for wrong in ("limit=0", "limit=5000", "before=-1", "format=xml"):
        assert (await http.get(f"/api/admin/audit?{wrong}")).status_code == 422
