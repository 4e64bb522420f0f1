"""Measure chunks per second of many concurrent streams through gateway and worker, against a bare relay in the same run.

python bench/bench_relay.py [--streams 64] [--chunks 1500] [--rounds 3]
"""

from __future__ import annotations

import argparse
import asyncio
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


def floor(streams: int, chunks: int) -> float:
    worker_port, port = free_port(), free_port()
    script = str(root() / "bench" / "relay_floor.py")
    worker = subprocess.Popen([sys.executable, script, "worker", str(worker_port)])
    gateway = subprocess.Popen([sys.executable, script, "gateway", str(port), str(worker_port)])
    try:
        time.sleep(1.5)
        return asyncio.run(run(port, "/", {"streams": streams, "chunks": chunks}, streams))
    finally:
        worker.kill()
        gateway.kill()
        worker.wait()
        gateway.wait()


def ours(port: int, streams: int, chunks: int) -> float:
    body = {
        "messages": [{"role": "user", "content": f"/repeat {chunks} token "}],
        "stream": True,
    }
    return asyncio.run(run(port, "/v1/chat/completions", body, streams))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--chunks", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    floors, figures = [], []
    with duologue("--engine", "scripted") as port:
        ours(port, options.streams, 50)
        for _ in range(options.rounds):
            floors.append(floor(options.streams, options.chunks))
            figures.append(ours(port, options.streams, options.chunks))
    ratio = statistics.median(figure / bare for figure, bare in zip(figures, floors, strict=True))
    print(f"bare relay        {statistics.median(floors):>10,.0f} chunks/s  {[round(f) for f in floors]}")
    print(f"gateway + worker  {statistics.median(figures):>10,.0f} chunks/s  {[round(f) for f in figures]}")
    print(f"ratio             {ratio:>10.2f}   (budget: 0.50, and 9,000 chunks/s)")


if __name__ == "__main__":
    main()
