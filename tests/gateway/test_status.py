import pytest

from duologue.gateway.pool import Pool
from duologue.gateway.queue import Queue
from duologue.gateway.status import overview, standing, waiting, worker_row
from duologue.values.requests import ModelCard
from duologue.wire.internal import Loadout

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
    return Pool([Loadout("w0", "scripted", "m"), Loadout("w1", "scripted", "m")], Queue(7), clock=clock)


def come_up(pool: Pool, worker: str, slots: int = 2) -> None:
    view = pool.workers[worker]
    view.state, view.card = "ready", ModelCard("m", "scripted", 100, slots=slots)
    pool.queue.worker_up(worker, "m", slots, 0.0)


def test_the_overview_has_every_key_of_the_published_status_and_the_slots(pool):
    come_up(pool, "w0")
    body = overview(pool)
    assert set(body) >= SEED_KEYS
    assert (body["slots_total"], body["slots_busy"], body["seats_total"], body["seats_busy"]) == (2, 0, 0, 0)
    assert (body["total_workers"], body["idle_workers"], body["offline_workers"]) == (2, 1, 1)
    assert body["max_queue_size"] == 7


def test_a_worker_is_busy_once_it_has_lent_anything(pool, clock):
    come_up(pool, "w0")
    pool.queue.ask("a", "m", 0.0)
    clock.time = 3.0
    body = overview(pool)
    assert (body["busy_workers"], body["idle_workers"], body["slots_busy"]) == (1, 0, 1)
    [task] = body["running_tasks"]
    assert (task["worker_id"], task["request_type"], task["elapsed_s"]) == ("w0", "chat", 3.0)


def test_a_workers_row_has_every_published_key_and_its_averages(pool, clock):
    come_up(pool, "w0")
    pool.queue.ask("a", "m", 0.0)
    pool.queue.release("a", "w0", 0, 2.0)
    row = worker_row(pool, pool.workers["w0"])
    assert set(row) >= SEED_WORKER_KEYS
    assert (row["status"], row["total_requests"], row["avg_inference_time_ms"]) == ("idle", 1, 2000.0)


def test_the_queue_tells_who_waits_where(pool, clock):
    come_up(pool, "w0", slots=1)
    for ticket in "abc":
        pool.queue.ask(ticket, "m", 0.0)
    clock.time = 4.0
    body = waiting(pool)
    assert [(item["ticket_id"], item["position"]) for item in body["items"]] == [("b", 1), ("c", 2)]
    assert body["items"][0]["wait_elapsed_s"] == 4.0
    assert body["items"][0]["estimated_wait_s"] == body["items"][0]["eta_seconds"] == 11.0


def test_the_standing_goes_from_loading_to_ready(pool):
    assert standing(pool)[0] == "loading"
    come_up(pool, "w1")
    assert standing(pool) == ("ready", "")


def test_a_worker_that_ended_is_restarting(pool):
    pool.workers["w0"].restarts = 1
    assert standing(pool)[0] == "restarting"


def test_a_model_nobody_can_load_has_failed_with_the_reason(pool):
    for view in pool.workers.values():
        view.state, view.detail = "failed", "The file is broken."
    assert standing(pool) == ("failed", "The file is broken.")
