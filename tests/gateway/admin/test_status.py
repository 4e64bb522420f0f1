from typing import Any

import anyio
import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from tests.gateway.fake_voice_worker import Seats

from duologue.errors import Problem
from duologue.gateway.admin.status import (
    card_state,
    model_state,
    models_view,
    overview,
    place_of,
    router,
    voice_row,
    waiting,
    worker_row,
    worker_rows,
)
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import EVERY_SLOT, Scheduler
from duologue.gateway.speech.service import SpeechService
from duologue.values.requests import ModelCard
from duologue.values.speech import SpeechCard, SpeechEngineStatus
from duologue.wire.worker_protocol import LoadSpec

SEED_KEYS = {
    "gateway_healthy",
    "total_workers",
    "idle_workers",
    "busy_workers",
    "duplex_workers",
    "loading_workers",
    "error_workers",
    "offline_workers",
    "queue_length",
    "max_queue_size",
    "running_tasks",
}
SEED_WORKER_KEYS = {
    "worker_id",
    "host",
    "port",
    "gpu_id",
    "status",
    "current_session_id",
    "total_requests",
    "avg_inference_time_ms",
    "last_heartbeat",
    "current_request_type",
    "task_started_at",
}


async def no_metrics() -> str:
    return ""


class Clock:
    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pool(clock) -> Pool:
    return Pool([LoadSpec("w0", "scripted", "m"), LoadSpec("w1", "scripted", "m")], Scheduler(7), clock=clock)


def come_up(pool: Pool, worker: str, slots: int = 2) -> None:
    view = pool.workers[worker]
    view.state, view.card = "ready", ModelCard("m", "scripted", 100, slots=slots)
    pool.scheduler.worker_ready(worker, "m", slots, 0.0)


def test_the_overview_has_every_key_of_the_published_status_and_the_slots(pool):
    come_up(pool, "w0")
    body = overview(pool)
    assert set(body) >= SEED_KEYS
    assert (body["slots_total"], body["slots_busy"], body["seats_total"], body["seats_busy"]) == (2, 0, 0, 0)
    assert (body["total_workers"], body["idle_workers"], body["offline_workers"]) == (2, 1, 1)
    assert body["max_queue_size"] == 7


def test_a_worker_is_busy_once_it_has_lent_anything(pool, clock):
    come_up(pool, "w0")
    pool.scheduler.request("a", "m", 0.0)
    clock.time = 3.0
    body = overview(pool)
    assert (body["busy_workers"], body["idle_workers"], body["slots_busy"]) == (1, 0, 1)
    [task] = body["running_tasks"]
    assert (task["worker_id"], task["request_type"], task["elapsed_s"]) == ("w0", "chat", 3.0)


def test_a_workers_row_has_every_published_key_and_its_averages(pool, clock):
    come_up(pool, "w0")
    pool.scheduler.request("a", "m", 0.0)
    pool.scheduler.release("a", "w0", 0, 2.0)
    row = worker_row(pool, pool.workers["w0"])
    assert set(row) >= SEED_WORKER_KEYS
    assert (row["status"], row["total_requests"], row["avg_inference_time_ms"]) == ("idle", 1, 2000.0)


@pytest.mark.parametrize(
    ("reported", "device", "gpu"),
    [
        ("cuda:1", "cuda:1", 1),
        ("cpu", "cpu", None),
        ("cuda:0, cuda:1", "cuda:0, cuda:1", None),
        ("", "auto", None),
    ],
)
def test_a_workers_row_names_the_device_that_its_engine_reports(clock, reported, device, gpu):
    pool = Pool([LoadSpec("w0", "llama", "m", device="auto")], Scheduler(7), clock=clock)
    before = worker_row(pool, pool.workers["w0"])
    assert (before["device"], before["gpu_id"]) == ("auto", None)
    pool.workers["w0"].card = ModelCard("m", "llama", 100, slots=1, device=reported)
    row = worker_row(pool, pool.workers["w0"])
    assert (row["device"], row["gpu_id"]) == (device, gpu)


@pytest.mark.anyio
async def test_the_queue_tells_who_waits_where(pool, clock):
    come_up(pool, "w0", slots=1)
    for ticket in "abc":
        pool.scheduler.request(ticket, "m", 0.0)
    clock.time = 4.0
    body = await waiting(pool)
    assert [(item["ticket_id"], item["position"]) for item in body["items"]] == [("b", 1), ("c", 2)]
    assert body["items"][0]["wait_elapsed_s"] == 4.0
    assert 0.0 < body["items"][0]["estimated_wait_s"] == body["items"][0]["eta_seconds"] < 15.0
    for item in body["items"]:
        found = place_of(item["ticket_id"], pool)
        assert found["ticket"] == item | {"enqueued_at": pytest.approx(item["enqueued_at"], abs=60)}
    assert [place_of(ticket, pool)["found"] for ticket in ("a", "d")] == [False, False]


@pytest.mark.anyio
async def test_a_long_queue_is_listed_in_steps_between_which_requests_come_and_go(clock):
    pool = Pool([LoadSpec("w0", "scripted", "m")], Scheduler(2000), clock=clock)
    come_up(pool, "w0", slots=1)
    for number in range(1001):
        pool.scheduler.request(f"q{number}", "m", 0.0)
    bodies = []

    async def look() -> None:
        bodies.append(await waiting(pool))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(look)
        for number in range(1, 6):
            await anyio.lowlevel.checkpoint()
            assert not bodies
            pool.scheduler.cancel(f"q{number}", 1.0)
    [body] = bodies
    assert [item["ticket_id"] for item in body["items"]] == [f"q{number}" for number in range(6, 1001)]


def test_the_standing_goes_from_loading_to_ready(pool):
    assert model_state(pool)[0] == "loading"
    come_up(pool, "w1")
    assert model_state(pool) == ("ready", "")


def test_a_worker_that_ended_is_restarting(pool):
    pool.workers["w0"].restarts = 1
    assert model_state(pool)[0] == "restarting"


def test_a_model_nobody_can_load_has_failed_with_the_reason(pool):
    for view in pool.workers.values():
        view.state, view.detail = "failed", "The file is broken."
    assert model_state(pool) == ("failed", "The file is broken.")


def test_without_any_worker_the_server_is_empty_and_says_where_models_are():
    state, detail = model_state(Pool([], Scheduler()))
    assert state == "empty"
    assert "models page" in detail
    assert "duologue models" in detail


def test_a_model_is_as_well_as_the_best_of_its_workers(pool):
    card = pool.cards()[0]
    assert card_state(pool, card)["state"] == "offline"
    view = pool.workers["w1"]
    view.state, view.detail, view.progress = "loading", "The model is loading.", 0.5
    expected = {"state": "loading", "detail": "The model is loading.", "progress": 0.5}
    assert card_state(pool, card) == expected
    pool.workers["w0"].state = "failed"
    assert card_state(pool, card) == expected
    come_up(pool, "w0")
    assert card_state(pool, card)["state"] == "ready"


def test_a_model_that_nobody_has_is_offline(pool):
    card = ModelCard("gone", "scripted", 100)
    assert card_state(pool, card) == {"state": "offline", "detail": "", "progress": None}


@pytest.mark.parametrize(("kind", "status"), [("omni_duplex", "duplex_active"), ("call", "busy_voice")])
def test_no_worker_is_idle_while_every_seat_is_taken(pool, clock, kind, status):
    come_up(pool, "w0")
    come_up(pool, "w1")
    pool.scheduler.request("chat", "m", 0.0)
    seats = Pool([LoadSpec("voice", "voice", "voice")], Scheduler(7), clock=clock)
    seats.workers["voice"].state = "ready"
    seats.scheduler.worker_ready("voice", "voice", 2, 0.0)
    seats.scheduler.request("a", "voice", 0.0, kind=kind)
    assert statuses(pool, seats) == ["busy_chat", "idle", status]
    assert overview(pool, seats)["idle_workers"] == 1
    seats.scheduler.request("b", "voice", 0.0, kind=kind)
    assert statuses(pool, seats) == ["busy_chat", status, status]
    assert overview(pool, seats)["idle_workers"] == 0


def statuses(pool: Pool, seats: Pool) -> list[str]:
    return [row["status"] for row in worker_rows(pool, seats)]


def test_every_worker_is_counted_once_the_voice_too(pool, clock):
    come_up(pool, "w0")
    pool.workers["w1"].state = "failed"
    seats = Pool([LoadSpec("voice", "voice", "voice")], Scheduler(7), clock=clock)
    seats.workers["voice"].state = "loading"
    body = overview(pool, seats)
    kinds = ("idle", "busy", "duplex", "loading", "error", "offline")
    assert [body[f"{kind}_workers"] for kind in kinds] == [1, 0, 0, 1, 1, 0]
    assert body["total_workers"] == len(worker_rows(pool, seats)) == 3


def test_the_voice_lends_seats_and_no_slots(pool, clock):
    seats = Pool([LoadSpec("voice", "voice", "voice")], Scheduler(7), clock=clock)
    view = seats.workers["voice"]
    view.state, view.card = "ready", ModelCard("voice", "voice", 0, slots=32)
    seats.scheduler.worker_ready("voice", "voice", 32, 0.0)
    seats.scheduler.request("a", "voice", 0.0, kind="call")
    body = overview(pool, seats)
    assert (body["seats_total"], body["seats_busy"], body["total_workers"]) == (32, 1, 3)
    assert [task["request_type"] for task in body["running_tasks"]] == ["call"]
    row = voice_row(seats, view)
    assert (row["worker_id"], row["status"]) == ("voice", "busy_voice")
    assert (row["seats_total"], row["seats_busy"], row["slots_total"]) == (32, 1, 0)
    assert set(row) == set(worker_row(pool, pool.workers["w0"]))
    assert row["detail"] == ""
    view.speech = SpeechCard(
        video=SpeechEngineStatus("failed", "musetalk", detail="It needs a graphics card.")
    )
    assert voice_row(seats, view)["detail"] == "It needs a graphics card.", "for the admins' list of workers"


def test_a_duplex_session_makes_its_worker_one_of_duplex(pool, clock):
    seats = Pool([LoadSpec("voice", "voice", "voice")], Scheduler(7), clock=clock)
    view = seats.workers["voice"]
    view.state, view.card = "ready", ModelCard("voice", "voice", 0, slots=32)
    seats.scheduler.worker_ready("voice", "voice", 32, 0.0)
    seats.scheduler.request("a", "voice", 0.0, kind="call")
    assert overview(pool, seats)["duplex_workers"] == 0
    seats.scheduler.request("b", "voice", 0.0, kind="audio_duplex")
    seats.scheduler.request("c", "voice", 0.0, kind="omni_duplex")
    assert overview(pool, seats)["duplex_workers"] == 1
    assert voice_row(seats, view)["status"] == "duplex_active"


def test_a_call_that_its_model_holds_makes_the_models_worker_one_of_duplex(pool, monkeypatch):
    come_up(pool, "w0")
    pool.scheduler.request("a", "m", 0.0, kind="omni_duplex", need=EVERY_SLOT)
    assert worker_row(pool, pool.workers["w0"])["status"] == "duplex_active"
    body = overview(pool)
    assert (body["duplex_workers"], body["busy_workers"], body["slots_busy"]) == (1, 0, 2)
    assert [task["request_type"] for task in body["running_tasks"]] == ["omni_duplex"]
    monkeypatch.setattr(pool, "is_paused", lambda ticket: ticket == "a")
    assert worker_row(pool, pool.workers["w0"])["status"] == "duplex_paused"
    assert overview(pool)["duplex_workers"] == 1


@pytest.mark.anyio
async def test_who_waits_for_a_seat_is_in_the_queue_too(pool, clock):
    seats = Pool([LoadSpec("voice", "voice", "voice")], Scheduler(7), clock=clock)
    seats.scheduler.worker_ready("voice", "voice", 1, 0.0)
    for ticket in "ab":
        seats.scheduler.request(ticket, "voice", 0.0, kind="speech")
    body = await waiting(pool, seats)
    assert [(item["ticket_id"], item["request_type"]) for item in body["items"]] == [("b", "speech")]
    assert body["queue_length"] == overview(pool, seats)["queue_length"] == 1


@pytest.mark.anyio
async def test_the_page_is_told_how_the_voice_is(pool):
    app = FastAPI()
    said: dict[str, Any] = {"auth_required": lambda: False, "metrics": no_metrics, "limits": {}}
    app.include_router(router(pool, build=None, speech=SpeechService(Seats()), **said))
    silent = FastAPI()
    silent.include_router(router(pool, build=None, **said))
    for served, state in ((app, "ready"), (silent, "absent")):
        async with httpx.AsyncClient(transport=httpx.ASGITransport(served), base_url="http://test") as client:
            body = (await client.get("/api/capabilities")).json()
        assert body["features"]["voice"] is (state == "ready")
        assert body["voice"]["state"] == state


@pytest.mark.anyio
async def test_a_place_in_the_queue_can_be_given_up(pool):
    app = FastAPI(exception_handlers={Problem: refuse})
    app.include_router(router(pool, build=None, auth_required=lambda: False, metrics=no_metrics, limits={}))

    async def as_ada(scope, receive, send):
        scope["state"] = {"user": "ada", "role": "user"}
        await app(scope, receive, send)

    come_up(pool, "w0", slots=1)
    pool.scheduler.request("a", "m", 0.0)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(as_ada), base_url="http://test") as client:
        with pool.lease("m", user="ada") as own, pool.lease("m", user="bob") as other:
            answers = [await client.delete(f"/api/queue/{lease.ticket}") for lease in (own, own, other)]
    assert [answer.status_code for answer in answers] == [200, 404, 404]
    assert answers[0].json() == {"cancelled": own.ticket, "success": True}


@pytest.mark.anyio
async def test_one_place_in_the_queue_can_be_asked_for(pool):
    app, seats = FastAPI(), Pool([LoadSpec("voice", "voice", "voice")], Scheduler(7))
    served: dict[str, Any] = {"auth_required": lambda: False, "metrics": no_metrics, "limits": {}}
    app.include_router(router(pool, build=None, speech=SpeechService(seats), **served))
    seats.scheduler.worker_ready("voice", "voice", 1, 0.0)
    for ticket in "ab":
        seats.scheduler.request(ticket, "voice", 0.0, kind="audio_duplex")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        waits, runs = [(await client.get(f"/api/queue/{ticket}")).json() for ticket in "ba"]
    assert waits["found"] is True
    place = waits["ticket"]
    assert (place["ticket_id"], place["position"], place["request_type"]) == ("b", 1, "audio_duplex")
    assert runs == {"found": False, "message": "No request is waiting with the ticket 'a'."}


async def refuse(request: Request, problem: Problem) -> JSONResponse:
    return JSONResponse({"code": problem.code}, problem.status)


def test_a_default_that_the_start_is_still_to_load_is_named_and_loading(pool):
    come_up(pool, "w0")
    aliases = {"best": ModelCard("m", "scripted", 100)}
    view = models_view(pool, "tiny", ["other", "tiny"], aliases)
    assert (view["state"], view["default_model"]) == ("loading", "tiny")
    assert [(row["name"], row["state"]) for row in view["models"]] == [
        ("tiny", "loading"),
        ("m", "ready"),
        ("other", "loading"),
    ]
    assert view["aliases"] == {"best": "m"}
    assert view["titles"]["qwen3-4b"] == "Qwen3 4B"
    view = models_view(pool, "", ["m"], {})
    assert (view["state"], view["default_model"], len(view["models"])) == ("ready", "m", 1)


def test_the_page_is_offered_only_models_that_chat(pool):
    come_up(pool, "w0")
    pool.workers["w1"].card = ModelCard("vectors", "scripted", 100, verbs=("embed",))
    pool.workers["w1"].model = "vectors"
    assert [row["name"] for row in models_view(pool, "", [], {})["models"]] == ["m"]
    pool.workers["w0"].card = ModelCard("m", "scripted", 100, verbs=("rerank",))
    view = models_view(pool, "", [], {})
    assert (view["state"], view["default_model"], view["models"]) == ("empty", None, [])
    assert view["detail"].startswith("No model that writes replies")
