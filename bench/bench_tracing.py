"""Measure what tracing and labelled metrics cost: servers that trace nothing, a tenth and all of the requests, beside one without tracing.

    python bench/bench_tracing.py [--requests 60] [--streams 16] [--chunks 1000] [--rounds 5] [--calls 200000]

All servers run at once and take turns within each round, so that every figure is a ratio to its neighbour of the same round. The spans go
to a collector in a process of its own that throws them away. The engine follows a script: with a real model first tokens are later, and
the same cost is a smaller part. Then, in this process: a span that is not made, not sampled, and made; what a reply leaves in the
metrics, with labels and without; and `/metrics` with few and with very many series.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from duologue import telemetry
from duologue.gateway.admin.metrics import WorkMetrics
from duologue.gateway.admin.metrics_history import MetricsHistory
from duologue.tracing import spans
from duologue.values.events import Done, Timings, Usage
from duologue.values.requests import ModelCard
from load import duologue, free_port, stream

RATIOS: dict[str, float | None] = {
    "without tracing": None,
    "ratio 0": 0.0,
    "ratio 0.1": 0.1,
    "ratio 1": 1.0,
}
DONE = Done("stop", Usage(input=100, output=50), Timings(queue=1.0, prefill=30.0, generate=900.0, first=35.0))
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


async def throw_away(port: int) -> None:
    """A collector that reads requests and answers 200."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.split(b":")[1])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length:")
                )
                await reader.readexactly(length)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port)
    await server.serve_forever()


@contextmanager
def collector() -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen([sys.executable, __file__, "--collector", str(port)])
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def settings(folder: str, name: str, ratio: float | None, endpoint: str) -> list[str]:
    """The arguments of a server that traces so many of its requests."""
    if ratio is None:
        return ["--engine", "scripted"]
    file = Path(folder) / f"{name.replace(' ', '_')}.json"
    tracing = {"enabled": True, "ratio": ratio, "endpoint": endpoint}
    file.write_text(json.dumps({"tracing": tracing, "voice": {"enabled": False}}))
    return ["--engine", "scripted", "--config", str(file)]


def first_token(connection: http.client.HTTPConnection) -> float:
    """Milliseconds to the first content of a streamed reply."""
    body = {"messages": [{"role": "user", "content": "/say one two three"}], "stream": True}
    began, first = time.perf_counter(), 0.0
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    while line := answer.readline():
        if not first and b'"content":"' in line and b'"content":""' not in line:
            first = time.perf_counter() - began
    return first * 1000


async def relayed(port: int, streams: int, chunks: int) -> float:
    """Chunks a second of so many streams at once."""
    body: dict[str, object] = {
        "messages": [{"role": "user", "content": f"/repeat {chunks} token "}],
        "stream": True,
    }
    began = time.perf_counter()
    results = await asyncio.gather(*(stream(port, "/v1/chat/completions", body) for _ in range(streams)))
    return sum(events for *_, events in results) / (max(last for _, last, _ in results) - began)


def compare_servers(requests: int, streams: int, chunks: int, rounds: int) -> None:
    firsts: dict[str, list[float]] = {name: [] for name in RATIOS}
    rates: dict[str, list[float]] = {name: [] for name in RATIOS}
    pages: dict[str, list[float]] = {"/metrics": [], "/health": []}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        endpoint = stack.enter_context(collector())
        ports = {
            name: stack.enter_context(duologue(*settings(folder, name, ratio, endpoint)))
            for name, ratio in RATIOS.items()
        }
        open_to = {name: http.client.HTTPConnection("127.0.0.1", port) for name, port in ports.items()}
        for connection in open_to.values():
            for _ in range(5):
                first_token(connection)
        for _ in range(requests):
            for name, connection in open_to.items():
                firsts[name].append(first_token(connection))
        for _ in range(rounds):
            for name, port in ports.items():
                rates[name].append(asyncio.run(relayed(port, streams, chunks)))
        connection = open_to["without tracing"]
        for _ in range(requests):
            for path, times in pages.items():
                began = time.perf_counter()
                connection.request("GET", path)
                connection.getresponse().read()
                times.append((time.perf_counter() - began) * 1000)
    report("first token, ms", firsts)
    report("relay, chunks/s", rates)
    page, health = (statistics.median(pages[path]) for path in ("/metrics", "/health"))
    print(f"/metrics over HTTP {page:.2f} ms, /health {health:.2f} ms: {page / health:.1f} times")


def report(what: str, figures: dict[str, list[float]]) -> None:
    base = figures["without tracing"]
    print(what)
    for name, own in figures.items():
        ratio = statistics.median(one / other for one, other in zip(own, base, strict=True))
        print(f"  {name:<18}{statistics.median(own):>12,.2f}   {ratio:.3f} of that without tracing")


def each(call: Callable[[], object], calls: int) -> float:
    """Microseconds of one call."""
    began = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - began) / calls * 1e6


def entered() -> None:
    with spans.span("a"):
        pass


def compare_spans(calls: int) -> None:
    nothing = each(lambda: None, calls)
    print(f"one span, us (an empty call takes {nothing:.3f})")
    print(f"  tracing off       {each(entered, calls):>10.3f}")
    if importlib.util.find_spec("opentelemetry.sdk") is None:
        print("  (the extra `tracing` is not installed)")
        return
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.trace import get_tracer

    from duologue.tracing.opentelemetry_export import OpenTelemetryTracer

    library = get_tracer("bench")

    def by_the_api() -> None:
        with library.start_as_current_span("a"):
            pass

    print(f"  the API, off      {each(by_the_api, calls // 10):>10.3f}")
    for name, ratio in (("not sampled", 0.0), ("below such a one", 0.0), ("recorded", 1.0)):
        exporter = InMemorySpanExporter()
        exporter.shutdown()  # it keeps nothing
        spans.set_up(OpenTelemetryTracer(spans.TraceSettings(ratio=ratio), exporter))
        if name == "below such a one":
            with spans.span("request"):
                took = each(entered, calls // 10)
        else:
            took = each(entered, calls // 10)
        print(f"  {name:<18}{took:>10.3f}")
    spans.set_up(None)


def compare_labels(calls: int) -> None:
    card = ModelCard("model", "scripted", 0)
    work = WorkMetrics(MetricsHistory(0.0), lambda name: card)
    registry = CollectorRegistry()
    histograms = [Histogram(f"h{number}", "-", buckets=BUCKETS, registry=registry) for number in range(4)]
    counters = [Counter(f"c{number}", "-", registry=registry) for number in range(2)]

    def without_labels() -> None:
        for histogram in histograms:
            histogram.observe(0.03)
        for counter in counters:
            counter.inc()

    plain = each(without_labels, calls // 10)
    labelled = each(lambda: work.reply_ended("model", "chat", DONE), calls // 10)
    print(
        f"what a reply leaves: {labelled:.1f} us; as many metrics as before, without labels, {plain:.1f} us"
    )


def compare_pages(sizes: Sequence[int]) -> None:
    for models in sizes:
        metrics = telemetry.Metrics()
        for model in range(models):
            for kind in sorted(telemetry.KINDS):
                labels = (f"model-{model}", kind)
                metrics.task_ended(*labels, "stop")
                metrics.queue_waited(0.1, *labels)
                metrics.first_token(0.1, *labels)
                metrics.tokens_took(0.1, *labels)
                metrics.stage_took("prefill", 0.1, *labels)
                metrics.stage_took("generate", 0.1, *labels)
                metrics.tokens_counted(*labels, input=1, output=1)
        times = []
        for _ in range(5):
            began = time.perf_counter()
            text = generate_latest(metrics.registry)
            times.append((time.perf_counter() - began) * 1000)
        count = sum(not line.startswith(b"#") for line in text.splitlines())
        print(
            f"/metrics, {models:>3} models with every kind: {statistics.median(times):>8.1f} ms, {count:,} series, {len(text) / 1e6:.2f} MB"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=60)
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--chunks", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--collector", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.collector:
        asyncio.run(throw_away(options.collector))
        return
    compare_servers(options.requests, options.streams, options.chunks, options.rounds)
    compare_spans(options.calls)
    compare_labels(options.calls)
    compare_pages((1, 10, telemetry.MOST_MODELS))


if __name__ == "__main__":
    main()
