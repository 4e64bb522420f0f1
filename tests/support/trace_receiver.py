"""A collector of OpenTelemetry: takes spans over HTTP as protobuf, and keeps them."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from msgspec import Struct


class ReceivedSpan(Struct, frozen=True):
    """A span, with ids in hexadecimal; `process`: the process that made it."""

    name: str
    trace: str
    span: str
    parent: str
    kind: int
    attributes: dict[str, Any]
    error: bool
    start: int
    end: int
    process: str
    service: str


class TraceReceiver:
    """Listens on `url`; `spans` are those that have come."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.spans: list[ReceivedSpan] = []
        self.paths: set[str] = set()
        self.raw = b""
        self.news = threading.Condition()

    def wait_for(
        self, true: Callable[[list[ReceivedSpan]], bool], seconds: float = 60.0
    ) -> list[ReceivedSpan]:
        """The spans, once this is true of them."""
        with self.news:
            met = self.news.wait_for(lambda: true(self.spans), seconds)
            assert met, f"not in time; there are {sorted(span.name for span in self.spans)}"
            return list(self.spans)

    def named(self, *names: str) -> dict[str, ReceivedSpan]:
        """The last span of each of these names, once there is one."""
        spans = self.wait_for(lambda spans: set(names) <= {span.name for span in spans})
        return {span.name: span for span in spans if span.name in names}

    def take(self, body: bytes) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        request = ExportTraceServiceRequest.FromString(body)
        with self.news:
            self.raw += body
            for group in request.resource_spans:
                resource = _attributes(group.resource.attributes)
                for scope in group.scope_spans:
                    self.spans += [_received(span, resource) for span in scope.spans]
            self.news.notify_all()


def _received(span: Any, resource: dict[str, Any]) -> ReceivedSpan:
    return ReceivedSpan(
        span.name,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.kind,
        _attributes(span.attributes),
        span.status.code == 2,
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        resource.get("duologue.process", ""),
        resource.get("service.name", ""),
    )


def _attributes(entries: Any) -> dict[str, Any]:
    return {entry.key: _value(entry.value) for entry in entries}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    return getattr(value, kind)


@contextmanager
def receiving() -> Iterator[TraceReceiver]:
    """A collector that runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            receiver.paths.add(self.path)
            receiver.take(body)
            self.send_response(200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = TraceReceiver(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
