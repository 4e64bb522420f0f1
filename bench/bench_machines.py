"""Measure workers beyond the gateway's own machine: joined over TLS and placed by Ray, beside local ones, all in one run.

    python bench/bench_machines.py [relay|forms|kills|queue|failover|keys ...] [--streams 32] [--chunks 2000] [--rounds 3] [--kills 200] [--every 3.5]
        [--replies 20]

* `relay`: chunks a second of many streams, and the time to the first token, through a worker on this machine, a joined one over TLS and one that
  Ray places, each as a part of a bare relay (two processes that only relay). The budget of a joined worker is 0.6 of it. With TLS the clients of
  the gateway use it too, as the port is the same: the line "one machine, TLS" is what that costs alone.
* `forms`: seconds to start and memory (PSS) of each form.
* `kills`: clients stream from workers on two Ray nodes, of which a steady worker is killed again and again, and every tenth time a whole node. Every
  client must be answered, with its whole reply or with an error that names its cause, and at the end nothing may be left.
* `queue`: seconds from a longer queue to a new worker that serves, of local workers and of Ray.
* `failover`: two gateways on one PostgreSQL (a schema of their own, dropped afterwards), and replies of the page under way at one, each followed at
  both. That one is killed (`kill -9`). At most 0.6 s of text may be lost, counted from when a viewer there had read the last word that was kept; each
  reply must end `interrupted` exactly once, and go on at the other. Prints the seconds until viewers at the other know the end, which takes a lease.
* `keys`: the time to the first token of the first request of a new key with limits, and of its second, with SQLite and with PostgreSQL.

All use the scripted engine. What needs Ray is left out where it is not installed. Exits with 1 where a budget was missed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import statistics
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench_life import TOLD, failures, judge, left_of, until, workers
from bench_life import stream as whole_stream
from bench_relay import floor
from load import stream
from machine_failover import failover
from machine_forms import Form, joined, one_machine, placed, processes_below, shared_memory_of
from machine_keys import keys

JOIN_BUDGET = 0.6
NODES = (2, 3)
WORKERS = 6
STEADY_S = 16.0
"""The youngest worker that `kills` kills: about six seconds until it is ready, and ten until it counts as steady. Those that are killed soon after they were
ready, again and again, are given up for minutes, as they should be: with any worker as a victim 200 kills were not over after 24 minutes."""
PLACED_PROGRAM = b"duologue.worker.joined"


def has_ray() -> bool:
    if find_spec("ray") is None:
        print("  Ray is not installed: left out (pip install 'duologue[ray]')")
        return False
    return True


# ---- relay


async def relayed(form: Form, streams: int, chunks: int) -> float:
    """Chunks a second of `streams` requests at once."""
    body = form.body(f"/repeat {chunks} token ")
    began = time.perf_counter()
    results = await asyncio.gather(
        *(stream(form.port, "/v1/chat/completions", body, form.tls, form.key) for _ in range(streams))
    )
    return sum(events for _, _, events in results) / (max(last for _, last, _ in results) - began)


async def first_tokens(form: Form, requests: int) -> list[float]:
    """Milliseconds to the first content, one request at a time on a kept connection."""
    firsts = []
    verify = form.tls if form.tls is not None else False
    async with httpx.AsyncClient(
        base_url=form.url, timeout=60, verify=verify, headers=form.headers
    ) as client:
        for _ in range(requests + 3):
            began = time.perf_counter()
            async with client.stream("POST", "/v1/chat/completions", json=form.body("/say hello")) as answer:
                async for line in answer.aiter_lines():
                    if '"content":"hello' in line.replace(" ", ""):
                        firsts.append(1000 * (time.perf_counter() - began))
                        break
    return firsts[3:]


def makers(slots: int) -> dict[str, Callable[[], AbstractContextManager[Form]]]:
    forms: dict[str, Callable[[], AbstractContextManager[Form]]] = {
        "one machine": lambda: one_machine(slots),
        "one machine, TLS": lambda: one_machine(slots, tls=True),
        "joined": lambda: joined(slots, tls=False),
        "joined, TLS": lambda: joined(slots),
    }
    if has_ray():
        forms["Ray"] = lambda: placed(slots)
    return forms


async def relay(options: argparse.Namespace) -> None:
    print(
        f"relay: {options.streams} streams of {options.chunks} chunks, the median of {options.rounds} rounds"
    )
    floors: list[float] = []
    rates: dict[str, list[float]] = {}
    firsts: dict[str, list[float]] = {}
    for _ in range(options.rounds):
        floors.append(await asyncio.to_thread(floor, options.streams, options.chunks))
        for name, make in makers(options.streams).items():
            with make() as form:
                await relayed(form, options.streams, 100)
                rates.setdefault(name, []).append(
                    await relayed(form, options.streams, options.chunks) / floors[-1]
                )
                firsts.setdefault(name, []).append(
                    statistics.median(await first_tokens(form, options.requests))
                )
    bare = statistics.median(floors)
    print(f"  bare relay: {bare:.0f} chunks/s")
    local = statistics.median(firsts["one machine"])
    for name, ratios in rates.items():
        ratio, first = statistics.median(ratios), statistics.median(firsts[name])
        line = f"{name}: {ratio:.2f} of the bare relay ({ratio * bare:.0f} chunks/s); first token {first:.1f} ms ({first - local:+.1f})"
        if name == "joined, TLS":
            judge(ratio >= JOIN_BUDGET, f"{line}; budget {JOIN_BUDGET}")
        else:
            print(f"       {line}")


# ---- start and memory


async def forms(options: argparse.Namespace) -> None:
    print("forms: until a worker serves, and the memory of all its processes (PSS)")
    for name, make in makers(4).items():
        with make() as form:
            memory = shared_memory_of(
                processes_below(form.gateway) + placed_workers(joined_only=name.startswith("joined"))
            )
            print(f"       {name}: {form.start:.1f} s, {memory / 2**20:.0f} MiB")


def placed_workers(*, joined_only: bool = True, older_than: float = 0.0) -> list[int]:
    """The processes of joined workers on this machine, at least so many seconds old."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if joined_only and PLACED_PROGRAM in command.read_bytes() and age(command.parent) >= older_than:
                found.append(int(command.parent.name))
        except OSError:
            continue
    return found


def age(process: Path) -> float:
    """Seconds since a process of /proc began."""
    ticks = int((process / "stat").read_text().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


# ---- kills


@contextmanager
def two_nodes(cpus: int) -> Iterator[Any]:
    from tests.support.ray_nodes import RayNodes

    nodes = RayNodes()
    try:
        for number in NODES:
            nodes.add(number, cpus=cpus)
        yield nodes
    finally:
        nodes.stop()


async def kills(options: argparse.Namespace) -> None:
    if not has_ray():
        return
    print(
        f"kills: {options.kills} of workers and nodes under {options.streams} streams, one every {options.every:g} s"
    )
    chance = random.Random(options.seed)
    # Half of the processors stay free, so that one node has room for the workers of both.
    with (
        two_nodes(WORKERS) as nodes,
        placed(16, copies=WORKERS, address=nodes.address, token=str(nodes.token)) as form,
    ):
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
        async with (
            httpx.AsyncClient(base_url=form.url, timeout=120, limits=limits) as client,
            httpx.AsyncClient(base_url=form.url, timeout=120) as admin,
        ):
            await whole_stream(client, "warm up")
            before = left_of(form.gateway)
            ends, stop = Counter[str](), asyncio.Event()

            async def talk() -> None:
                while not stop.is_set():
                    reply = await whole_stream(client, "/pace 20\n/repeat 40 word ")
                    ends[reply.end] += 1
                    if reply.end != "whole":
                        await asyncio.sleep(0.2)

            talkers = [asyncio.create_task(talk()) for _ in range(options.streams)]
            killed, down = Counter[str](), 0
            while killed.total() < options.kills:
                await asyncio.sleep(options.every)
                if killed.total() % 10 == 9:
                    number = NODES[down % len(NODES)]
                    down += 1
                    await asyncio.to_thread(nodes.kill, f"127.0.0.{number}")
                    killed["nodes"] += 1
                    await asyncio.to_thread(nodes.add, number, cpus=WORKERS)
                elif processes := placed_workers(older_than=STEADY_S):
                    os.kill(chance.choice(processes), signal.SIGKILL)
                    killed["workers"] += 1
            stop.set()
            await asyncio.gather(*talkers)

            async def all_idle() -> bool:
                return all(row["status"] == "idle" for row in await workers(admin))

            await until(all_idle, 400.0)
            status = (await admin.get("/status")).json()
            after = left_of(form.gateway)
            left = len(placed_workers())
    unanswered = {end: count for end, count in ends.items() if end != "whole" and end not in TOLD}
    judge(
        not unanswered,
        f"{dict(killed)} killed; {ends.total()} requests: {dict(ends.most_common())}; unanswered: {unanswered or 'none'}",
    )
    judge(
        status["slots_busy"] == status["queue_length"] == 0,
        f"slots busy {status['slots_busy']}, waiting {status['queue_length']}",
    )
    judge(
        status["idle_workers"] == left == WORKERS,
        f"workers ready again: {status['idle_workers']} of {WORKERS}; processes: {left}",
    )
    judge(after[0] <= before[0], f"processes of the gateway: {before[0]} before, {after[0]} after")
    judge(
        after[1] <= before[1] + options.streams + 8,
        f"open files of the gateway: {before[1]} before, {after[1]} after",
    )
    judge(not placed_workers(), f"processes of workers after the end: {len(placed_workers())}")


# ---- from a longer queue to a new worker


async def queue(options: argparse.Namespace) -> None:
    print("queue: from a queue that grows to a second worker that serves")
    scaled = {
        "DUOLOGUE_MODELS": '{"scripted": {"workers": {"max": 2}}}',
        "DUOLOGUE_LIFECYCLE__SCALE_WAIT_S": "1",
    }
    ways: dict[str, Callable[[], AbstractContextManager[Form]]] = {
        "one machine": lambda: one_machine(1, environment=scaled),
    }
    if has_ray():
        ways["Ray"] = lambda: placed(1, environment=scaled)
    for name, make in ways.items():
        seconds = []
        for _ in range(options.rounds):
            with make() as form:
                seconds.append(await second_worker(form))
        print(
            f"       {name}: {statistics.median(seconds):.1f} s, at most {max(seconds):.1f} s (the rule itself waits 4 s)"
        )


async def second_worker(form: Form) -> float:
    async with httpx.AsyncClient(base_url=form.url, timeout=120) as client:
        began = time.perf_counter()
        talkers = [asyncio.create_task(whole_stream(client, "/pace 50\n/repeat 100 word ")) for _ in range(6)]

        async def served() -> bool:
            return (
                len([row for row in await workers(client) if row["status"].startswith(("idle", "busy"))]) > 1
            )

        await until(served, 300.0)
        seconds = time.perf_counter() - began
        for talker in talkers:
            talker.cancel()
        await asyncio.gather(*talkers, return_exceptions=True)
    return seconds


PARTS: dict[str, Callable[[argparse.Namespace], Awaitable[None]]] = {
    "relay": relay,
    "forms": forms,
    "kills": kills,
    "queue": queue,
    "failover": failover,
    "keys": keys,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--streams", type=int, default=32)
    parser.add_argument("--chunks", type=int, default=2000)
    parser.add_argument("--requests", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--every", type=float, default=3.5, help="seconds between two kills")
    parser.add_argument("--replies", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name in options.parts or PARTS:
        asyncio.run(PARTS[name](options))  # type: ignore[arg-type]
    if failures:
        raise SystemExit(f"{len(failures)} budgets were missed")
    print("every budget was kept")


if __name__ == "__main__":
    main()
