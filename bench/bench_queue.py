"""Measure the queue: the waits it tells against the true ones, how fair it is, and what a thousand waiting clients cost.

    python bench/bench_queue.py [--clients 1000] [--short]

Recorded loads (`queue_loads/`, made by `record_queue_loads.py`) are replayed over the pure scheduler, and three forecasts of the same queue are scored in one run:
the scheduler's, a moving average as it was before, and an oracle that knows every length. Then a real server with the scripted engine: clients that
stream, and are told their places in comments.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from duologue.gateway.scheduling.scheduler import Scheduler
from load import duologue
from queue_replay import MODEL, QueueLoad, fair_parts, jain, overloaded, replay

LOADS = Path(__file__).parent / "queue_loads"
SKILL = 0.5
JAIN = 0.95
PLACE = re.compile(rb"^: queue position=(\d+) wait=([\d.]+) ticket=(\S+)$", re.MULTILINE)


def waits() -> None:
    print(
        "\n| load | told on average of | error: ours | moving average | oracle | on the way to the oracle | budget |"
    )
    print("|---|---|---|---|---|---|---|")
    for path in sorted(LOADS.glob("*.json")):
        told = replay(QueueLoad.read(path))
        ours, average, oracle = (told.error(name) for name in ("ours", "average", "oracle"))
        print(
            f"| {path.stem} | {told.waits():.1f} s | {ours:.2f} s | {average:.2f} s | {oracle:.2f} s "
            f"| {told.skill():.0%} | {SKILL:.0%} |"
        )


def fairness() -> None:
    print(
        "\n| keys with so many requests under way | slots | Jain's index | of what each can use | as one line | budget |"
    )
    print("|---|---|---|---|---|---|")
    for keys in ({"a": 30, "b": 1}, {"a": 30, "b": 4}, {"a": 30} | {f"k{number}": 1 for number in range(10)}):
        for slots in (1, 2, 4):
            parts = fair_parts(keys, slots)
            shares = overloaded(keys, slots=slots, seconds=600.0)
            line = overloaded(keys, slots=slots, seconds=600.0, fair=False)
            print(
                f"| {', '.join(map(str, keys.values()))} | {slots} | {jain(list(shares.values())):.3f} "
                f"| {jain([shares[key] / parts[key] for key in keys]):.3f} | {jain(list(line.values())):.3f} | {JAIN} |"
            )


def filled(clients: int, share: Callable[[int], str], slots: int = 8) -> Scheduler:
    scheduler = Scheduler(clients + slots)
    scheduler.worker_ready("w", MODEL, slots, 0.0)
    for number in range(clients + slots):
        scheduler.request(f"q_{number}", MODEL, 0.0, share=share(number))
    return scheduler


def dispatch(clients: int) -> None:
    """What one event costs while so many wait; what it cost before was a pass over all places, which is the floor here."""
    print(
        f"\n| {clients} requests wait, of | a request comes | a slot is given back | a pass over all places | memory each |"
    )
    print("|---|---|---|---|---|")
    for name, share in (("one key", lambda number: "a"), ("as many keys", str)):
        coming, going, passes, memory = events(clients, share)
        print(
            f"| {name} | {coming * 1e6:.0f} us | {going * 1e6:.0f} us "
            f"| {passes * 1e6:.0f} us | {memory / clients / 1024:.1f} KiB |"
        )


def events(clients: int, share: Callable[[int], str]) -> tuple[float, float, float, float]:
    """Median seconds of a request that comes and of a slot that is given back, seconds of a pass over all places, and bytes of the whole."""
    tracemalloc.start()
    scheduler = filled(clients, share)
    memory = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    passes = timed(lambda: scheduler.places(1.0), 20)
    coming, going = [], []
    scheduler.limit += 200
    for number in range(200):
        came = partial(scheduler.request, f"new_{number}", MODEL, 1.0, share=share(clients + number))
        coming.append(timed(came, 1))
        [task, *_] = scheduler.tasks(1.0)
        # Without effect unless the ticket holds it.
        for slot in range(8):
            ended = timed(partial(scheduler.release, task.ticket, "w", slot, 1.0), 1)
            if all(other.ticket != task.ticket for other in scheduler.tasks(1.0)):
                going.append(ended)
                break
    return statistics.median(coming), statistics.median(going), passes, memory


def timed(work: Callable[[], object], times: int) -> float:
    began = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - began) / times


async def waiting_client(port: int, tokens: int, pace: int) -> tuple[float, list[tuple[float, float]], float]:
    """Stream a reply: when it began, the waits that were told with their times, and when its first chunk came."""
    text = f"/pace {pace}\n/repeat {tokens} x"
    data = json.dumps({"messages": [{"role": "user", "content": text}], "stream": True}).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.perf_counter()
    writer.write(
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode()
        + data
    )
    told, first = list[tuple[float, float]](), 0.0
    while line := await reader.readline():
        now = time.perf_counter()
        if match := PLACE.match(line):
            told.append((now, float(match[2])))
        elif line.startswith(b"data: ") and not first:
            first = now
    writer.close()
    return began, told, first


async def short_and_long(port: int, replies: int) -> dict[str, Any]:
    """Short replies with a long one among them, on two slots, after some that the server learns from."""
    lengths = [400 if number % 8 == 3 else 20 for number in range(replies)]
    for length in (20, 20, 20, 400, 20, 20, 20):
        await waiting_client(port, length, 20)
    results = await asyncio.gather(*(waiting_client(port, length, 20) for length in lengths))
    errors = [abs(wait - (first - at)) for _, told, first in results for at, wait in told]
    true = [first - at for _, told, first in results for at, _ in told]
    every = [wait for _, told, _ in results for _, wait in told]
    still = sum(a[1] == b[1] for _, told, _ in results for a, b in pairwise(told))
    return {
        "told": len(errors),
        "error": statistics.fmean(errors) if errors else 0.0,
        "true": statistics.fmean(true) if true else 0.0,
        "least": min(every, default=0.0),
        "still": still,
    }


def resident(port: int) -> float:
    """MiB of all processes of the server on this port."""
    total = 0.0
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and f"--port\0{port}\0".encode() in (folder / "cmdline").read_bytes():
                total += int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        except OSError:
            continue
    return total


async def crowd(port: int, clients: int) -> tuple[float, float, float]:
    """So many streaming clients wait behind one endless reply: MiB while a tenth of them and while all of them wait, and seconds until
    `/health` answers."""
    tasks = [asyncio.create_task(waiting_client(port, 100_000, 1000))]
    await asyncio.sleep(0.5)
    sizes = []
    for number in (clients // 10, clients):
        while len(tasks) <= number:
            tasks.append(asyncio.create_task(waiting_client(port, 1, 1)))
        for _ in range(600):
            await asyncio.sleep(0.1)
            if len((await asked(port, "/api/queue"))["items"]) >= number:
                break
        await asyncio.sleep(3)  # every stream has been opened, and was told a place
        sizes.append(resident(port))
    began = time.perf_counter()
    await asked(port, "/health")
    answered = time.perf_counter() - began
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return sizes[0], sizes[1], answered


async def asked(port: int, path: str) -> Any:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    body = await reader.read()
    writer.close()
    return json.loads(body) if b"json" in head else body


def server(clients: int, replies: int) -> None:
    with duologue("--engine", "scripted", "--slots", "2") as port:
        result = asyncio.run(short_and_long(port, replies))
    print(
        f"\nA real server, {replies} replies of 0.4 and 8 s on two slots: {result['told']} waits told, {result['true']:.1f} s on average; "
        f"off by {result['error']:.1f} s; the least {result['least']} s (never 0); told the same twice in a row {result['still']} times"
    )
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "duologue.yaml"
        settings.write_text("connections:\n  per_address: 3000\n  total: 4000\nqueue:\n  limit: 2000\n")
        with duologue("--engine", "scripted", "--slots", "1", "--config", str(settings)) as port:
            before, during, answered = asyncio.run(crowd(port, clients))
    print(
        f"{clients // 10} and then {clients} streaming clients wait: {before:.0f} MiB become {during:.0f}, "
        f"{(during - before) * 1024 / (clients - clients // 10):.0f} KiB each; "
        f"/health answers in {answered * 1000:.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--replies", type=int, default=24)
    parser.add_argument(
        "--short", action="store_true", help="fewer clients and replies, to see that it works"
    )
    options = parser.parse_args()
    if options.short:
        options.clients, options.replies = 100, 16
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    waits()
    fairness()
    dispatch(options.clients)
    server(options.clients, options.replies)


if __name__ == "__main__":
    main()
