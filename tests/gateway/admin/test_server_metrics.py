"""What `/metrics` reads from the pools."""

from __future__ import annotations

import os

import pytest

from duologue import telemetry
from duologue.gateway.admin.server_metrics import ServerMetrics, note_now
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.wire.worker_protocol import LoadSpec


@pytest.fixture(autouse=True)
def own(monkeypatch):
    metrics = telemetry.Metrics()
    monkeypatch.setattr(telemetry, "metrics", lambda: metrics)
    return metrics


def lines(*pools: Pool, **also: object) -> set[str]:
    note_now(pools, **also)  # type: ignore[arg-type]
    return set(telemetry.metrics().render()[0].decode().splitlines())


def test_workers_slots_and_queues_are_told_by_model():
    pool = Pool([LoadSpec("a", "scripted", "one"), LoadSpec("b", "scripted", "two")], Scheduler())
    pool.workers["a"].state = "ready"
    pool.scheduler.worker_ready("a", "one", 3, 0.0)
    pool.scheduler.request("t1", "one", 0.0, need=3)
    pool.scheduler.request("t2", "one", 0.0)
    told = lines(pool)
    assert {
        'duologue_workers{model="one",state="ready"} 1.0',
        'duologue_workers{model="one",state="failed"} 0.0',
        'duologue_workers{model="two",state="offline"} 1.0',
        'duologue_slots{model="one"} 3.0',
        'duologue_slots_busy{model="one"} 3.0',
        'duologue_queue_length{model="one"} 1.0',
        'duologue_queue_length{model="two"} 0.0',
        "duologue_active_leases 3.0",
    } <= told


def test_machines_are_told_by_reach():
    pool = Pool([LoadSpec(name, "scripted", name) for name in "abcd"], Scheduler())
    for name, machine, state in (
        ("a", "box", "unreachable"),
        ("b", "box", "ready"),
        ("c", "far", "unreachable"),
    ):
        view = pool.workers[name]
        view.machine, view.joined, view.state = machine, True, state
    assert {
        'duologue_machines{reach="reachable"} 1.0',
        'duologue_machines{reach="unreachable"} 1.0',
    } <= lines(pool)
    pool.workers["c"].state = "ready"
    assert {
        'duologue_machines{reach="reachable"} 2.0',
        'duologue_machines{reach="unreachable"} 0.0',
    } <= lines(pool)


def test_a_model_that_was_unloaded_is_told_no_more():
    lines(Pool([LoadSpec("a", "scripted", "one")], Scheduler()))
    told = lines(Pool([LoadSpec("b", "scripted", "two")], Scheduler()))
    assert not any('model="one"' in line for line in told)


def test_all_models_of_a_connected_server_are_one_label_and_so_is_the_voice():
    models = Pool([LoadSpec("a", "remote", upstream="lab")], Scheduler())
    voice = Pool([LoadSpec("v", "voice", "voice")], Scheduler())
    told = lines(models, voice)
    assert {'duologue_slots{model="lab"} 0.0', 'duologue_slots{model="voice"} 0.0'} <= told


def test_batches_and_restarts_of_the_gateway_are_told():
    pool = Pool([LoadSpec("a", "scripted", "one")], Scheduler())
    told = lines(pool, gateway_restarts=2, batches={"waiting": 3, "running": 1})
    assert {
        "duologue_gateway_restarts 2.0",
        'duologue_batches{state="waiting"} 3.0',
        'duologue_batches{state="running"} 1.0',
    } <= told


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="this system tells no memory of processes")
def test_the_memory_of_this_process_is_told():
    pool = Pool([LoadSpec("a", "scripted", "one")], Scheduler())
    [line] = [
        line for line in lines(pool) if line.startswith('duologue_process_memory_bytes{process="gateway"}')
    ]
    assert float(line.split()[-1]) > 1e6


@pytest.mark.anyio
async def test_a_change_of_the_workers_is_seen_as_a_load():
    pool = Pool([LoadSpec("a", "scripted", "one")], Scheduler())
    metrics = ServerMetrics(lambda: [pool], pool.find)
    for state in ("loading", "ready"):
        pool.workers["a"].state = state
        metrics.workers_changed()
    assert 'duologue_model_loads_total{model="one",outcome="done"} 1.0' in await metrics.rendered()
