"""What is measured of a reply, of work in a seat and of a turn, and where it shows."""

from __future__ import annotations

import logging

import pytest

from duologue import telemetry
from duologue.errors import QueueFull
from duologue.gateway.admin.metrics import WorkMetrics
from duologue.gateway.admin.metrics_history import MetricsHistory
from duologue.gateway.scheduling.lowest_place import lowest_place
from duologue.values.call_events import TurnFigures
from duologue.values.events import Done, Failed, Timings, Usage
from duologue.values.requests import ModelCard

CARDS = {"": ModelCard("main", "scripted", 0), "alias": ModelCard("main", "scripted", 0)}


@pytest.fixture
def text(monkeypatch):
    """Metrics of their own; gives the lines of them."""
    own = telemetry.Metrics()
    monkeypatch.setattr(telemetry, "metrics", lambda: own)
    return lambda: set(own.render()[0].decode().splitlines())


@pytest.fixture
def history():
    return MetricsHistory(0.0)


@pytest.fixture
def work(text, history):
    return WorkMetrics(history, CARDS.get)


def test_a_reply_leaves_what_it_took_under_its_model_and_kind(text, work):
    timings = Timings(queue=20.0, prefill=80.0, generate=40.0, first=120.0)
    work.reply_ended("alias", "voice", Done("length", Usage(input=7, output=3, cached=5), timings))
    labels = 'kind="voice",model="main"'
    assert {
        f"duologue_queue_wait_seconds_sum{{{labels}}} 0.02",
        f"duologue_first_token_seconds_sum{{{labels}}} 0.12",
        f"duologue_token_seconds_sum{{{labels}}} 0.02",
        f'duologue_stage_seconds_sum{{{labels},stage="prefill"}} 0.08',
        f'duologue_stage_seconds_sum{{{labels},stage="generate"}} 0.04',
        f'duologue_tokens_total{{{labels},type="cached"}} 5.0',
        f'duologue_tasks_total{{{labels},outcome="length"}} 1.0',
    } <= text()


def test_a_reply_that_was_cancelled_is_counted_and_not_measured(text, work):
    work.reply_ended("", "chat", Done("cancelled"))
    assert 'duologue_tasks_total{kind="chat",model="main",outcome="cancelled"} 1.0' in text()
    assert not any("first_token_seconds_sum{" in line for line in text())


def test_a_reply_that_failed_is_counted_by_its_code(text, work):
    work.reply_ended("", "chat", Failed("worker_lost", "gone", 503))
    work.reply_ended("", "chat", Failed("what a foreign server calls it", "broken"))
    assert {
        'duologue_task_errors_total{code="worker_lost",kind="chat",model="main"} 1.0',
        'duologue_task_errors_total{code="other",kind="chat",model="main"} 1.0',
        'duologue_tasks_total{kind="chat",model="main",outcome="failed"} 2.0',
    } <= text()


def test_a_model_that_nobody_serves_makes_no_label_of_its_own(text, work):
    work.reply_ended("invented by a client", "chat", Failed("model_not_found", "no", 404))
    assert 'duologue_tasks_total{kind="chat",model="other",outcome="failed"} 1.0' in text()


def test_a_model_keeps_its_label_when_it_is_unloaded(text, work):
    telemetry.metrics().models("gone")
    work.reply_ended("gone", "chat", Failed("model_unloaded", "no", 503))
    assert 'duologue_tasks_total{kind="chat",model="gone",outcome="failed"} 1.0' in text()


def test_work_of_batches_is_a_kind_of_its_own(text, work):
    with lowest_place():
        work.reply_ended("", "chat", Done("stop"))
        work.vectors_ended("", "embed", Done("stop", Usage(input=4)))
    assert {
        'duologue_tasks_total{kind="batch",model="main",outcome="stop"} 1.0',
        'duologue_tasks_total{kind="batch",model="main",outcome="done"} 1.0',
    } <= text()


def test_vectors_and_scores_are_stages_of_their_own_and_count_as_requests(text, work, history):
    work.vectors_ended("", "embed", Done("stop", Usage(input=7), Timings(queue=20.0, prefill=80.0)))
    work.vectors_ended("", "rerank", Done("stop", Usage(input=7), Timings(prefill=80.0)))
    work.vectors_ended("", "embed", Done("cancelled"))
    work.vectors_ended("", "embed", Failed("queue_full", "full", 503))
    assert {
        'duologue_stage_seconds_sum{kind="embed",model="main",stage="embed"} 0.08',
        'duologue_stage_seconds_sum{kind="rerank",model="main",stage="rerank"} 0.08',
        'duologue_tokens_total{kind="embed",model="main",type="input"} 7.0',
        'duologue_tasks_total{kind="embed",model="main",outcome="cancelled"} 1.0',
        'duologue_task_errors_total{code="queue_full",kind="embed",model="main"} 1.0',
    } <= text()
    row = history.close(5.0, 0, 0)
    assert (row.requests, row.failed) == (4, 1)


def test_work_in_a_seat_ends_as_done_failed_or_cancelled(text, work):
    class CallOver(Exception):
        problem = None

    with work.seat_taken("speech") as seated:
        seated()
    with pytest.raises(QueueFull), work.seat_taken("transcription"):
        raise QueueFull("full", code="queue_full")
    with pytest.raises(CallOver), work.seat_taken("omni_duplex", "alias"):
        raise CallOver
    with pytest.raises(KeyboardInterrupt), work.seat_taken("clip"):
        raise KeyboardInterrupt
    with pytest.raises(ZeroDivisionError), work.seat_taken("call"):
        _ = 1 / 0
    assert {
        'duologue_tasks_total{kind="speech",model="voice",outcome="done"} 1.0',
        'duologue_queue_wait_seconds_count{kind="speech",model="voice"} 1.0',
        'duologue_task_errors_total{code="queue_full",kind="transcription",model="voice"} 1.0',
        'duologue_tasks_total{kind="omni_duplex",model="main",outcome="done"} 1.0',
        'duologue_tasks_total{kind="clip",model="voice",outcome="cancelled"} 1.0',
        'duologue_task_errors_total{code="internal_error",kind="call",model="voice"} 1.0',
    } <= text()


def test_a_turn_of_a_call_is_one_line_with_what_was_measured(caplog, text, work):
    caplog.set_level(logging.INFO, "duologue.gateway.admin.metrics")
    work.turn_ended("", TurnFigures(0, 2, 5, endpoint=410.4, first_heard=733.0, gaps=(250.0,)))
    assert caplog.messages == ["turn 2, reply 5: endpoint 410 ms, first_heard 733 ms, silent for 250 ms"]
    assert 'duologue_sound_gap_seconds_sum{model="main"} 0.25' in text()
    assert 'duologue_stage_seconds_count{kind="call",model="main",stage="voice_endpoint"} 1.0' in text()


def test_a_turn_that_came_to_nothing_says_so(caplog, work):
    caplog.set_level(logging.INFO, "duologue.gateway.admin.metrics")
    work.turn_ended("", TurnFigures(0, 1, 0))
    assert caplog.messages == ["turn 1, reply 0: no reply"]


def test_the_history_knows_how_each_reply_ended(work, history):
    for event in (
        Done("stop", Usage(output=3), Timings(first=120.0, queue=20.0)),
        Done("cancelled"),
        Failed("worker_lost", "The worker is gone.", 503),
    ):
        work.reply_ended("", "chat", event)
    row = history.close(5.0, 1, 2)
    assert (row.requests, row.failed) == (3, 1)
