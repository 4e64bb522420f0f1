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
from collections.abc import Collection, Sequence
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the current request; set by the gateway's middleware and included in every log line of its tasks."""

Format = Literal["text", "json"]
Outcome = Literal["stop", "length", "tool_calls", "done", "cancelled", "failed"]
"""How work ended: a reply by its reason to finish, other work as `done`."""

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


OTHER = "other"
"""The label of what is in no known set."""
MOST_LABELS = 100
"""Values that a label has at most in the life of a process; further ones count as OTHER."""
MOST_MODELS = 50
"""The same of models: each makes about a hundred series for every kind of work that it does."""
KINDS = frozenset(
    (
        *("chat", "voice", "batch", "ahead", "summary", "embed", "rerank"),
        *("speech", "transcription", "clip", "call", "audio_duplex", "omni_duplex"),
    )
)
"""The kinds of work, as the queue names them."""
RESTART_CAUSES = frozenset(("crash", "hung", "load_failed", "device_lost", "admin", "rolling", "settings"))
"""Why a worker was started again."""
UNLOAD_CAUSES = frozenset(("admin", "idle", "room", "replaced", "failed", "scaled_down"))
"""Why a model was unloaded."""

# Seconds. Each histogram has the buckets of what it measures: a first token is never there in a millisecond, a token of a reply is.
_WAITS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
_REQUESTS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_FIRST_TOKENS = (0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 5, 10, 30, 60, 120)
_TOKENS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1)
_STAGES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 5, 10, 30, 60, 120)
_GAPS = (0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2.5, 5, 10)
_LOADS = (0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600)


class LabelSet:
    """The values of one label: those of a closed set, or the first `most` that come. Every other one is OTHER, because each value
    stays in memory as long as the process, and in Prometheus for longer."""

    def __init__(self, closed: Collection[str] = (), most: int = MOST_LABELS) -> None:
        self._values = set(closed)
        self._most = len(self._values) if closed else most

    def __call__(self, value: str) -> str:
        if value in self._values:
            return value
        if value and len(self._values) < self._most:
            self._values.add(value)
            return value
        return OTHER

    def __contains__(self, value: object) -> bool:
        return value in self._values


class Instruments:
    """Makes the instruments of one registry, all named `duologue_...`. `labels`: those of each, by its name in `/metrics`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self.labels: dict[str, frozenset[str]] = {}

    def counter(self, name: str, text: str, *labels: str) -> Counter:
        from prometheus_client import Counter

        self.labels[f"duologue_{name}_total"] = frozenset(labels)
        return Counter(f"duologue_{name}", text, labels, registry=self._registry)

    def gauge(self, name: str, text: str, *labels: str) -> Gauge:
        from prometheus_client import Gauge

        self.labels[f"duologue_{name}"] = frozenset(labels)
        return Gauge(f"duologue_{name}", text, labels, registry=self._registry)

    def histogram(self, name: str, text: str, buckets: Sequence[float], *labels: str) -> Histogram:
        from prometheus_client import Histogram

        self.labels[f"duologue_{name}"] = frozenset(labels)
        return Histogram(f"duologue_{name}", text, labels, buckets=buckets, registry=self._registry)


class Metrics:
    """The metrics of one process, in their own registry. `model` is the name of a model that is or was served, `kind` one of KINDS; every
    label is folded into a bounded set here, whatever the caller passes."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        from prometheus_client import CollectorRegistry, disable_created_metrics

        # The time at which each counter and histogram was made would be one more series for each.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = registry or CollectorRegistry()
        self.models = LabelSet(most=MOST_MODELS)
        self.kinds = LabelSet(KINDS)
        self.codes = LabelSet()
        """Of errors; the gateway sets the closed list."""
        self._workers = LabelSet()
        self._unload_causes: dict[str, str] = {}
        make = Instruments(self.registry)
        self._make_requests(make)
        self._make_work(make)
        self._make_workers(make)
        self._make_server(make)
        self.labels = make.labels

    def _make_requests(self, make: Instruments) -> None:
        self._requests = make.counter("requests", "Requests, by endpoint and outcome", "endpoint", "outcome")
        self._duration = make.histogram(
            "request_seconds", "From request to the end of the answer", _REQUESTS, "endpoint"
        )
        self._errors = make.counter("errors", "Requests answered with an error", "endpoint", "code")

    def _make_work(self, make: Instruments) -> None:
        labels = ("model", "kind")
        self._tasks = make.counter("tasks", "Work that ended, by outcome", *labels, "outcome")
        self._task_errors = make.counter("task_errors", "Work that failed, by code", *labels, "code")
        self._queue_wait = make.histogram("queue_wait_seconds", "Waiting for a slot", _WAITS, *labels)
        self._first_token = make.histogram(
            "first_token_seconds", "From request to first token", _FIRST_TOKENS, *labels
        )
        self._token = make.histogram("token_seconds", "Between two tokens of a reply", _TOKENS, *labels)
        self._stage = make.histogram("stage_seconds", "Stages of a turn", _STAGES, "stage", *labels)
        self._tokens = make.counter("tokens", "Tokens: input, cached (of input), output", *labels, "type")
        self._gaps = make.histogram("sound_gap_seconds", "Silences inside replies of calls", _GAPS, "model")
        self._batch_requests = make.counter("batch_requests", "Requests of batches, by outcome", "outcome")

    def _make_workers(self, make: Instruments) -> None:
        self.workers = make.gauge("workers", "Workers, by state", "model", "state")
        self.machines = make.gauge("machines", "Machines whose workers have joined, by reach", "reach")
        self.slots = make.gauge("slots", "Slots and seats", "model")
        self.slots_busy = make.gauge("slots_busy", "Slots and seats in use", "model")
        self.queue_length = make.gauge("queue_length", "Requests waiting for a slot", "model")
        self.process_memory = make.gauge("process_memory_bytes", "Memory of a process in use", "process")
        self.card_memory = make.gauge("gpu_memory_bytes", "Memory of a graphics card", "device", "state")
        self._leases = make.gauge("active_leases", "Slots and seats in use")
        self._restarts = make.counter("worker_restarts", "Worker restarts", "worker", "model", "cause")
        self._loads = make.counter("model_loads", "Models loaded, by outcome", "model", "outcome")
        self._load_time = make.histogram("model_load_seconds", "Loading a model", _LOADS, "model")
        self._unloads = make.counter("model_unloads", "Models unloaded, by cause", "model", "cause")
        self._scalings = make.counter("scalings", "Workers added and removed", "model", "direction")

    def _make_server(self, make: Instruments) -> None:
        self._gateway_restarts = make.gauge(
            "gateway_restarts", "Gateway restarts since the server was started"
        )
        self._decoders = make.counter("decoder_jobs", "Files decoded, by outcome", "outcome")
        self._damaged = make.gauge("database_damaged", "1 if a check found the database damaged")
        self._bounds = make.counter("connection_bounds", "Bounds on connections that were met", "bound")
        self._stalls = make.counter("loop_stalls", "Times the event loop stood still")
        self._stalled = make.counter("loop_stall_seconds", "Seconds the event loop stood still")
        self._connections = make.gauge("open_connections", "Open connections")
        self.batches = make.gauge("batches", "Batches that have not ended, by state", "state")

    # ---- requests

    def request_ended(self, endpoint: str, outcome: str, seconds: float, code: str = "") -> None:
        """`endpoint` is a route's template, never the raw path: clients could create labels without limit. `outcome` is a status,
        `code` that of the error it was answered with."""
        self._requests.labels(endpoint, outcome).inc()
        self._duration.labels(endpoint).observe(seconds)
        if code:
            self._errors.labels(endpoint, self.codes(code)).inc()

    # ---- work

    def task_ended(self, model: str, kind: str, outcome: Outcome, code: str = "") -> None:
        """A piece of work in a slot or seat ended, or was refused one. `code`: of its error."""
        model, kind = self.models(model), self.kinds(kind)
        self._tasks.labels(model, kind, outcome).inc()
        if code:
            self._task_errors.labels(model, kind, self.codes(code)).inc()

    def first_token(self, seconds: float, model: str, kind: str) -> None:
        self._first_token.labels(self.models(model), self.kinds(kind)).observe(seconds)

    def queue_waited(self, seconds: float, model: str, kind: str) -> None:
        self._queue_wait.labels(self.models(model), self.kinds(kind)).observe(seconds)

    def tokens_took(self, seconds: float, model: str, kind: str) -> None:
        """The mean time between two tokens of one reply."""
        self._token.labels(self.models(model), self.kinds(kind)).observe(seconds)

    def tokens_counted(
        self, model: str, kind: str, *, input: int = 0, cached: int = 0, output: int = 0
    ) -> None:
        model, kind = self.models(model), self.kinds(kind)
        for type, count in (("input", input), ("cached", cached), ("output", output)):
            if count:
                self._tokens.labels(model, kind, type).inc(count)

    def stage_took(self, stage: str, seconds: float, model: str, kind: str) -> None:
        """`stage` is a stage of a turn: "prefill" or "generate"."""
        self._stage.labels(stage, self.models(model), self.kinds(kind)).observe(seconds)

    def sound_missing(self, seconds: float, model: str) -> None:
        """A reply of a call was silent for so long, because its sound was not there yet."""
        self._gaps.labels(self.models(model)).observe(seconds)

    def batch_request_ended(self, *, failed: bool) -> None:
        """A request of a batch has its result."""
        self._batch_requests.labels("failed" if failed else "done").inc()

    # ---- workers and models

    def leases_active(self, count: int) -> None:
        self._leases.set(count)

    def worker_restarted(self, worker: str, model: str = "", cause: str = "crash") -> None:
        """`cause` is one of RESTART_CAUSES."""
        cause = cause if cause in RESTART_CAUSES else OTHER
        self._restarts.labels(self._workers(worker), self.models(model), cause).inc()

    def worker_seen(self, worker: str, model: str) -> None:
        """There is this worker: what an alert looks for is 0 from now on, because a series that begins at 1 has not increased."""
        worker, model = self._workers(worker), self.models(model)
        self._restarts.labels(worker, model, "crash")
        self._loads.labels(model, "failed")

    def model_loaded(self, model: str, seconds: float) -> None:
        """A worker has loaded its model, which took so long from the start of its process."""
        self._loads.labels(self.models(model), "done").inc()
        self._load_time.labels(self.models(model)).observe(seconds)

    def model_not_loaded(self, model: str) -> None:
        """A worker could not load its model."""
        self._loads.labels(self.models(model), "failed").inc()

    def unload_begins(self, worker: str, cause: str) -> None:
        """Say why a worker is about to be removed: one of UNLOAD_CAUSES. One of which nobody says it is removed by an admin."""
        self._unload_causes[worker] = cause if cause in UNLOAD_CAUSES else OTHER
        while len(self._unload_causes) > MOST_LABELS:
            del self._unload_causes[next(iter(self._unload_causes))]

    def model_unloaded(self, model: str, worker: str) -> None:
        """A worker was removed with its model."""
        self._unloads.labels(self.models(model), self._unload_causes.pop(worker, "admin")).inc()

    def workers_scaled(self, model: str, direction: Literal["up", "down"]) -> None:
        """A worker of this model was added or removed because of how many requests wait."""
        self._scalings.labels(self.models(model), direction).inc()

    # ---- the server

    def gateway_restarted(self, times: int) -> None:
        """`times` in all: its parent counts, because these metrics begin anew with each gateway."""
        self._gateway_restarts.set(times)

    def database_damaged(self) -> None:
        self._damaged.set(1)

    def connection_bound_met(self, bound: str) -> None:
        """`bound` is a name in `gateway/connections/bounds.py`."""
        self._bounds.labels(bound).inc()

    def loop_stalled(self, seconds: float) -> None:
        self._stalls.inc()
        self._stalled.inc(seconds)

    def connections_open(self, count: int) -> None:
        self._connections.set(count)

    def decoder_ended(self, outcome: str) -> None:
        """A file was read by a decoder process: "done", "refused", or the limit that ended it."""
        self._decoders.labels(outcome).inc()

    def render(self) -> tuple[bytes, str]:
        """The body of `/metrics` and its content type."""
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        return generate_latest(self.registry), CONTENT_TYPE_LATEST


@cache
def metrics() -> Metrics:
    """The metrics of this process."""
    return Metrics()
