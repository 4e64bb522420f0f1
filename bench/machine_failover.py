"""The part `failover` of bench_machines.py: two gateways on one PostgreSQL, of which one is killed with replies under way."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
import uuid
from bisect import bisect_left
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any

import asyncpg
import httpx

from bench_life import judge, local
from load import wait_ready
from machine_forms import gateway

DATABASE = os.environ.get("DUOLOGUE_TEST_POSTGRESQL", "postgresql://postgres@127.0.0.1:5432/test")
LOST_BUDGET_MS = 600
PACE_MS = 20
BEFORE = 150
"""Words that each reply has written before the kill: three seconds of it, so that its text was stored several times."""
PATIENCE = 180.0


class Viewer:
    """Somebody who reads a run. `lengths` and `times`: after each piece, how much text there was and when it was read."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.lengths: list[int] = []
        self.times: list[float] = []
        self.ends: list[tuple[str, float]] = []

    async def read(self, client: httpx.AsyncClient) -> None:
        length = 0
        async with client.stream("GET", f"/api/runs/{self.run}/events") as stream:
            async for line in stream.aiter_lines():
                if not line.startswith("data: "):
                    continue
                event = json.loads(line[6:])
                if event["type"] == "delta":
                    length += len(event["text"])
                    self.lengths.append(length)
                    self.times.append(time.perf_counter())
                elif event["type"] == "run_done":
                    self.ends.append((event["outcome"], time.perf_counter()))

    async def read_until_cut(self, client: httpx.AsyncClient) -> None:
        try:
            await self.read(client)
        except httpx.TransportError:
            return

    def read_at(self, length: int) -> float:
        """When so much text had been read; later than all of it if it never was."""
        place = bisect_left(self.lengths, length)
        return self.times[place] if place < len(self.times) else float("inf")


async def failover(options: argparse.Namespace) -> None:
    print(f"failover: {options.replies} replies under way at one of two gateways, which is killed")
    async with own_schema() as url:
        if url:
            with two_gateways(url, options.replies) as ((port, process), (other, _)):
                async with local(port) as owner, local(other) as elsewhere:
                    await _fail_over(owner, process, elsewhere, options.replies)


@asynccontextmanager
async def own_schema() -> AsyncIterator[str]:
    """The address of a schema of PostgreSQL that is dropped afterwards; nothing where no server answers."""
    try:
        connection = await asyncpg.connect(DATABASE)
    except (OSError, asyncpg.PostgresError) as error:
        print(f"  no PostgreSQL answers: left out ({error})")
        yield ""
        return
    schema = f"bench_{uuid.uuid4().hex}"
    await connection.execute(f"CREATE SCHEMA {schema}")
    try:
        yield f"{DATABASE}?options=-csearch_path%3D{schema}"
    finally:
        await connection.execute(f"DROP SCHEMA {schema} CASCADE")
        await connection.close()


@contextmanager
def two_gateways(url: str, slots: int) -> Iterator[list[tuple[int, Popen[bytes]]]]:
    with ExitStack() as stack:
        started = []
        for _ in range(2):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
            started.append(stack.enter_context(gateway(folder, "--slots", str(slots), DUOLOGUE_DATABASE=url)))
        for port, process in started:
            wait_ready(f"http://127.0.0.1:{port}/ready", process, PATIENCE)
        yield started


async def _fail_over(
    owner: httpx.AsyncClient, process: Popen[bytes], elsewhere: httpx.AsyncClient, count: int
) -> None:
    runs = [f"r{number}" for number in range(count)]
    for run in runs:
        await _begin(owner, run)
    viewers, own = [Viewer(run) for run in runs], [Viewer(run) for run in runs]
    async with asyncio.timeout(PATIENCE):
        reading = [asyncio.create_task(viewer.read(elsewhere)) for viewer in viewers]
        beside = [asyncio.create_task(viewer.read_until_cut(owner)) for viewer in own]
        while any(len(viewer.lengths) < BEFORE for viewer in own) or not all(  # noqa: ASYNC110 (two processes are watched)
            viewer.lengths for viewer in viewers
        ):
            await asyncio.sleep(0.02)
        process.kill()
        killed = time.perf_counter()
        await asyncio.gather(*beside, *reading)
        rows = [(await elsewhere.get(f"/api/conversations/c-{run}")).json()["messages"] for run in runs]
        _judge_text(own, rows, killed)
        _judge_ends(viewers, rows, killed)
        await _judge_continued(elsewhere, runs, rows)


async def _begin(client: httpx.AsyncClient, run: str) -> None:
    made = await client.post("/api/conversations", json={"id": f"c-{run}"})
    content = [{"type": "text", "text": f"/pace {PACE_MS}\n/repeat 20000 word "}]
    body = {"verb": "send", "run": run, "message": {"id": f"m-{run}", "content": content}}
    begun = await client.post(f"/api/conversations/c-{run}/runs", json=body)
    if (made.status_code, begun.status_code) != (201, 202):
        raise SystemExit(f"{made.text} {begun.text}")


def _judge_text(own: list[Viewer], rows: list[list[dict[str, Any]]], killed: float) -> None:
    """A viewer at the killed gateway had read each piece as it came: what was lost is the time from the last piece that was kept to the kill."""
    kept = [len(messages[-1]["content"][0]["text"]) for messages in rows]
    lost = [
        max(0.0, 1000 * (killed - viewer.read_at(length))) for viewer, length in zip(own, kept, strict=True)
    ]
    words = [
        max(0, viewer.lengths[-1] - length) / len("word ") for viewer, length in zip(own, kept, strict=True)
    ]
    judge(
        max(lost) <= LOST_BUDGET_MS,
        f"text lost: {max(lost):.0f} ms at most, {statistics.median(lost):.0f} ms in the median; budget {LOST_BUDGET_MS} ms "
        f"(from the moment a viewer at the killed gateway had read the last word that was kept to the kill; {max(words):.0f} of its words at most)",
    )


def _judge_ends(viewers: list[Viewer], rows: list[list[dict[str, Any]]], killed: float) -> None:
    ends = [[outcome for outcome, _ in viewer.ends] for viewer in viewers]
    seconds = [at - killed for viewer in viewers for _, at in viewer.ends]
    once = sum(end == ["interrupted"] for end in ends)
    stored = sum(
        [row["status"] for row in messages if row["role"] == "assistant"] == ["interrupted"]
        for messages in rows
    )
    print(
        f"       viewers at the other gateway knew the end after {statistics.median(seconds):.1f} s, {max(seconds):.1f} s at most"
    )
    judge(once == len(ends), f"ended `interrupted` once for its viewer: {once} of {len(ends)}")
    judge(stored == len(ends), f"stored once and as `interrupted`: {stored} of {len(ends)}")


async def _judge_continued(
    client: httpx.AsyncClient, runs: list[str], rows: list[list[dict[str, Any]]]
) -> None:
    """Each goes on where it was: its text begins with what was kept, and grows."""
    good = 0
    for run, messages in zip(runs, rows, strict=True):
        row = messages[-1]
        body = {"verb": "continue", "run": f"{run}-more", "message": row["id"]}
        answer = await client.post(f"/api/conversations/c-{run}/runs", json=body)
        if answer.status_code != 202:
            print(f"       {run}: {answer.text}")
            continue
        async with _events(client, f"{run}-more") as events:
            async for event in events:
                if event["type"] == "delta":
                    break
        await client.post(f"/api/runs/{run}-more/stop")
        last = (await client.get(f"/api/conversations/c-{run}")).json()["messages"][-1]
        text, before = last["content"][0]["text"], row["content"][0]["text"]
        good += last["id"] == row["id"] and text.startswith(before) and len(text) > len(before)
    judge(good == len(runs), f"continued at the other gateway: {good} of {len(runs)}")


@asynccontextmanager
async def _events(client: httpx.AsyncClient, run: str) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    async with client.stream("GET", f"/api/runs/{run}/events") as stream:
        yield (json.loads(line[6:]) async for line in stream.aiter_lines() if line.startswith("data: "))
