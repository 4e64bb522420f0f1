"""The log's lines and the figures."""

import io
import json
import logging
from typing import Any

import pytest

from duologue import telemetry


@pytest.fixture
def lines():
    """Set logging up as asked and give back what it wrote; the root logger is restored."""
    root = logging.getLogger()
    before = root.handlers[:], root.level

    def write(format: Any, *args: object, level: str = "info", **options: Any) -> str:
        stream = io.StringIO()
        telemetry.set_up_logging(level, format, stream)
        logging.getLogger("duologue.gateway.scheduling.pool").info(*args, **options)
        return stream.getvalue()

    yield write
    root.handlers[:], _ = before
    root.setLevel(before[1])


def test_a_text_line_names_level_room_and_request(lines):
    token = telemetry.request_id.set("abc-1")
    line = lines("text", "%s is ready", "worker_0")
    telemetry.request_id.reset(token)
    assert line[8:] == " INFO    gateway.scheduling.pool  worker_0 is ready  [abc-1]\n"


def test_debugging_writes_nothing_of_libraries_that_show_headers_and_frames(lines):
    try:
        lines("text", "x", level="debug")
        for name in ("websockets.client", "uvicorn.error", "httpx", "httpcore.http11"):
            assert not logging.getLogger(name).isEnabledFor(logging.DEBUG), name
            assert logging.getLogger(name).isEnabledFor(logging.WARNING), name
    finally:
        telemetry.set_up_logging("info")


def test_a_line_break_in_a_message_forges_no_second_line(lines):
    line = lines("text", "model %r", "x")
    assert line.count("\n") == 1
    assert lines("text", "model %s", "x\n12:00:00 INFO  forged\x1b[2J").count("\n") == 1
    assert "\x1b" not in lines("text", "\x1b[2J")


def test_a_trace_stands_indented_below_its_line(lines):
    try:
        raise ValueError("broken")
    except ValueError as error:
        written = lines("text", "failed", exc_info=error)
    first, *rest = written.splitlines()
    assert first.endswith("failed")
    assert all(line.startswith("    ") for line in rest)
    assert rest[-1] == "    ValueError: broken"


def test_a_json_line_is_one_object_with_the_trace_inside(lines):
    token = telemetry.request_id.set("abc-1")
    try:
        raise ValueError("broken")
    except ValueError as error:
        written = lines("json", "failed\nbadly", exc_info=error)
    telemetry.request_id.reset(token)
    record = json.loads(written)
    assert written.count("\n") == 1
    assert (record["level"], record["logger"], record["message"]) == (
        "info",
        "duologue.gateway.scheduling.pool",
        "failed\nbadly",
    )
    assert record["request_id"] == "abc-1"
    assert record["trace"].endswith("ValueError: broken")


def test_what_is_below_the_level_is_not_written(lines):
    assert lines("text", "hello", level="warning") == ""


def test_a_refused_socket_is_not_reported_as_forgotten(lines):
    stream = io.StringIO()
    lines("text", "hello")
    telemetry.set_up_logging("info", "text", stream)
    uvicorn = logging.getLogger("uvicorn.error")
    uvicorn.error("ASGI callable returned without completing handshake.")
    uvicorn.error("Traceback (most recent call last):\n  ...\nasyncio.exceptions.CancelledError\n")
    uvicorn.error("something else")
    assert "handshake" not in stream.getvalue()
    assert "Traceback" not in stream.getvalue()
    assert "something else" in stream.getvalue()


def test_setting_up_twice_writes_once(lines):
    lines("text", "first")
    assert lines("text", "second").count("second") == 1


def test_the_figures_are_told_in_prometheus_text():
    metrics = telemetry.Metrics()
    metrics.request_ended("POST /v1/chat/completions", "200", 0.2)
    metrics.request_ended("POST /v1/chat/completions", "200", 0.3)
    metrics.first_token(0.05, "m", "chat")
    metrics.queue_waited(1.5, "m", "chat")
    metrics.tokens_took(0.02, "m", "chat")
    metrics.tokens_counted("m", "chat", input=10, output=3)
    metrics.leases_active(2)
    metrics.worker_restarted("worker_0", "m", "hung")
    metrics.stage_took("prefill", 0.25, "m", "chat")
    metrics.task_ended("m", "chat", "stop")
    metrics.task_ended("m", "embed", "failed", "queue_full")
    metrics.sound_missing(0.4, "m")
    metrics.batch_request_ended(failed=True)
    metrics.workers_scaled("m", "up")
    body, kind = metrics.render()
    text = body.decode()
    assert kind.startswith("text/plain")
    for line in (
        'duologue_requests_total{endpoint="POST /v1/chat/completions",outcome="200"} 2.0',
        'duologue_first_token_seconds_count{kind="chat",model="m"} 1.0',
        'duologue_queue_wait_seconds_sum{kind="chat",model="m"} 1.5',
        'duologue_token_seconds_bucket{kind="chat",le="0.02",model="m"} 1.0',
        'duologue_tokens_total{kind="chat",model="m",type="input"} 10.0',
        'duologue_tokens_total{kind="chat",model="m",type="output"} 3.0',
        'duologue_stage_seconds_sum{kind="chat",model="m",stage="prefill"} 0.25',
        "duologue_active_leases 2.0",
        'duologue_worker_restarts_total{cause="hung",model="m",worker="worker_0"} 1.0',
        'duologue_tasks_total{kind="chat",model="m",outcome="stop"} 1.0',
        'duologue_task_errors_total{code="queue_full",kind="embed",model="m"} 1.0',
        'duologue_sound_gap_seconds_sum{model="m"} 0.4',
        'duologue_batch_requests_total{outcome="failed"} 1.0',
        'duologue_scalings_total{direction="up",model="m"} 1.0',
    ):
        assert line in text
    assert 'type="cached"' not in text
    assert "_created" not in text


def test_what_clients_choose_makes_no_labels_without_bound():
    metrics = telemetry.Metrics()
    metrics.codes = telemetry.LabelSet({"queue_full"})
    for number in range(3 * telemetry.MOST_LABELS):
        name = f"name_{number}"
        metrics.task_ended(name, name, "failed", name)
        metrics.first_token(0.1, name, "chat")
        metrics.request_ended("GET /x", "400", 0.1, name)
        metrics.worker_restarted(name, name, name)
        metrics.unload_begins(name, name)
    metrics.task_ended("name_0", "chat", "failed", "queue_full")
    labels: dict[str, set[str]] = {}
    for family in metrics.registry.collect():
        for one in family.samples:
            for label, value in one.labels.items():
                labels.setdefault(label, set()).add(value)
    assert len(labels["model"]) == telemetry.MOST_MODELS + 1
    assert telemetry.OTHER in labels["model"]
    assert labels["kind"] == {"chat", telemetry.OTHER}
    assert labels["code"] == {"queue_full", telemetry.OTHER}
    assert labels["cause"] == {telemetry.OTHER}
    assert len(labels["worker"]) == telemetry.MOST_LABELS + 1


def test_a_closed_set_of_labels_takes_no_other():
    labels = telemetry.LabelSet({"a", "b"})
    assert [labels("a"), labels("c"), labels("")] == ["a", telemetry.OTHER, telemetry.OTHER]
    assert ("a" in labels, "c" in labels) == (True, False)


def test_each_unload_has_the_cause_that_was_given_before_and_is_an_admins_otherwise():
    metrics = telemetry.Metrics()
    metrics.unload_begins("worker_1", "idle")
    metrics.model_unloaded("m", "worker_1")
    metrics.model_unloaded("m", "worker_1")
    text = metrics.render()[0].decode()
    assert 'duologue_model_unloads_total{cause="idle",model="m"} 1.0' in text
    assert 'duologue_model_unloads_total{cause="admin",model="m"} 1.0' in text


def test_the_process_has_one_set_of_figures():
    assert telemetry.metrics() is telemetry.metrics()
