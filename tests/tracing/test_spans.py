"""Spans as the program uses them, with the real SDK and without any."""

from __future__ import annotations

import anyio
import pytest
from tests.support.recorded_spans import recording

from duologue.errors import QueueFull
from duologue.tracing import spans

REMOTE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"


def test_without_a_tracer_nothing_happens():
    assert not spans.is_on()
    assert spans.settings_for("worker_0") is None
    with spans.span("a") as span:
        span.set({"x": 1})
        span.rename("b")
        span.fail("code")
        assert (span.recording, span.traceparent, spans.traceparent()) == (False, "", "")
    assert spans.start("c") is spans.NO_SPAN
    assert spans.current() is spans.NO_SPAN


def test_what_is_entered_inside_a_span_is_below_it():
    with recording() as seen:
        with spans.span("outer", kind="server"):
            with spans.span("inner", attributes={"n": 1}):
                pass
            spans.start("beside").end()
        spans.start("alone").end()
    assert seen.names == ["inner", "beside", "outer", "alone"]
    assert [seen.parent(name) for name in ("inner", "beside", "outer", "alone")] == ["outer", "outer", "", ""]
    assert dict(seen["inner"].attributes) == {"n": 1}
    assert seen["outer"].kind.name == "SERVER"


def test_the_place_of_another_process_is_continued():
    with recording() as seen:
        with spans.below(f"{REMOTE}-01", "work"):
            passed_on = spans.traceparent()
        with spans.below("", "work of nobody's trace") as none:
            assert none is spans.NO_SPAN
    work = seen["work"]
    assert f"{work.context.trace_id:032x}" == REMOTE.split("-")[1]
    assert (f"{work.parent.span_id:016x}", work.parent.is_remote) == (REMOTE.split("-")[2], True)
    assert passed_on == f"00-{work.context.trace_id:032x}-{work.context.span_id:016x}-01"
    assert seen.names == ["work"]


def test_a_place_that_makes_no_sense_begins_a_trace():
    with recording() as seen, spans.span("request", remote="nonsense"):
        pass
    assert seen["request"].parent is None


def test_what_is_not_sampled_is_not_recorded_and_says_so_to_others():
    with recording(ratio=0.0) as seen:
        with spans.span("request") as request:
            with spans.span("below") as below:
                assert below is request
                assert spans.traceparent().endswith("-00")
            assert spans.current() is request, "the end of what was below it is not its end"
        with spans.below(f"{REMOTE}-00", "work"):
            assert spans.traceparent().endswith("-00")
        with spans.below(f"{REMOTE}-01", "asked for"):
            pass
    assert seen.names == ["asked for"], "who began the trace has decided"


def test_an_error_is_told_by_its_code_and_never_by_its_words():
    with recording() as seen:
        with pytest.raises(QueueFull), spans.span("refused"):
            raise QueueFull("secret", code="queue_full")
        with pytest.raises(ValueError), spans.span("broken"):
            raise ValueError("secret")
        with pytest.raises(BaseExceptionGroup), spans.span("group"):
            raise ExceptionGroup("secret", [QueueFull("secret", code="queue_full")])
        with pytest.raises(KeyboardInterrupt), spans.span("left"):
            raise KeyboardInterrupt
    assert [seen[name].attributes.get("error.type") for name in ("refused", "broken", "group")] == [
        "queue_full",
        "ValueError",
        "queue_full",
    ]
    assert not seen["refused"].status.is_ok
    assert seen["left"].status.is_unset
    assert seen["left"].attributes["duologue.outcome"] == "cancelled"
    assert not any("secret" in str(span.to_json()) for span in seen.all)


def test_names_that_clients_choose_are_cut():
    with recording() as seen, spans.span("request", attributes={"model": "x" * 10_000}):
        pass
    assert len(seen["request"].attributes["model"]) == spans.LONGEST


def test_a_span_that_has_ended_stays_as_it_is():
    with recording() as seen:
        span = spans.start("request")
        span.end()
        span.set({"late": 1})
        span.rename("late")
        span.fail("late")
        span.end()
    assert seen.names == ["request"]
    assert not seen["request"].attributes


@pytest.mark.anyio
async def test_tasks_inherit_the_span_and_may_leave_it():
    async def works(name: str) -> None:
        spans.start(name).end()

    async def outlives() -> None:
        spans.leave()
        spans.start("outlived").end()

    with recording() as seen, spans.span("request"):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(works, "task")
            tasks.start_soon(outlives)
    assert seen.parent("task") == "request"
    assert seen["outlived"].parent is None


@pytest.mark.anyio
async def test_the_end_of_a_process_waits_for_its_last_spans_and_not_for_ever():
    class Slow:
        unsent = 2

        def start(self, *_: object) -> spans.TraceSpan:
            return spans.NO_SPAN

    spans.set_up(Slow())
    try:
        with anyio.fail_after(30):
            await spans.sent(0.05)
            Slow.unsent = 0
            await spans.sent(3600)
    finally:
        spans.set_up(None)


def test_workers_trace_as_the_gateway_does_under_their_own_names():
    spans.set_up(None, spans.TraceSettings("http://c:4318", 0.5, "s"))
    try:
        assert spans.settings_for("worker_0") == spans.TraceSettings("http://c:4318", 0.5, "s", "worker_0")
    finally:
        spans.set_up(None)
