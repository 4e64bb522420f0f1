"""The worker's spans: replies with their stages, sessions, loads."""

from __future__ import annotations

import logging
import sys

import msgspec
import pytest
from tests.support.recorded_spans import recording

from duologue.tracing import spans
from duologue.values.call_events import CallSetup
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest
from duologue.values.events import Done, Failed, Prefilled, Started, TextDelta, Usage
from duologue.values.messages import user
from duologue.values.requests import ChatRequest
from duologue.values.speech import SpeechRequest, TranscriptionRequest
from duologue.wire.worker_protocol import Begin, LoadSpec, Open
from duologue.worker import traced_work

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
CHAT = ChatRequest((user("a secret"),), model="m")


async def run(begin: Begin, *events: object) -> list[object]:
    """What was emitted of these events."""
    emitted: list[object] = []

    async def emit(event: object) -> None:
        emitted.append(event)

    with traced_work.reply_span(begin, "w") as span, traced_work.watched(emit, span) as emit_traced:
        for event in events:
            await emit_traced(event)  # type: ignore[arg-type]
    return emitted


@pytest.mark.anyio
async def test_a_reply_has_a_span_for_reading_and_one_for_writing():
    events = (Started("m"), Prefilled(7, 3), TextDelta("a secret"), Done("stop", Usage(input=7, output=2)))
    with recording() as seen:
        assert await run(Begin(1, 2, CHAT, "id", traceparent=PARENT), *events) == [*events]
    assert seen.names == ["prefill", "generation", "worker chat"]
    assert seen.parent("prefill") == seen.parent("generation") == "worker chat"
    assert seen["prefill"].attributes["gen_ai.usage.cache_read.input_tokens"] == 3
    assert seen["generation"].attributes["gen_ai.usage.output_tokens"] == 2
    worker = seen["worker chat"]
    assert worker.attributes["duologue.slot"] == 2
    assert worker.attributes["gen_ai.response.model"] == "m"
    assert f"{worker.parent.span_id:016x}" == PARENT.split("-")[2]
    assert not any("secret" in span.to_json() for span in seen.all)


@pytest.mark.anyio
async def test_a_reply_that_fails_or_is_cut_off_leaves_no_stage_open():
    with recording() as seen:
        await run(Begin(1, 0, CHAT, traceparent=PARENT), Started("m"), Failed("engine_failed", "a secret"))
        await run(Begin(1, 0, CHAT, traceparent=PARENT), Started("m"), Prefilled(1))
    assert seen.names == ["prefill", "worker chat", "prefill", "generation", "worker chat"]
    assert [span.attributes.get("error.type") for span in seen.all[:2]] == ["engine_failed"] * 2


@pytest.mark.anyio
async def test_work_without_a_trace_has_no_span():
    with recording() as seen:
        assert await run(Begin(1, 0, CHAT), Started("m"), Done("stop"))
        with traced_work.session_span(Open(1, 0, CallSetup()), "w"):
            pass
    assert seen.names == []


@pytest.mark.anyio
async def test_each_kind_of_work_has_its_name():
    with recording() as seen:
        await run(Begin(1, 0, EmbeddingRequest(("x",), "m"), traceparent=PARENT), Done("stop"))
        await run(Begin(1, 0, RerankRequest("q", ("x",), "m"), traceparent=PARENT), Done("stop"))
        for request in (CallSetup(), SpeechRequest("x"), TranscriptionRequest(b"")):
            with traced_work.session_span(Open(1, 0, request, traceparent=PARENT), "w"):
                pass
    assert seen.names == [
        "worker embeddings",
        "worker rerank",
        "worker call",
        "worker speech",
        "worker transcription",
    ]


def test_a_load_is_below_the_request_that_waits_for_it():
    with recording() as seen:
        with traced_work.load_span(LoadSpec("w", "scripted", "m"), PARENT):
            pass
        with traced_work.load_span(LoadSpec("w", "scripted", "m"), ""):
            pass
    asked, alone = seen.all
    assert f"{asked.context.trace_id:032x}" == PARENT.split("-")[1]
    assert alone.parent is None


def test_a_worker_without_the_sdk_works_without_spans(monkeypatch, caplog):
    caplog.set_level(logging.WARNING)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    traced_work.set_up(msgspec.json.encode(spans.TraceSettings()).decode())
    traced_work.set_up("")
    assert not spans.is_on()
    assert "does not trace" in caplog.text
