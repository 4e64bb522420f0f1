"""Draining one of several servers with the same model: for admins, recorded, and kept for the next start of the worker."""

from __future__ import annotations

from typing import cast

import httpx
import pytest
from fastapi import FastAPI

from duologue.config import Settings
from duologue.errors import NotFound
from duologue.gateway.life.service import LifeService
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.gateway.workers.connection import WorkerConnection
from duologue.http.error_responses import exception_handlers
from duologue.values.questions.worker_answers import ReplicaDrained
from duologue.values.questions.worker_questions import DrainReplica
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio


class Asked:
    """A worker's connection that answers what it is asked."""

    def __init__(self) -> None:
        self.questions: list[DrainReplica] = []

    async def ask(self, question: DrainReplica) -> ReplicaDrained:
        if question.url == "http://unknown":
            raise NotFound(
                "This worker has no server 'http://unknown'.", code="replica_not_found", param="url"
            )
        self.questions.append(question)
        return ReplicaDrained()


@pytest.fixture
def pool() -> Pool:
    return Pool([LoadSpec("w0", "remote", "m", {"url": "http://a"})], Scheduler(5))


@pytest.fixture
def acts() -> list[tuple[str, str, str]]:
    return []


@pytest.fixture
async def http(pool, acts, tmp_path):
    life = LifeService(Settings(data=tmp_path), [pool], record=lambda *act: acts.append(act))
    app = FastAPI(exception_handlers=exception_handlers())
    app.include_router(life.router())

    async def known(scope, receive, send):
        scope["state"] = {"role": "admin", "user": "ada"}
        await app(scope, receive, send)

    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(known), base_url="http://localhost/api/admin/workers/"
    ) as client:
        yield client


def connected(pool: Pool) -> Asked:
    asked, keeper = Asked(), pool._keepers["w0"]
    keeper.status.state = "ready"
    keeper.connection = cast("WorkerConnection", asked)
    return asked


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


async def test_a_server_is_drained_and_works_again(http, pool, acts):
    asked = connected(pool)
    drained = await http.post("w0/replicas/drain", params={"url": "http://b"})
    assert drained.status_code == 202, drained.text
    assert pool.load_spec("w0").options["drained"] == ["http://b"]
    assert (await http.delete("w0/replicas/drain", params={"url": "http://b"})).status_code == 200
    assert pool.load_spec("w0").options["drained"] == []
    assert asked.questions == [DrainReplica("http://b", True), DrainReplica("http://b", False)]
    assert acts == [("ada", "replica.drain", "http://b"), ("ada", "replica.resume", "http://b")]


async def test_what_is_not_there_is_told(http, pool, acts):
    assert code(await http.post("w0/replicas/drain", params={"url": "http://b"})) == (503, "unavailable")
    connected(pool)
    unknown = await http.post("w0/replicas/drain", params={"url": "http://unknown"})
    assert code(unknown) == (404, "replica_not_found")
    assert code(await http.post("w9/replicas/drain", params={"url": "http://b"})) == (404, "worker_not_found")
    assert (await http.post("w0/replicas/drain")).status_code == 400
    assert acts == []
