"""Traces of a running server: the gateway's and the workers' spans, as a collector receives them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from tests.e2e.conftest import Server
from tests.support.conversation_client import ConversationClient, tool_call_script
from tests.support.trace_receiver import TraceReceiver, receiving

from duologue.client.http import Client

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra `tracing` is not installed")
pytestmark = pytest.mark.system

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SECRET = "the-word-that-nobody-may-see"
NUMBER = "918273645546372819"


@pytest.fixture(scope="module")
def collector() -> Iterator[TraceReceiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def apart() -> Iterator[TraceReceiver]:
    """A collector for servers of which the other tests are to see nothing."""
    with receiving() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def server(lasting: Callable[..., Server], collector: TraceReceiver) -> Server:
    return lasting(
        "--engine",
        "scripted",
        DUOLOGUE_TRACING__ENABLED="true",
        DUOLOGUE_TRACING__ENDPOINT=collector.url,
        DUOLOGUE_TRACING__TRUST_CLIENTS="true",
        DUOLOGUE_TRACING__SERVICE_NAME="tested",
    ).ready()


def chat(server: Server, text: str, headers: dict[str, str] | None = None) -> httpx.Response:
    body = {"messages": [{"role": "user", "content": text}], "max_tokens": 50, "temperature": 0.5}
    return httpx.post(f"{server.url}/v1/chat/completions", json=body, headers=headers, timeout=60)


def test_a_chat_is_one_trace_from_the_gateway_to_the_worker(server: Server, collector: TraceReceiver):
    parent = "00f067aa0ba902b7"
    answer = chat(server, f"/say {SECRET}", {"traceparent": f"00-{TRACE}-{parent}-01"})
    assert SECRET in answer.text
    request_id = answer.headers["x-request-id"]
    spans = collector.wait_for(lambda spans: sum(span.trace == TRACE for span in spans) >= 6)
    by_name = {span.name: span for span in spans if span.trace == TRACE}
    [model] = {name.split()[1] for name in by_name if name.startswith("chat ")}
    request, reply, wait = (
        by_name[name] for name in ("POST /v1/chat/completions", f"chat {model}", "queue wait")
    )
    worker, prefill, generation = (by_name[name] for name in ("worker chat", "prefill", "generation"))
    assert request.parent == parent
    assert (reply.parent, wait.parent) == (request.span, reply.span)
    assert worker.parent == reply.span
    assert {prefill.parent, generation.parent} == {worker.span}
    assert (request.process, worker.process) == ("gateway", "worker_0")
    assert {span.service for span in by_name.values()} == {"tested"}
    assert request.attributes["http.response.status_code"] == 200
    assert request.attributes["duologue.request_id"] == worker.attributes["duologue.request_id"] == request_id
    assert reply.attributes["gen_ai.operation.name"] == "chat"
    assert reply.attributes["gen_ai.request.model"] == model
    assert reply.attributes["gen_ai.request.temperature"] == 0.5
    assert reply.attributes["gen_ai.request.max_tokens"] == 50
    assert reply.attributes["gen_ai.response.finish_reasons"] == ["stop"]
    assert reply.attributes["gen_ai.usage.output_tokens"] > 0
    assert wait.end <= worker.end
    assert prefill.start <= prefill.end <= generation.end <= worker.end


def states(client: httpx.Client) -> set[tuple[str, str]]:
    machines = client.get("/api/machines").raise_for_status().json()["machines"]
    return {(row["worker"], row["state"]) for machine in machines for row in machine["workers"]}


def test_a_worker_that_joined_traces_as_its_own_settings_say(
    serve: Callable[..., Server], apart: TraceReceiver, tmp_path: Path
):
    (tmp_path / "key").write_text("the-key-of-the-admin-of-this-test")
    traced = {"DUOLOGUE_TRACING__ENABLED": "true", "DUOLOGUE_TRACING__ENDPOINT": apart.url}
    home = serve(
        *("--engine", "scripted", "--key-file", str(tmp_path / "key")),
        DUOLOGUE_MACHINES__JOIN="true",
        DUOLOGUE_TRACING__TRUST_CLIENTS="true",
        **traced,
    ).ready()
    trace = "44f92f3577b34da6a3ce929d0e0e4736"
    headers = {"Authorization": f"Bearer {(tmp_path / 'key').read_text()}"}
    with httpx.Client(base_url=home.url, headers=headers, timeout=60) as client:
        key = client.post("/api/keys", json={"name": "attic", "role": "worker"}).json()["key"]
        own = client.get("/workers").json()["workers"][0]["worker_id"]
        client.post(f"/api/admin/workers/{own}/drain").raise_for_status()
        clean = {name: value for name, value in os.environ.items() if not name.startswith("DUOLOGUE_")}
        flags = ("--join", home.url, "--machine", "attic", "--engine", "scripted", "--data", str(tmp_path))
        process = subprocess.Popen(
            [sys.executable, "-m", "duologue", "worker", *flags],
            env=clean | traced | {"DUOLOGUE_JOIN_KEY": key},
            stdin=subprocess.DEVNULL,
        )
        try:
            home.until(lambda: ("attic/worker_0", "ready") in states(client))
            body = {"messages": [{"role": "user", "content": "/say hello"}]}
            sent = {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
            client.post("/v1/chat/completions", json=body, headers=sent).raise_for_status()
            apart.wait_for(
                lambda spans: {"worker chat", "chat scripted"} <= {s.name for s in spans if s.trace == trace}
            )
        finally:
            process.terminate()
            process.wait(60)
    found = {span.name: span for span in apart.spans if span.trace == trace}
    assert found["worker chat"].process == "attic/worker_0"
    assert found["worker chat"].parent == found["chat scripted"].span


def test_nothing_that_is_written_is_in_a_trace(server: Server, collector: TraceReceiver):
    assert SECRET in chat(server, f"/say {SECRET}").text
    collector.named("POST /v1/chat/completions", "worker chat")
    assert SECRET.encode() not in collector.raw


def test_a_client_that_samples_nothing_is_not_traced(server: Server, collector: TraceReceiver):
    unsampled = "11f92f3577b34da6a3ce929d0e0e4736"
    chat(server, "/say hello", {"traceparent": f"00-{unsampled}-00f067aa0ba902b7-00"})
    marker = "22f92f3577b34da6a3ce929d0e0e4736"
    chat(server, "/say hello", {"traceparent": f"00-{marker}-00f067aa0ba902b7-01"})
    spans = collector.wait_for(
        lambda spans: (
            {"worker chat", "POST /v1/chat/completions"}
            <= {span.name for span in spans if span.trace == marker}
        )
    )
    assert not [span for span in spans if span.trace == unsampled]


def test_loading_a_model_is_a_trace_and_probes_are_none(server: Server, collector: TraceReceiver):
    for path in ("/health", "/ready", "/metrics"):
        httpx.get(f"{server.url}{path}", timeout=60)
    httpx.get(f"{server.url}/status", timeout=60)
    spans = collector.named("load model", "GET /status")
    load = spans["load model"]
    assert (load.parent, load.process) == ("", "worker_0")
    assert load.attributes["duologue.engine"] == "scripted"
    assert not [
        span for span in collector.spans if span.name in ("GET /health", "GET /ready", "GET /metrics")
    ]


def test_a_request_that_fails_says_by_which_code(server: Server, collector: TraceReceiver):
    httpx.post(f"{server.url}/v1/chat/completions", json={"messages": "no"}, timeout=60)
    spans = collector.wait_for(
        lambda spans: any(span.attributes.get("http.response.status_code") == 400 for span in spans)
    )
    refused = next(span for span in spans if span.attributes.get("http.response.status_code") == 400)
    assert refused.attributes["error.type"] == "invalid_request"
    assert not refused.error


@pytest.mark.anyio
async def test_a_tool_that_a_reply_calls_has_its_span(server: Server, collector: TraceReceiver):
    async with Client(server.url) as client:
        talk = await ConversationClient.begin(client, options={"max_turns": 1})
        script = tool_call_script({"name": "calculator", "arguments": {"expression": f"6*7+0*{NUMBER}"}})
        await talk.events(await talk.say(script))
    tool = collector.named("execute_tool calculator")["execute_tool calculator"]
    assert tool.attributes["gen_ai.operation.name"] == "execute_tool"
    assert tool.attributes["gen_ai.tool.type"] == "function"
    assert not tool.error
    spans = collector.wait_for(
        lambda spans: (
            {"worker chat", "queue wait", "POST /api/conversations/{id}/runs"}
            <= {span.name for span in spans if span.trace == tool.trace}
        )
    )
    assert NUMBER.encode() not in collector.raw
    assert [span.name for span in spans if span.span == tool.parent] == ["POST /api/conversations/{id}/runs"]


def test_a_clients_trace_is_ignored_unless_it_is_trusted(
    serve: Callable[..., Server], collector: TraceReceiver
):
    server = serve(
        "--engine",
        "scripted",
        DUOLOGUE_TRACING__ENABLED="true",
        OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
        OTEL_SERVICE_NAME="by-environment",
    ).ready()
    foreign = "33f92f3577b34da6a3ce929d0e0e4736"
    chat(server, "/say hello", {"traceparent": f"00-{foreign}-00f067aa0ba902b7-01"})
    server.stop()
    spans = collector.wait_for(
        lambda spans: (
            {"worker chat", "POST /v1/chat/completions"}
            <= {span.name for span in spans if span.service == "by-environment"}
        )
    )
    assert not [span for span in spans if span.trace == foreign]
    assert collector.paths == {"/v1/traces"}


def test_a_collector_that_is_gone_costs_requests_nothing(serve: Callable[..., Server]):
    server = serve(
        "--engine",
        "scripted",
        DUOLOGUE_TRACING__ENABLED="true",
        DUOLOGUE_TRACING__ENDPOINT="http://127.0.0.1:9",
    ).ready()
    assert chat(server, "/say hello").status_code == 200
    assert server.stop() == 0
