"""Measure chunks per second of many concurrent streams through gateway and worker, against a bare relay in the same run.

    python bench/bench_relay.py [--streams 64] [--chunks 4000] [--rounds 3]

Then the same with logprobs, with tools offered, in reasoning, and with all three, each as a part of the plain stream of its round.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import statistics
import subprocess
import sys
import time

from load import duologue, free_port, root, stream


async def run(port: int, path: str, body: dict[str, object], streams: int) -> float:
    """Chunks a second of `streams` requests at once, from before the first connection to the last byte."""
    began = time.perf_counter()
    results = await asyncio.gather(*(stream(port, path, body) for _ in range(streams)))
    ended = max(last for _, last, _ in results)
    return sum(events for _, _, events in results) / (ended - began)


def wait_open(port: int, seconds: float = 20.0) -> None:
    """Wait until something listens there: on a busy machine two interpreters take seconds to start."""
    began = time.perf_counter()
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.perf_counter() - began > seconds:
                raise
            time.sleep(0.05)


def floor(streams: int, chunks: int) -> float:
    worker_port, port = free_port(), free_port()
    script = str(root() / "bench" / "relay_floor.py")
    worker = subprocess.Popen([sys.executable, script, "worker", str(worker_port)])
    gateway = subprocess.Popen([sys.executable, script, "gateway", str(port), str(worker_port)])
    try:
        wait_open(worker_port)
        wait_open(port)
        return asyncio.run(run(port, "/", {"streams": streams, "chunks": chunks}, streams))
    finally:
        worker.kill()
        gateway.kill()
        worker.wait()
        gateway.wait()


LOGPROBS: dict[str, object] = {"logprobs": True, "top_logprobs": 1}
TOOLS: dict[str, object] = {
    "tools": [
        {
            "type": "function",
            "function": {
                "name": f"tool_{number}",
                "description": "Look something up.",
                "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
            },
        }
        for number in range(4)
    ]
}
THOUGHT = "/say <think>\n"
KINDS: dict[str, tuple[str, dict[str, object]]] = {
    "logprobs": ("", LOGPROBS),
    "tools offered": ("", TOOLS),
    "reasoning": (THOUGHT, {}),
    "all three": (THOUGHT, LOGPROBS | TOOLS),
}
"""What each kind of stream has before its chunks and in its request."""


def ours(
    port: int, streams: int, chunks: int, before: str = "", fields: dict[str, object] | None = None
) -> float:
    body: dict[str, object] = {
        "messages": [{"role": "user", "content": f"{before}/repeat {chunks} token "}],
        "stream": True,
        **(fields or {}),
    }
    return asyncio.run(run(port, "/v1/chat/completions", body, streams))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--chunks", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    floors, figures = [], []
    kinds: dict[str, list[float]] = {name: [] for name in KINDS}
    with duologue("--engine", "scripted") as port:
        ours(port, options.streams, 50)
        for _ in range(options.rounds):
            floors.append(floor(options.streams, options.chunks))
            figures.append(ours(port, options.streams, options.chunks))
            for name, (before, fields) in KINDS.items():
                kinds[name].append(ours(port, options.streams, options.chunks, before, fields))
    ratio = statistics.median(figure / bare for figure, bare in zip(figures, floors, strict=True))
    print(f"bare relay        {statistics.median(floors):>10,.0f} chunks/s  {[round(f) for f in floors]}")
    print(f"gateway + worker  {statistics.median(figures):>10,.0f} chunks/s  {[round(f) for f in figures]}")
    print(f"ratio             {ratio:>10.2f}   (budget: 0.50, and 9,000 chunks/s)")
    for name, rates in kinds.items():
        part = statistics.median(rate / plain for rate, plain in zip(rates, figures, strict=True))
        print(f"  {name:<16}{statistics.median(rates):>10,.0f} chunks/s   {part:.2f} of plain")


if __name__ == "__main__":
    main()
