"""`/api/admin`: figures and restarts, for admins alone."""

from collections.abc import Iterable

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse

from duologue.errors import Problem
from duologue.gateway.admin.metrics_history import MetricsHistory
from duologue.gateway.admin.routes import router
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio


class Restarting(Pool):
    """A pool that notes whom it was to start anew."""

    def __init__(self):
        super().__init__([LoadSpec("w0", "scripted", "m"), LoadSpec("w1", "scripted", "m")], Scheduler(5))
        self.anew = []
        self.drained = {"w1"}

    def restart(self, name, cause="admin"):
        self.anew.append(name)

    async def restarted(self, names: Iterable[str]) -> None:
        self.drained -= set(names)


def asking(pool, figures, role="admin") -> httpx.AsyncClient:
    app = FastAPI()
    app.include_router(router([pool], figures, lambda: 123.5, pool.restarted))

    @app.exception_handler(Problem)
    async def answer(request, problem):
        return JSONResponse({"code": problem.code, "message": problem.message}, problem.status)

    async def known(scope, receive, send):
        scope["state"] = {"role": role}
        await app(scope, receive, send)

    return httpx.AsyncClient(transport=httpx.ASGITransport(known), base_url="http://localhost")


async def test_the_figures_of_the_last_hour_or_what_is_new_of_them():
    figures = MetricsHistory(100.0)
    figures.ended(first=20.0, waited=5.0, tokens=15, generate=100.0, model="m")
    figures.wrote(15)
    figures.close(105.0, 1, 2)
    figures.close(110.0, 0, 0)
    async with asking(Restarting(), figures) as http:
        whole = (await http.get("/api/admin/figures")).json()
        news = (await http.get("/api/admin/figures?since=105")).json()
    assert (whole["now"], whole["step"], len(whole["samples"])) == (123.5, 5, 2)
    assert whole["samples"][0] == {
        "at": 105.0,
        "requests": 1,
        "failed": 0,
        "tokens": 15,
        "tokens_per_second": 3.0,
        "reply_tokens_per_second": 150.0,
        "first_token": {"p50": 20.0, "p95": 20.0},
        "queue_wait": {"p50": 5.0, "p95": 5.0},
        "running": 1,
        "waiting": 2,
        "models": [
            {
                "model": "m",
                "requests": 1,
                "first_token": 20.0,
                "queue_wait": 5.0,
                "reply_tokens_per_second": 150.0,
            }
        ],
    }
    assert news["samples"] == whole["samples"][1:]
    assert news["samples"][0]["first_token"] is None


async def test_a_worker_is_started_anew_by_its_name():
    pool = Restarting()
    async with asking(pool, MetricsHistory(0.0)) as http:
        answer = await http.post("/api/admin/workers/w1/restart")
        assert (answer.status_code, answer.json()) == (202, {"worker": "w1"})
        unknown = await http.post("/api/admin/workers/w9/restart")
    assert pool.anew == ["w1"]
    assert not pool.drained
    assert (unknown.status_code, unknown.json()["code"]) == (404, "worker_not_found")
    assert "w0, w1" in unknown.json()["message"]


async def test_both_are_for_admins():
    pool = Restarting()
    async with asking(pool, MetricsHistory(0.0), role="user") as http:
        assert (await http.get("/api/admin/figures")).json()["code"] == "admin_needed"
        assert (await http.post("/api/admin/workers/w0/restart")).status_code == 403
    assert pool.anew == []
