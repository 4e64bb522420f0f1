"""`/api/admin`: drain, undo, rolling restart; for admins, and recorded."""

import httpx
import pytest
from fastapi import FastAPI

from duologue.config import Settings
from duologue.config.sections.lifecycle import ModelWorkers
from duologue.config.settings import ModelSettings
from duologue.gateway.life.rolling_restart import RestartProgress
from duologue.gateway.life.service import LifeService
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.http.error_responses import exception_handlers
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio


@pytest.fixture
def pool() -> Pool:
    return Pool([LoadSpec("w0", "scripted", "m"), LoadSpec("w1", "scripted", "m")], Scheduler(5))


@pytest.fixture
def acts() -> list[tuple[str, str, str]]:
    return []


@pytest.fixture
def life(pool, acts, tmp_path) -> LifeService:
    settings = Settings(data=tmp_path, models={"m": ModelSettings(workers=ModelWorkers(max=3))})
    return LifeService(settings, [pool], record=lambda *act: acts.append(act))


def asking(life, role="admin") -> httpx.AsyncClient:
    app = FastAPI(exception_handlers=exception_handlers())
    app.include_router(life.router())

    async def known(scope, receive, send):
        scope["state"] = {"role": role, "user": "ada"}
        await app(scope, receive, send)

    return httpx.AsyncClient(transport=httpx.ASGITransport(known), base_url="http://localhost/api/admin/")


async def test_the_server_drains_and_takes_work_again(life, acts):
    async with asking(life) as http:
        drained = await http.post("drain")
        assert drained.status_code == 202
        assert (drained.json()["draining"], drained.json()["reason"], drained.json()["running"]) == (
            True,
            "admin",
            0,
        )
        assert life.drain.refusal() is not None
        assert (await http.delete("drain")).json()["draining"] is False
    assert acts == [("ada", "server.drain", "server"), ("ada", "server.resume", "server")]


async def test_a_server_that_stops_cannot_be_told_to_take_work_again(life):
    life.drain.begin("stopping")
    async with asking(life) as http:
        answer = await http.delete("drain")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "server_draining")


async def test_one_worker_drains_and_works_again(life, pool, acts):
    async with asking(life) as http:
        view = (await http.post("workers/w1/drain")).json()
        assert [row["draining"] for row in view["workers"]] == [False, True]
        assert pool.workers["w1"].note == "by an admin"
        view = (await http.delete("workers/w1/drain")).json()
        assert [row["draining"] for row in view["workers"]] == [False, False]
        unknown = await http.post("workers/w9/drain")
        assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "worker_not_found")
        assert "Known: w0, w1" in unknown.json()["error"]["message"]
    assert acts == [("ada", "worker.drain", "w1"), ("ada", "worker.resume", "w1")]


async def test_a_rolling_restart_needs_a_running_server_and_known_workers(life):
    async with asking(life) as http:
        assert (await http.post("restart", json={"workers": ["w9"]})).status_code == 404
        assert (await http.post("restart")).status_code == 503


async def test_a_second_rolling_restart_is_refused_and_changes_nothing(life, pool, acts):
    async with asking(life) as http:
        await http.post("workers/w1/drain")
        life.restart.progress = RestartProgress(running=True, current="w0", left=("w1",))
        answer = await http.post("restart")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "restart_running")
    assert life.restart.progress.left == ("w1",)
    assert pool.workers["w1"].draining
    assert [act for _, act, _ in acts] == ["worker.drain"]


async def test_the_view_says_what_is_scaled_and_why(life):
    async with asking(life) as http:
        view = (await http.get("life")).json()
    assert view["scaling"] == [{"model": "m", "workers": 2, "min": 1, "max": 3, "note": ""}]
    assert view["restart"] == {
        "running": False,
        "done": [],
        "current": "",
        "way": "",
        "left": [],
        "problem": "",
    }
    assert view["grace_s"] == 25


async def test_only_admins_may(life):
    async with asking(life, role="user") as http:
        assert (await http.post("drain")).status_code == 403
        assert (await http.get("life")).status_code == 403
