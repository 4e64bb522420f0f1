"""The part `keys` of bench_machines.py: the first request of a key, with SQLite and with PostgreSQL."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

import httpx

from load import wait_ready
from machine_failover import PATIENCE, own_schema
from machine_forms import gateway

ADMIN = "the-key-of-the-settings"
LIMITS = {"DUOLOGUE_LIMITS__KEY__CONCURRENT": "8", "DUOLOGUE_LIMITS__KEY__REQUESTS_PER_MINUTE": "1000"}
"""With limits: gateways that share a database hold parts of them, and the first request waits for one."""
BODY = {"stream": True, "messages": [{"role": "user", "content": "/say hello"}]}
UNTIMED = 3


async def keys(options: argparse.Namespace) -> None:
    print(f"keys: milliseconds to the first token of {options.requests} new keys, one request at a time")
    firsts: dict[str, list[float]] = {}
    seconds: dict[str, list[float]] = {}
    async with AsyncExitStack() as stack:
        servers: dict[str, httpx.AsyncClient] = {}
        for name in ("SQLite", "PostgreSQL"):
            url = await stack.enter_async_context(own_schema()) if name == "PostgreSQL" else ""
            if name == "SQLite" or url:
                servers[name] = await _started(stack, url)
        for number in range(options.requests + UNTIMED):
            # In turns, so that a noisy moment meets both.
            for name, client in servers.items():
                made = await client.post("/api/keys", json={"name": f"key {number}"}, headers=_as(ADMIN))
                key = made.raise_for_status().json()["key"]
                firsts.setdefault(name, []).append(await _first_token(client, key))
                seconds.setdefault(name, []).append(await _first_token(client, key))
    for name, times in firsts.items():
        first, second = times[UNTIMED:], seconds[name][UNTIMED:]
        most = statistics.quantiles(first, n=20)[-1]
        print(
            f"       {name}: first request {statistics.median(first):.1f} ms (95 % {most:.1f}), second {statistics.median(second):.1f} ms"
        )


async def _started(stack: AsyncExitStack, url: str) -> httpx.AsyncClient:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
    database = {"DUOLOGUE_DATABASE": url} if url else {}
    port, process = stack.enter_context(
        gateway(folder, "--slots", "1", DUOLOGUE_KEY=ADMIN, **LIMITS, **database)
    )
    address = f"http://127.0.0.1:{port}"
    wait_ready(f"{address}/ready", process, PATIENCE)
    return await stack.enter_async_context(httpx.AsyncClient(base_url=address, timeout=60))


async def _first_token(client: httpx.AsyncClient, key: str) -> float:
    """Milliseconds to the first content; the rest is read, so that the connection is kept."""
    first, began = 0.0, time.perf_counter()
    async with client.stream("POST", "/v1/chat/completions", json=BODY, headers=_as(key)) as answer:
        answer.raise_for_status()
        async for line in answer.aiter_lines():
            if not first and '"content":"hello' in line.replace(" ", ""):
                first = time.perf_counter() - began
    return first * 1000


def _as(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}
