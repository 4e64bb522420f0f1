"""What is measured of a reply and of a turn, and where it shows."""

import logging

from duologue.gateway.admin.metrics import measure_end, measure_reply, measure_turn, rendered, vector_observer
from duologue.gateway.admin.metrics_history import MetricsHistory
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.values.call_events import TurnFigures
from duologue.values.events import Done, Failed, Timings, Usage
from duologue.wire.worker_protocol import LoadSpec


def test_a_reply_leaves_a_sample_of_each_of_its_stages():
    pool = Pool([LoadSpec("w", "scripted", "m")], Scheduler())
    measure_reply(Done("stop", Usage(input=7, output=3), Timings(first=120.0, prefill=80.0, generate=40.0)))
    text = rendered(pool)
    assert 'stage="prefill"' in text
    assert 'stage="generate"' in text
    assert "duologue_queue_length 0.0" in text


def test_vectors_and_scores_are_stages_of_their_own_and_count_as_requests():
    history = MetricsHistory(0.0)
    observe = vector_observer(history)
    observe("embed", Done("stop", Usage(input=7), Timings(queue=20.0, prefill=80.0)))
    observe("rerank", Done("stop", Usage(input=7), Timings(prefill=80.0)))
    observe("embed", Done("cancelled"))
    observe("embed", Failed("queue_full", "full", 503))
    text = rendered(Pool([LoadSpec("w", "scripted", "m")], Scheduler()))
    assert 'stage="embed"' in text
    assert 'stage="rerank"' in text


def test_a_turn_of_a_call_is_one_line_with_what_was_measured(caplog):
    caplog.set_level(logging.INFO, "duologue.gateway.admin.metrics")
    measure_turn(TurnFigures(0, 2, 5, endpoint=410.4, first_heard=733.0))
    assert caplog.messages == ["turn 2, reply 5: endpoint 410 ms, first_heard 733 ms"]


def test_a_turn_that_came_to_nothing_says_so(caplog):
    caplog.set_level(logging.INFO, "duologue.gateway.admin.metrics")
    measure_turn(TurnFigures(0, 1, 0))
    assert caplog.messages == ["turn 1, reply 0: no reply"]


def test_the_history_knows_how_each_reply_ended():
    history = MetricsHistory(0.0)
    for event in (
        Done("stop", Usage(output=3), Timings(first=120.0, queue=20.0)),
        Done("cancelled"),
        Failed("worker_lost", "The worker is gone.", 503),
    ):
        measure_end(history, "chat", event)
    row = history.close(5.0, 1, 2)
    assert (row.requests, row.failed) == (3, 1)
