"""Spans of a test, made by the real SDK and kept in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from duologue.tracing import spans


class RecordedSpans:
    """The spans that have ended, in that order."""

    def __init__(self, exporter: Any) -> None:
        self._exporter = exporter

    @property
    def all(self) -> list[Any]:
        return list(self._exporter.get_finished_spans())

    @property
    def names(self) -> list[str]:
        return [span.name for span in self.all]

    def __getitem__(self, name: str) -> Any:
        """The last span of this name."""
        return next(span for span in reversed(self.all) if span.name == name)

    def parent(self, name: str) -> str:
        """The name of the span above one; "" where it is in another process, or there is none."""
        above = self[name].parent
        return (
            ""
            if above is None
            else next((span.name for span in self.all if span.context.span_id == above.span_id), "")
        )


@contextmanager
def recording(ratio: float | None = None) -> Iterator[RecordedSpans]:
    """Trace in this process meanwhile. Skips the test where the SDK is not installed."""
    pytest.importorskip("opentelemetry.sdk.trace", reason="the extra `tracing` is not installed")
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from duologue.tracing.opentelemetry_export import OpenTelemetryTracer

    exporter = InMemorySpanExporter()
    settings = spans.TraceSettings(ratio=ratio)
    spans.set_up(OpenTelemetryTracer(settings, exporter, at_once=True), settings)
    try:
        yield RecordedSpans(exporter)
    finally:
        spans.set_up(None)
