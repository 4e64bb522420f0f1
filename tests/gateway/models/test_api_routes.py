"""`/api/models` over HTTP."""

import threading
from pathlib import Path
from typing import cast

import anyio
import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from tests.support.store_fixtures import Clock, memory
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue.errors import Problem
from duologue.gateway.models.api_routes import READ_AGAIN, ModelEvent, router
from duologue.gateway.models.downloads import Downloads
from duologue.gateway.models.loader import Load, Loader, LoadRequest, LoadState
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.remembered import STOPPED_WHILE_LOADING, RememberedModels
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.http.event_log import EventLog, EventNumbers, NumberedEvent
from duologue.models.fit import Hardware
from duologue.store.remembered_loads import RememberedLoads
from duologue.wire.worker_protocol import LoadSpec

__all__ = ["memory"]
pytestmark = pytest.mark.anyio


class PlayedLoader:
    """Every load is ready at once."""

    def __init__(self) -> None:
        self.wanted: list[LoadRequest] = []

    async def load(self, wanted: LoadRequest) -> Load:
        self.wanted.append(wanted)
        load = Load(wanted.name, WorkerStatus("worker_1", wanted.name, "llama", "cpu"))
        load.step = LoadState("ready", 1.0)
        return load


class Desk:
    """The routes over a folder of the test's own."""

    def __init__(self, tmp_path) -> None:
        self.folder = tmp_path / "models"
        self.folder.mkdir()
        self.path = write_tiny_model(self.folder / "tiny.gguf", TinyModel())
        self.pool = Pool([LoadSpec("worker_0", "llama", "tiny", {"model": str(self.path)})], Scheduler())
        self.events: EventLog[ModelEvent] = EventLog(EventNumbers(0), reset=READ_AGAIN)
        self.downloads = Downloads(lambda work: None)
        self.role = "admin"
        self.app = FastAPI()
        look = lambda folder, processes: (Hardware(4, 16 * 10**9, 10**12), "a machine")  # noqa: E731
        self.remembered = RememberedModels(self.pool.prefer)
        self.loader = PlayedLoader()
        self.app.include_router(
            router(
                self.pool,
                self.folder,
                self.downloads,
                self.events,
                look,
                loader=cast(Loader, self.loader),
                remembered=self.remembered,
                models=ModelRegistry(self.pool.cards),
            )
        )

        @self.app.exception_handler(Problem)
        async def answer(request, problem):
            return JSONResponse({"code": problem.code, "message": problem.message}, problem.status)

    async def __call__(self, scope, receive, send):
        scope["state"] = {"role": self.role}
        await self.app(scope, receive, send)


@pytest.fixture
def desk(tmp_path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
async def http(desk):
    async with httpx.AsyncClient(transport=httpx.ASGITransport(desk), base_url="http://localhost") as client:
        yield client


async def test_everything_is_one_picture(desk, http):
    body = (await http.get("/api/models")).json()
    assert set(body) == {
        *("folder", "hardware", "proposed", "loaded", "remembered", "here", "unfinished", "available"),
        "downloads",
    }
    assert body["hardware"]["words"] == "a machine"
    assert {row["name"]: row["loaded"] for row in body["here"]}["tiny"] == ["worker_0"]
    assert body["downloads"] == []


async def test_the_event_loop_asks_the_disk_nothing(desk, http, monkeypatch):
    loop = threading.get_ident()
    for name in ("resolve", "is_file", "stat"):
        real = getattr(Path, name)

        def asked(path, *rest, real=real, **more):
            assert threading.get_ident() != loop, f"{path} was asked for on the event loop"
            return real(path, *rest, **more)

        monkeypatch.setattr(Path, name, asked)
    desk.pool.load_spec("worker_0").options["bundled"] = True  # then the picture names a better one
    assert (await http.get("/api/models")).status_code == 200
    assert (await http.delete("/api/models/tiny")).status_code == 409


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/models"),
        ("GET", "/api/models/events"),
        ("POST", "/api/models/downloads"),
        ("DELETE", "/api/models/downloads/d_1"),
        ("DELETE", "/api/models/tiny"),
        ("PUT", "/api/models/default"),
        ("POST", "/api/models/remembered/tiny/retry"),
        ("DELETE", "/api/models/remembered/tiny"),
    ],
)
async def test_all_of_it_is_for_admins(desk, http, method, path):
    desk.role = "user"
    body = {"POST": {"what": "a/b"}, "PUT": {"name": "tiny"}}.get(method)
    answer = await http.request(method, path, json=body)
    assert (answer.status_code, answer.json()["code"]) == (403, "admin_needed")
    assert desk.path.exists()


async def test_a_download_is_taken_shown_and_stopped(desk, http):
    taken = await http.post("/api/models/downloads", json={"what": "a/b"})
    assert taken.status_code == 202
    row = taken.json()
    assert row == {
        "id": "d_1",
        "name": "b",
        "what": "a/b",
        "state": "waiting",
        "total": 0,
        "done": 0,
        "rate": 0.0,
        "left": None,
        "error": None,
        "started": 0.0,
        "use": False,
        "loading": None,
    }
    assert (await http.get("/api/models")).json()["downloads"] == [row]
    assert (await http.delete("/api/models/downloads/d_1")).json()["state"] == "stopped"
    gone = await http.delete("/api/models/downloads/d_9")
    assert (gone.status_code, gone.json()["code"]) == (404, "download_not_found")


async def test_a_model_in_use_is_not_removed(desk, http):
    for name in ("tiny", "TINY.gguf", "tiny-00001-of-00002.gguf"):
        held = await http.delete(f"/api/models/{name}")
        assert (held.status_code, held.json()["code"]) == (409, "model_loaded")
    assert "worker_0" in held.json()["message"]
    assert desk.path.exists()


async def test_a_model_in_use_is_not_removed_by_a_name_that_only_ends_like_its_own(desk, http):
    assert (await http.delete("/api/models/elsewhere/tiny")).status_code == 404
    assert desk.path.exists()


async def test_of_two_of_one_name_the_one_that_nobody_uses_is_removed_by_its_place(desk, http):
    other = desk.folder / "old" / "tiny.gguf"
    other.parent.mkdir()
    write_tiny_model(other, TinyModel())
    assert (await http.delete("/api/models/old/tiny")).json()["removed"] == "tiny"
    assert (other.exists(), desk.path.exists()) == (False, True)


async def test_a_model_nobody_uses_is_removed_and_told(desk, http):
    await desk.pool.remove("worker_0")
    size = desk.path.stat().st_size
    assert (await http.delete("/api/models/tiny")).json() == {"removed": "tiny", "freed": size}
    assert not desk.path.exists()
    assert await anext(desk.events.read(0)) == NumberedEvent(1, {"type": "here"})
    assert desk.events.number == 1


@pytest.mark.parametrize("name", ["nobody", "../outside", "%2Fetc%2Fpasswd", "../outside.gguf"])
async def test_only_what_lies_in_the_folder_can_be_removed(desk, http, tmp_path, name):
    outside = write_tiny_model(tmp_path / "outside.gguf", TinyModel())
    assert (await http.delete(f"/api/models/{name}")).status_code == 404
    assert outside.exists()


async def test_the_bundled_model_stays(desk, http):
    answer = await http.delete("/api/models/duologue-mini")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


async def test_events_are_numbered_and_end_with_their_log(desk, http):
    desk.events.publish({"type": "loaded"})

    async def close():
        await anyio.wait_all_tasks_blocked()
        desk.events.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(close)
        answer = await http.get("/api/models/events", headers={"Last-Event-ID": "0"})
    assert answer.text == 'id: 1\ndata: {"type":"loaded"}\n\n'


@pytest.fixture
async def remembering(desk, memory):
    """A server that started after it had died while it was loading `tiny`."""
    store = RememberedLoads(memory, Clock())
    await store.begin("tiny", {"context": 256}, another=False, user="anna")
    await desk.remembered.open(store, ["other"])


async def test_a_loaded_model_becomes_the_default(desk, http):
    desk.pool._enrol(LoadSpec("worker_1", "scripted", "other"), 1)
    answer = await http.put("/api/models/default", json={"name": "other"})
    assert (answer.status_code, answer.json()) == (200, {"default": "other"})
    rows = (await http.get("/api/models")).json()["loaded"]
    assert [(row["name"], row["default"], row["remembered"]) for row in rows] == [
        ("other", True, False),
        ("tiny", False, False),
    ]
    refused = await http.put("/api/models/default", json={"name": "nobody"})
    assert (refused.status_code, refused.json()["code"]) == (404, "model_not_found")


async def test_a_load_that_failed_is_listed_tried_again_and_forgotten(desk, http, remembering):
    body = (await http.get("/api/models")).json()
    assert body["remembered"] == [{"name": "tiny", "failed": STOPPED_WHILE_LOADING, "count": 1}]
    answer = await http.post("/api/models/remembered/tiny/retry", json={"force": True, "stream": False})
    assert (answer.status_code, answer.json()["status"]) == (200, "finished")
    [wanted] = desk.loader.wanted
    assert (wanted.name, wanted.sizes.context, wanted.force, wanted.user) == ("tiny", 256, True, "local")
    assert wanted.repeats > 0
    gone = await http.delete("/api/models/remembered/tiny")
    assert (gone.status_code, gone.json()) == (200, {"forgotten": "tiny"})
    assert (await http.get("/api/models")).json()["remembered"] == []
    for method, path in (("DELETE", ""), ("POST", "/retry")):
        answer = await http.request(method, f"/api/models/remembered/tiny{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "model_not_found")
