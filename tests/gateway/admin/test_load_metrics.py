"""Loads and unloads, as they show in the status of the workers."""

from __future__ import annotations

import pytest

from duologue import telemetry
from duologue.gateway.admin.load_metrics import LoadMetrics
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.values.requests import ModelCard


@pytest.fixture
def own(monkeypatch):
    metrics = telemetry.Metrics()
    monkeypatch.setattr(telemetry, "metrics", lambda: metrics)
    return metrics


def worker(state: str, name: str = "w") -> WorkerStatus:
    return WorkerStatus(name, "m", "scripted", "cpu", state=state)


def told(metrics: telemetry.Metrics) -> str:
    return metrics.render()[0].decode()


def test_a_load_lasts_from_the_start_of_the_process_until_the_model_is_ready(own):
    loads = LoadMetrics()
    loads.update([worker("offline")], 0.0)
    loads.update([worker("loading")], 10.0)
    loads.update([worker("loading")], 11.0)
    loads.update([worker("ready")], 14.0)
    loads.update([worker("ready")], 15.0)
    assert 'duologue_model_loads_total{model="m",outcome="done"} 1.0' in told(own)
    assert 'duologue_model_load_seconds_sum{model="m"} 4.0' in told(own)


def test_a_load_that_failed_is_counted_and_its_time_is_not(own):
    loads = LoadMetrics()
    loads.update([worker("loading")], 10.0)
    loads.update([worker("failed")], 11.0)
    assert 'duologue_model_loads_total{model="m",outcome="failed"} 1.0' in told(own)
    assert 'duologue_model_load_seconds_count{model="m"}' not in told(own)


def test_a_worker_that_is_gone_was_unloaded(own):
    loads = LoadMetrics()
    loads.update([worker("ready"), worker("ready", "other")], 0.0)
    own.unload_begins("other", "idle")
    loads.update([worker("ready")], 1.0)
    assert 'duologue_model_unloads_total{cause="idle",model="m"} 1.0' in told(own)


def test_what_alerts_look_for_is_zero_from_the_beginning(own):
    LoadMetrics().update([worker("offline")], 0.0)
    assert 'duologue_worker_restarts_total{cause="crash",model="m",worker="w"} 0.0' in told(own)
    assert 'duologue_model_loads_total{model="m",outcome="failed"} 0.0' in told(own)


def test_a_label_is_the_models_own_name_once_it_is_known_or_that_of_its_server():
    known = WorkerStatus("w", "file.gguf", "llama", "cpu", card=ModelCard("qwen", "llama", 0))
    assert known.label == "qwen"
    assert WorkerStatus("w", "w", "remote", "cpu", upstream="lab").label == "lab"
    assert WorkerStatus("w", "any", "voice", "cpu").label == "voice"
