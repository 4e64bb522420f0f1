"""Logging and metrics of a process.

Owns the format of log lines, the id of the current request, and the Prometheus instruments. Every package logs through
`logging` and records through `metrics()`. prometheus_client is imported on first use, so commands that record nothing do
not load it.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the current request; set by the gateway's middleware and included in every log line of its tasks."""

Format = Literal["text", "json"]

_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), 127, 0x85, 0x2028, 0x2029)} | {
    9: "\\t",
    10: "\\n",
    13: "\\r",
}


class TextFormatter(logging.Formatter):
    """`12:04:05 INFO    gateway.pool  worker_0 is ready  [3f2a…]`; a traceback follows, indented."""

    def format(self, record: logging.LogRecord) -> str:
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        name = record.name.removeprefix("duologue.")
        # Messages may contain user input: a line break in it must not forge a second record.
        line = f"{clock} {record.levelname:<7} {name}  {record.getMessage().translate(_CONTROL)}"
        if request := request_id.get():
            line += f"  [{request}]"
        if record.exc_info:
            line += "\n    " + self.formatException(record.exc_info).replace("\n", "\n    ")
        return line


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time (UTC, ISO 8601), level, logger, message, request_id, trace."""

    def format(self, record: logging.LogRecord) -> str:
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{seconds}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request := request_id.get():
            line["request_id"] = request
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def set_up_logging(level: str = "info", format: Format = "text", stream: TextIO | None = None) -> None:
    """Send all log records of the process to `stream` (default stderr) in one format. May be called again."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if format == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    logging.getLogger("uvicorn.error").addFilter(_is_relevant)
    # The gateway logs one line per request, with its id; these libraries would repeat it without the id. Their debug
    # output contains headers and frames: keys, cookies, the workers' secret, what people say. So it stays off at every level.
    for name in ("uvicorn.access", "uvicorn.error", "httpx", "httpcore", "websockets"):
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def _is_relevant(record: logging.LogRecord) -> bool:
    message = record.getMessage()
    # uvicorn logs this error for a WebSocket rejected with an HTTP response, which the ASGI extension allows.
    if "without completing handshake" in message:
        return False
    # And the trace of its own cancelled wait, when a second Ctrl-C ends the server at once.
    return not (message.startswith("Traceback") and message.rstrip().endswith("CancelledError"))


class Metrics:
    """The metrics of one process, in their own registry."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self.registry = registry or CollectorRegistry()
        buckets = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
        own = self.registry

        def histogram(name: str, text: str, labels: tuple[str, ...] = ()) -> Histogram:
            return Histogram(f"duologue_{name}", text, labels, buckets=buckets, registry=own)

        def counter(name: str, text: str, labels: tuple[str, ...] = ()) -> Counter:
            return Counter(f"duologue_{name}", text, labels, registry=own)

        self._requests = counter("requests", "Requests, by endpoint and outcome", ("endpoint", "outcome"))
        self._duration = histogram("request_seconds", "From request to the end of the answer", ("endpoint",))
        self._first_token = histogram("first_token_seconds", "From request to first token")
        self._queue_wait = histogram("queue_wait_seconds", "Waiting for a slot")
        self._stage = histogram("stage_seconds", "Stages of a turn", ("stage",))
        self._tokens = counter("tokens", "Tokens: input, cached (of input), output", ("kind",))
        self._restarts = counter("worker_restarts", "Worker restarts", ("worker",))
        self._gateway_restarts = Gauge(
            "duologue_gateway_restarts", "Gateway restarts since the server was started", registry=own
        )
        self._decoders = counter("decoder_jobs", "Files decoded, by outcome", ("outcome",))
        self._damaged = Gauge(
            "duologue_database_damaged", "1 if a check found the database damaged", registry=own
        )
        self._leases = Gauge("duologue_active_leases", "Slots and seats in use", registry=own)
        self._bounds = counter("connection_bounds", "Bounds on connections that were met", ("bound",))
        self._stalls = counter("loop_stalls", "Times the event loop stood still")
        self._stalled = counter("loop_stall_seconds", "Seconds the event loop stood still")
        self._connections = Gauge("duologue_open_connections", "Open connections", registry=own)
        self._waiting = Gauge("duologue_queue_length", "Requests waiting for a slot", registry=own)

    def request_ended(self, endpoint: str, outcome: str, seconds: float) -> None:
        """`endpoint` is a route's template, never the raw path: clients could create labels without limit. `outcome` is a status or an error code."""
        self._requests.labels(endpoint, outcome).inc()
        self._duration.labels(endpoint).observe(seconds)

    def first_token(self, seconds: float) -> None:
        self._first_token.observe(seconds)

    def queue_waited(self, seconds: float) -> None:
        self._queue_wait.observe(seconds)

    def tokens_counted(self, *, input: int = 0, cached: int = 0, output: int = 0) -> None:
        for kind, count in (("input", input), ("cached", cached), ("output", output)):
            if count:
                self._tokens.labels(kind).inc(count)

    def gateway_restarted(self, times: int) -> None:
        """`times` in all: its parent counts, because these metrics begin anew with each gateway."""
        self._gateway_restarts.set(times)

    def database_damaged(self) -> None:
        self._damaged.set(1)

    def leases_active(self, count: int) -> None:
        self._leases.set(count)

    def queue_length(self, count: int) -> None:
        self._waiting.set(count)

    def connection_bound_met(self, bound: str) -> None:
        """`bound` is a name in `gateway/connections/bounds.py`."""
        self._bounds.labels(bound).inc()

    def loop_stalled(self, seconds: float) -> None:
        self._stalls.inc()
        self._stalled.inc(seconds)

    def connections_open(self, count: int) -> None:
        self._connections.set(count)

    def worker_restarted(self, worker: str) -> None:
        self._restarts.labels(worker).inc()

    def decoder_ended(self, outcome: str) -> None:
        """A file was read by a decoder process: "done", "refused", or the limit that ended it."""
        self._decoders.labels(outcome).inc()

    def stage_took(self, stage: str, seconds: float) -> None:
        """`stage` is a stage of a turn: "prefill" or "generate"."""
        self._stage.labels(stage).observe(seconds)

    def render(self) -> tuple[bytes, str]:
        """The body of `/metrics` and its content type."""
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        return generate_latest(self.registry), CONTENT_TYPE_LATEST


@cache
def metrics() -> Metrics:
    """The metrics of this process."""
    return Metrics()
