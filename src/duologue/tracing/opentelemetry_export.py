"""Spans made and sent by OpenTelemetry's SDK: the one file that imports it, and only where tracing is switched on.

The SDK collects ended spans in a queue of 2,048 and sends them from a thread of its own, over HTTP, as protobuf; what does not fit is
dropped, so a collector that is slow or gone costs no request anything. All of the standard's OTEL_* variables that concern traces apply,
and a setting goes before its variable.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from duologue import __version__
from duologue.errors import StartFailed
from duologue.tracing.spans import (
    ERROR_TYPE,
    Attributes,
    Kind,
    TraceSettings,
    TraceSpan,
    shortened,
    unsampled,
)
from duologue.tracing.trace_context import TraceContext, parsed

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace import Span as SdkSpan
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
    from opentelemetry.sdk.trace.sampling import Sampler

log = logging.getLogger(__name__)

MISSING = (
    "Tracing is switched on (tracing.enabled), and OpenTelemetry's SDK is not installed. Add it with: "
    "pip install 'duologue[tracing]'"
)
DELAY_MS = 500
"""Milliseconds that spans are collected before they are sent, unless OTEL_BSP_SCHEDULE_DELAY says otherwise. Shorter than the SDK's own
5,000, so that a process that ends need not wait long for its last ones."""
SERVICE = "duologue"


def tracer_of(settings: TraceSettings, exporter: SpanExporter | None = None) -> OpenTelemetryTracer:
    """A tracer with these settings. `exporter`: instead of the one over HTTP. Raises StartFailed where the SDK is not installed, or
    an OTEL_* variable makes no sense to it."""
    try:
        return OpenTelemetryTracer(settings, exporter)
    except ImportError as error:
        raise StartFailed(MISSING, param="tracing.enabled") from error
    except ValueError as error:
        raise StartFailed(f"Tracing cannot be set up: {error}.", param="tracing") from error


def check_installed() -> None:
    """Raises StartFailed where a process that is started here could not trace."""
    for module in ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http"):
        try:
            import_module(module)
        except ImportError as error:
            raise StartFailed(MISSING, param="tracing.enabled") from error


class OpenTelemetryTracer:
    """Makes spans with the SDK. One in a process. `at_once`: each span is sent when it ends, in the thread that ends it."""

    def __init__(
        self, settings: TraceSettings, exporter: SpanExporter | None = None, *, at_once: bool = False
    ) -> None:
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
        from opentelemetry.trace import SpanKind

        self._exporter = _counting(exporter or _http_exporter(settings.endpoint))
        provider = TracerProvider(
            sampler=_sampler(settings.ratio), resource=_resource(settings), shutdown_on_exit=False
        )
        delay = None if "OTEL_BSP_SCHEDULE_DELAY" in os.environ else DELAY_MS
        provider.add_span_processor(
            SimpleSpanProcessor(self._exporter)
            if at_once
            else BatchSpanProcessor(self._exporter, schedule_delay_millis=delay)
        )
        self._tracer = provider.get_tracer("duologue", __version__)
        self._kinds: dict[Kind, SpanKind] = {
            "internal": SpanKind.INTERNAL,
            "server": SpanKind.SERVER,
            "client": SpanKind.CLIENT,
        }
        self.ended = 0

    @property
    def unsent(self) -> int:
        return self.ended - int(self._exporter.handled)

    def start(
        self, name: str, kind: Kind, above: TraceSpan | None, remote: str, attributes: Attributes | None
    ) -> TraceSpan:
        from opentelemetry.context import Context
        from opentelemetry.trace import set_span_in_context

        context = Context()
        if isinstance(above, _RecordedSpan):
            context = set_span_in_context(above.span, context)
        elif (place := parsed(remote)) is not None:
            context = set_span_in_context(_remote_span(place), context)
        span: Any = self._tracer.start_span(
            name, context, kind=self._kinds[kind], attributes=_values(attributes or {})
        )
        own = span.get_span_context()
        traceparent = TraceContext(own.trace_id, own.span_id, own.trace_flags.sampled).traceparent
        if not span.is_recording():
            return unsampled(traceparent if own.is_valid else "")
        return _RecordedSpan(span, traceparent, self)


class _RecordedSpan:
    """A span of the SDK."""

    recording = True

    def __init__(self, span: SdkSpan, traceparent: str, tracer: OpenTelemetryTracer) -> None:
        self.span = span
        self.traceparent = traceparent
        self._tracer = tracer

    def set(self, attributes: Attributes) -> None:
        if self.span.is_recording():
            self.span.set_attributes(_values(attributes))

    def rename(self, name: str) -> None:
        if self.span.is_recording():
            self.span.update_name(name)

    def fail(self, code: str) -> None:
        from opentelemetry.trace import StatusCode

        if self.span.is_recording():
            self.span.set_attribute(ERROR_TYPE, shortened(code))
            self.span.set_status(StatusCode.ERROR, str(shortened(code)))

    def end(self) -> None:
        if self.span.is_recording():
            self._tracer.ended += 1
            self.span.end()


def _values(attributes: Attributes) -> dict[str, Any]:
    return {name: shortened(value) for name, value in attributes.items()}


def _remote_span(place: TraceContext) -> Any:
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

    flags = TraceFlags(TraceFlags.SAMPLED if place.sampled else TraceFlags.DEFAULT)
    return NonRecordingSpan(SpanContext(place.trace, place.span, is_remote=True, trace_flags=flags))


def _resource(settings: TraceSettings) -> Any:
    from opentelemetry.sdk.resources import Resource

    own: dict[str, str] = {"service.version": __version__, "duologue.process": settings.process}
    if settings.service or not _names_service():
        own["service.name"] = settings.service or SERVICE
    return Resource.create(own)


def _names_service() -> bool:
    """Whether the environment says what this service is called."""
    listed = os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return bool(os.environ.get("OTEL_SERVICE_NAME")) or "service.name=" in listed


def _sampler(ratio: float | None) -> Sampler | None:
    """What samples `ratio` of new traces, and follows the decision of those that were begun elsewhere; None: by OTEL_TRACES_SAMPLER."""
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    return None if ratio is None else ParentBased(TraceIdRatioBased(ratio))


def _http_exporter(endpoint: str) -> SpanExporter:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=traces_url(endpoint) or None)


def traces_url(endpoint: str) -> str:
    """Where traces are sent: the endpoint itself, or the standard's path of it where it has none. "" for ""."""
    if not endpoint or urlsplit(endpoint).path.strip("/"):
        return endpoint
    return f"{endpoint.rstrip('/')}/v1/traces"


def _counting(exporter: SpanExporter) -> Any:
    """The exporter, with a count in `handled` of the spans it has sent, or has given up."""
    from opentelemetry.sdk.trace.export import SpanExporter

    class CountingExporter(SpanExporter):
        handled = 0

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            try:
                return exporter.export(spans)
            finally:
                self.handled += len(spans)

        def shutdown(self) -> None:
            exporter.shutdown()

        def force_flush(self, timeout_millis: int = 30_000) -> bool:
            return exporter.force_flush(timeout_millis)

    return CountingExporter()
