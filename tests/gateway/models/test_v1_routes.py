"""`/v1/model` over HTTP, with a loader that plays what the test wrote."""

import json

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from tests.support.stand_in import StandIn

from duologue.errors import EngineFailed, Problem
from duologue.gateway.models.available import AvailableModel, Sizes
from duologue.gateway.models.loader import Load, LoadRequest, LoadState
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.remembered import RememberedModels
from duologue.gateway.models.v1_routes import router
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.values.requests import ModelCard

pytestmark = pytest.mark.anyio
CARD = ModelCard("mini", "llama", 100)


class Loader:
    """Ends every load at the step the test set."""

    def __init__(self) -> None:
        self.wanted: list[LoadRequest] = []
        self.gone: list[tuple[str, str, bool]] = []
        self.last = LoadState("ready", 1.0)

    async def load(self, wanted: LoadRequest) -> Load:
        self.wanted.append(wanted)
        load = Load(wanted.name, WorkerStatus("worker_1", wanted.name, "llama", "cpu"))
        load.step = self.last
        return load

    async def unload(self, name: str, worker: str, *, drain: bool) -> list[str]:
        self.gone.append((name, worker, drain))
        return ["worker_0"]


class Loadables(StandIn):
    def all(self):
        return [AvailableModel("mini", bundled=True), AvailableModel("tiny")]


@pytest.fixture
def loader() -> Loader:
    return Loader()


def client(loader, role="admin", cards=(CARD,)):
    app = FastAPI()
    app.include_router(
        router(
            loader,
            Loadables(),
            ModelRegistry(lambda: cards),
            RememberedModels(),
            clock=lambda: 1700000000.5,
        )
    )

    @app.exception_handler(Problem)
    async def answer(request, problem):
        return JSONResponse({"code": problem.code}, problem.status)

    async def as_somebody(scope, receive, send):
        scope["state"] = {"role": role}
        await app(scope, receive, send)

    return httpx.AsyncClient(transport=httpx.ASGITransport(as_somebody), base_url="http://localhost")


async def test_whoever_asks_sees_the_default_model_and_what_could_be_loaded(loader):
    async with client(loader, role="user") as http:
        assert (await http.get("/v1/model")).json()["id"] == "mini"
        listed = (await http.get("/v1/model/list")).json()
    assert listed["object"] == "list"
    assert [(entry["id"], entry["loaded"], entry["bundled"]) for entry in listed["data"]] == [
        ("mini", True, True),
        ("tiny", False, False),
    ]
    assert listed["data"][0] | {"id": ""} == {
        "id": "",
        "object": "model",
        "created": 1700000000,
        "owned_by": "duologue",
        "loaded": True,
        "bundled": True,
        "failed": False,
    }


async def test_without_a_model_that_is_said(loader):
    async with client(loader, cards=()) as http:
        answer = await http.get("/v1/model")
    assert (answer.status_code, answer.json()["code"]) == (503, "model_empty")


@pytest.mark.parametrize("path", ["load", "unload"])
async def test_only_an_admin_loads_and_unloads(loader, path):
    async with client(loader, role="user") as http:
        answer = await http.post(f"/v1/model/{path}", json={"name": "tiny"})
    assert (answer.status_code, answer.json()["code"]) == (403, "admin_needed")
    assert (loader.wanted, loader.gone) == ([], [])


async def test_a_load_is_streamed_in_the_words_of_other_servers(loader):
    async with client(loader) as http:
        answer = await http.post("/v1/model/load", json={"name": "tiny", "slots": 2, "replace": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    [line] = answer.text.strip().splitlines()
    assert json.loads(line.removeprefix("data: ")) == {
        "model_type": "model",
        "module": 100,
        "modules": 100,
        "status": "finished",
        "name": "tiny",
        "worker": "worker_1",
        "stage": "ready",
        "progress": 1.0,
    }
    assert loader.wanted == [LoadRequest("tiny", Sizes(slots=2), replace=True, drain=True, user="local")]


async def test_other_servers_names_are_understood_and_their_other_fields_are_named_as_ignored(loader):
    body = {
        "model_name": "tiny",
        "max_seq_len": 512,
        "skip_queue": True,
        "cache_mode": "Q8",
        "gpu_split": [1],
        "stream": False,
    }
    async with client(loader) as http:
        answer = await http.post("/v1/model/load", json=body)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["ignored"] == ["cache_mode", "gpu_split"]
    assert loader.wanted == [LoadRequest("tiny", Sizes(context=512), user="local")]


async def test_a_failure_is_the_last_event_or_the_answer_itself(loader):
    loader.last = LoadState("loading", 0.25, EngineFailed("It broke.", code="load_failed", status=500))
    async with client(loader) as http:
        streamed = await http.post("/v1/model/load", json={"name": "tiny"})
        whole = await http.post("/v1/model/load", json={"name": "tiny", "stream": False})
    frame = json.loads(streamed.text.strip().removeprefix("data: "))
    assert (frame["status"], frame["module"], frame["error"]) == (
        "failed",
        25,
        {"code": "load_failed", "message": "It broke."},
    )
    assert (whole.status_code, whole.json()["code"]) == (500, "load_failed")


@pytest.mark.parametrize(
    "size",
    [{"context": 2**31}, {"max_seq_len": 2**31}, {"gpu_layers": 2**31}, {"slots": 257}, {"threads": 0}],
)
async def test_a_size_that_no_engine_has_is_refused(loader, size):
    async with client(loader) as http:
        assert (await http.post("/v1/model/load", json={"name": "tiny", **size})).status_code == 422
    assert loader.wanted == []


async def test_a_load_needs_a_name(loader):
    async with client(loader) as http:
        answer = await http.post("/v1/model/load", json={"slots": 1})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


async def test_unloading_names_a_model_a_worker_or_nothing(loader):
    async with client(loader) as http:
        for body in ({"name": "mini", "drain": False}, {"worker": "worker_0"}, {}):
            answer = await http.post("/v1/model/unload", json=body)
            assert answer.json() == {"unloaded": ["worker_0"]}
        assert (await http.post("/v1/model/unload")).json() == {"unloaded": ["worker_0"]}
    assert loader.gone == [("mini", "", False), ("", "worker_0", True), ("", "", True), ("", "", True)]


async def test_adapters_are_passed_on_with_their_scales(loader):
    async with client(loader) as http:
        body = {"name": "tiny", "loras": {"pirate": 0.5}, "stream": False}
        assert (await http.post("/v1/model/load", json=body)).status_code == 200
        refused = await http.post("/v1/model/load", json={"name": "tiny", "loras": {"pirate": 1e9}})
    assert refused.status_code == 422 or refused.status_code == 400
    [wanted] = loader.wanted
    assert wanted.sizes == Sizes(loras={"pirate": 0.5})
