"""The SDK as it is set up: addresses, names, sampling, and what is missing."""

from __future__ import annotations

import sys

import pytest
from tests.support.trace_receiver import receiving

from duologue.errors import StartFailed
from duologue.tracing import spans
from duologue.tracing.opentelemetry_export import tracer_of, traces_url

SETTINGS = spans.TraceSettings()
needs_sdk = pytest.mark.skipif(
    not pytest.importorskip("importlib.util").find_spec("opentelemetry.sdk"),
    reason="the extra `tracing` is not installed",
)


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("", ""),
        ("http://c:4318", "http://c:4318/v1/traces"),
        ("http://c:4318/", "http://c:4318/v1/traces"),
        ("https://c/otlp/v1/traces", "https://c/otlp/v1/traces"),
    ],
)
def test_an_address_without_a_path_gets_the_standards(endpoint, url):
    assert traces_url(endpoint) == url


def test_without_the_sdk_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(StartFailed, match=r"duologue\[tracing\]"):
        tracer_of(SETTINGS)


@needs_sdk
def test_a_variable_that_makes_no_sense_is_an_error_of_the_start(monkeypatch):
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "5")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "10")
    with pytest.raises(StartFailed, match="Tracing cannot be set up"):
        tracer_of(SETTINGS)


@needs_sdk
@pytest.mark.parametrize(
    ("service", "environment", "name"),
    [
        ("", {}, "duologue"),
        ("mine", {"OTEL_SERVICE_NAME": "theirs"}, "mine"),
        ("", {"OTEL_SERVICE_NAME": "theirs"}, "theirs"),
        ("", {"OTEL_RESOURCE_ATTRIBUTES": "service.name=listed"}, "listed"),
    ],
)
def test_spans_arrive_over_http_under_the_name_of_the_service(monkeypatch, service, environment, name):
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    with receiving() as collector:
        tracer = tracer_of(spans.TraceSettings(collector.url, service=service, process="worker_7"))
        tracer.start("a", "client", None, "", {"reasons": ["stop"], "n": 1}).end()
        [span] = collector.wait_for(bool)
    assert (span.name, span.service, span.process, span.kind) == ("a", name, "worker_7", 3)
    assert span.attributes == {"reasons": ["stop"], "n": 1}
    assert collector.paths == {"/v1/traces"}


@needs_sdk
def test_the_environment_decides_what_is_sampled_unless_the_settings_do(monkeypatch):
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    assert not tracer_of(SETTINGS).start("a", "internal", None, "", None).recording
    assert tracer_of(spans.TraceSettings(ratio=1.0)).start("a", "internal", None, "", None).recording


@needs_sdk
def test_the_sdk_can_be_switched_off_by_its_own_variable(monkeypatch):
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    span = tracer_of(SETTINGS).start("a", "internal", None, "", None)
    assert (span.recording, span.traceparent) == (False, "")
    span.end()


@needs_sdk
def test_what_was_not_sent_yet_is_counted():
    with receiving() as collector:
        tracer = tracer_of(spans.TraceSettings(collector.url))
        span = tracer.start("a", "internal", None, "", None)
        assert tracer.unsent == 0
        span.end()
        collector.wait_for(bool)
