"""Measure what each dialect adds to a stream of /v1/chat/completions: time to first token, and per chunk, in one run.

    python bench/bench_dialects.py [--chunks 2000] [--rounds 15]

The scripted engine answers without work, so the times are those of gateway and worker. Each round asks every dialect once, in turns, so
that what else the machine does meets all of them alike; the figures are medians, and the differences those of the same round.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from load import duologue, free_port

TEXT = "/repeat {} token "
MODEL = "scripted"


def bodies(chunks: int) -> dict[str, tuple[str, dict[str, Any]]]:
    """The name of each dialect, its path, and the same request in its words."""
    text = TEXT.format(chunks)
    messages = [{"role": "user", "content": text}]
    return {
        "chat completions": ("/v1/chat/completions", {"model": MODEL, "messages": messages}),
        "responses": ("/v1/responses", {"model": MODEL, "input": text}),
        "responses, not stored": ("/v1/responses", {"model": MODEL, "input": text, "store": False}),
        "messages": ("/v1/messages", {"model": MODEL, "messages": messages, "max_tokens": 100_000}),
        "completions": ("/v1/completions", {"model": MODEL, "prompt": text, "max_tokens": 100_000}),
        "Ollama's chat": ("/api/chat", {"model": MODEL, "messages": messages}),
    }


async def ask(port: int, path: str, body: dict[str, Any]) -> tuple[float, float, int]:
    """Seconds to the first piece of text and to the end, and bytes of the answer."""
    data = json.dumps({**body, "stream": True}).encode()
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
    writer.write(
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode()
        + data
    )
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n", 1)[0]:
        raise SystemExit(f"{path}: {head.decode()}{(await reader.read(2000)).decode()}")
    first, size, begun = 0.0, 0, b""
    while block := await reader.read(2**18):
        size += len(block)
        if not first:
            begun += block
            if b"token" in begun.replace(b"_token", b"").replace(b"tokens", b""):
                first = time.perf_counter() - began
    writer.close()
    return first, time.perf_counter() - began, size


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chunks", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    ollama = free_port()
    asked = bodies(options.chunks)
    firsts: dict[str, list[float]] = {name: [] for name in asked}
    each: dict[str, list[float]] = {name: [] for name in asked}
    sizes: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        settings = Path(folder) / "duologue.yaml"
        settings.write_text(f"compat:\n  ollama:\n    enabled: true\n    port: {ollama}\n")
        port = stack.enter_context(duologue("--engine", "scripted", "--config", str(settings)))
        for number in range(options.rounds + 1):
            for name, (path, body) in asked.items():
                first, whole, size = asyncio.run(ask(ollama if path == "/api/chat" else port, path, body))
                if number:  # the first round warms up
                    firsts[name].append(first * 1000)
                    each[name].append((whole - first) / options.chunks * 1e6)
                    sizes[name] = size
    base = "chat completions"
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(
        "| dialect | first token, ms | added | a chunk, us | added | bytes a chunk |\n|---|---|---|---|---|---|"
    )
    for name in asked:
        added = statistics.median(a - b for a, b in zip(firsts[name], firsts[base], strict=True))
        more = statistics.median(a - b for a, b in zip(each[name], each[base], strict=True))
        print(
            f"| {name} | {statistics.median(firsts[name]):.1f} | {added:+.1f} | {statistics.median(each[name]):.1f} "
            f"| {more:+.1f} | {sizes[name] / options.chunks:.0f} |"
        )


if __name__ == "__main__":
    main()
