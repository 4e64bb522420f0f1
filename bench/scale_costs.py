"""Measures what this code costs, for `simulate_scale.py`: a real server with the scripted engine, and PostgreSQL where one is at hand.

Seconds of a core are those of the process, so that other work on the machine disturbs them least. Everything is a difference between two loads of one
server.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import platform
import random
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from duologue.gateway.scheduling.pool import REFRESH
from duologue.gateway.scheduling.queueing.places import NEAR
from load import duologue, stream
from scale_model import Costs, Models, Users

CHAT = "/v1/chat/completions"
DATABASE = os.environ.get("SCALE_DATABASE", "postgresql://postgres@127.0.0.1:5432/test")
CONNECTIONS = 10
PACE = 40
"""Tokens a second of a reply."""
STREAMS = (1, 4, 16, 64, 128)
"""How many replies are relayed at a time, for the cost of a chunk."""
TICK = os.sysconf("SC_CLK_TCK")


def body(text: str, **more: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": text}], "stream": True, **more}


def processes(port: int) -> tuple[int, list[int]]:
    """The gateway of this port, and its children."""
    parents: dict[int, int] = {}
    gateway = 0
    for folder in Path("/proc").iterdir():
        try:
            if not folder.name.isdigit():
                continue
            number = int(folder.name)
            parents[number] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if f"--port\0{port}\0".encode() in (folder / "cmdline").read_bytes():
                gateway = max(gateway, number)  # the parent that watches it came first
        except OSError:
            continue
    return gateway, [number for number, parent in parents.items() if parent == gateway]


def cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident(process: int) -> float:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def calibrate(*, short: bool = False) -> Costs:
    """All of the costs."""
    parts = 4 if short else 8
    when, load = time.strftime("%Y-%m-%d"), os.getloadavg()[0]
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    settings = json.dumps([{"engine": "scripted", "slots": 4}] * 2)
    with duologue(
        DUOLOGUE_WORKERS=settings, DUOLOGUE_SUPERVISE="false", DUOLOGUE_VOICE__ENABLED="false"
    ) as port:
        gateway, workers = processes(port)
        request, chunk, worker_chunk = await _replies(port, gateway, workers, 20 * parts)
        client = await _waiting(port, gateway, 50 * parts)
    paced = await _paced(1.0 * parts)
    place, waiting = await _told(1.5 * parts)
    idle = max(0.0, (await _idle(6, 3.0 * parts) - await _idle(1, 3.0 * parts)) / 5)
    saves, saves_a_second, commits, notice, sent = await _database(parts)
    return Costs(
        request,
        chunk,
        client,
        idle,
        worker_chunk,
        saves,
        saves_a_second,
        commits,
        notice,
        sent,
        paced,
        place,
        waiting,
        when,
        machine,
        load,
    )


async def _replies(port: int, gateway: int, workers: list[int], count: int) -> tuple[float, float, float]:
    """A reply of one chunk, and each further one: in the gateway, and in a worker."""
    long, text = 400, "/repeat {} x "

    async def spent(tokens: int) -> tuple[float, float]:
        before, others = cpu(gateway), sum(map(cpu, workers))
        for _ in range(count // 4):
            await asyncio.gather(*(stream(port, CHAT, body(text.format(tokens))) for _ in range(4)))
        return (cpu(gateway) - before) / count, (sum(map(cpu, workers)) - others) / count

    await spent(long)
    short_gateway, short_worker = await spent(1)
    long_gateway, long_worker = await spent(long)
    chunk = max(0.0, (long_gateway - short_gateway) / (long - 1))
    return short_gateway - chunk, chunk, max(0.0, (long_worker - short_worker) / (long - 1))


async def _waiting(port: int, gateway: int, count: int) -> float:
    """Bytes of a client that waits for its turn."""
    before = resident(gateway)
    tasks = [asyncio.create_task(stream(port, CHAT, body("/hang"))) for _ in range(count)]
    await asyncio.sleep(2 + count / 100)
    grown = resident(gateway) - before
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(1)
    return max(0.0, grown / count)


async def _paced(seconds: float) -> tuple[tuple[float, float], ...]:
    """What a chunk costs the gateway where streams come at the pace of a model, each on its own: for a few rates of chunks, which are told too."""
    settings = json.dumps([{"engine": "scripted", "slots": max(STREAMS)}] * 2)
    chance = random.Random(4)
    with duologue(
        DUOLOGUE_WORKERS=settings, DUOLOGUE_SUPERVISE="false", DUOLOGUE_VOICE__ENABLED="false"
    ) as port:
        gateway, _ = processes(port)
        idle = await _spent(gateway, seconds)

        async def spread(text: str) -> None:
            # Nobody sends at the same moment as all others.
            await asyncio.sleep(chance.random())
            await stream(port, CHAT, body(text))

        points = []
        for streams in STREAMS:
            text = f"/pace {1000 / PACE:g}\n/repeat {PACE * (seconds + 2.5):.0f} x "
            tasks = [asyncio.create_task(spread(text)) for _ in range(streams)]
            await asyncio.sleep(1.5)  # all of them write now
            busy = await _spent(gateway, seconds)
            await asyncio.gather(*tasks)
            rate = float(streams * PACE)
            points.append((rate, max(0.0, busy - idle) / rate))
    return tuple(points)


async def _told(seconds: float) -> tuple[float, float]:
    """What it costs to tell a client its place, and a second of a client that waits far back."""
    settings = json.dumps([{"engine": "scripted", "slots": 1}])
    far = 400
    with duologue(
        DUOLOGUE_WORKERS=settings, DUOLOGUE_SUPERVISE="false", DUOLOGUE_VOICE__ENABLED="false"
    ) as port:
        gateway, _ = processes(port)
        tasks = [asyncio.create_task(stream(port, CHAT, body("/hang")))]
        await asyncio.sleep(3)
        idle = await _spent(gateway, seconds)
        tasks += [asyncio.create_task(stream(port, CHAT, body("/hang"))) for _ in range(NEAR)]
        await asyncio.sleep(4)  # streams that wait are opened after two seconds
        near = await _spent(gateway, seconds)
        tasks += [asyncio.create_task(stream(port, CHAT, body("/hang"))) for _ in range(far)]
        await asyncio.sleep(8)
        all_of_them = await _spent(gateway, seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return max(0.0, near - idle) * REFRESH / NEAR, max(0.0, all_of_them - near) / far


async def _spent(process: int, seconds: float) -> float:
    """Cores that a process uses for so long."""
    before, began = cpu(process), time.perf_counter()
    await asyncio.sleep(seconds)
    return (cpu(process) - before) / (time.perf_counter() - began)


async def _idle(workers: int, seconds: float) -> float:
    """What a gateway with so many workers does while nobody asks anything."""
    settings = json.dumps([{"engine": "scripted", "slots": 4}] * workers)
    with duologue(
        DUOLOGUE_WORKERS=settings, DUOLOGUE_SUPERVISE="false", DUOLOGUE_VOICE__ENABLED="false"
    ) as port:
        gateway, _ = processes(port)
        await asyncio.sleep(3)
        before = cpu(gateway)
        await asyncio.sleep(seconds)
        return (cpu(gateway) - before) / seconds


async def _database(parts: int) -> tuple[float, float, float, float, float]:
    """The commits of a reply of the page (those of any, those of a second), what the database can do, and a notice. Zeros without one."""
    try:
        connection = await asyncpg.connect(DATABASE)
    except (OSError, asyncpg.PostgresError):
        print("no PostgreSQL: the costs of the database are left out")
        return 0.0, 0.0, math.inf, 0.0, 0.0
    name = f"scale_{uuid.uuid4().hex[:8]}"
    await connection.execute(f"CREATE DATABASE {name}")
    address = DATABASE.rpartition("/")[0] + f"/{name}"
    try:
        commits = await _commits(address, 3.0 if parts < 10 else 15.0)
        notice, sent = await _notices(address, 500 * parts)
        short, long = await _page_commits(address, name, 1), await _page_commits(address, name, 6)
    finally:
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await connection.close()
    return max(0.0, short - (long - short) / 5), max(0.0, (long - short) / 5), commits, notice, sent


async def _commits(address: str, seconds: float) -> float:
    """Rows of two kilobytes that are written over each second, each in a transaction of its own."""
    pool = await asyncpg.create_pool(address, min_size=CONNECTIONS, max_size=CONNECTIONS)
    await pool.execute("CREATE TABLE measured (id int PRIMARY KEY, text text)")
    done, end = 0, time.perf_counter() + seconds

    async def write(number: int) -> None:
        nonlocal done
        while time.perf_counter() < end:
            await pool.execute(
                "INSERT INTO measured VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET text = $2",
                number,
                "x" * 2000,
            )
            done += 1

    await asyncio.gather(*map(write, range(CONNECTIONS)))
    await pool.close()
    return done / seconds


async def _notices(address: str, count: int) -> tuple[float, float]:
    """What a notice costs the process that hears it, and the one that sends it."""
    listener, sender = await asyncpg.connect(address), await asyncpg.connect(address)
    heard = 0

    def hear(*notice: Any) -> None:
        nonlocal heard
        json.loads(notice[3])
        heard += 1

    payload = json.dumps({"run": uuid.uuid4().hex, "gateway": uuid.uuid4().hex, "event": 17})
    before = time.process_time()
    for _ in range(count):
        await sender.execute("SELECT pg_notify('scale', $1)", payload)
    sent = (time.process_time() - before) / count
    await listener.add_listener("scale", hear)
    before = time.process_time()
    for _ in range(count):
        await sender.execute("SELECT pg_notify('scale', $1)", payload)
    while heard < count:  # noqa: ASYNC110 (the callback of the driver is no task)
        await asyncio.sleep(0.01)
    both = (time.process_time() - before) / count
    await listener.close()
    await sender.close()
    return max(0.0, both - sent), sent


async def _page_commits(address: str, name: str, seconds: int) -> float:
    """Commits of a reply of the page that takes so long."""
    settings: dict[str, str] = {"DUOLOGUE_DATABASE": address, "DUOLOGUE_RUNS__TITLES": "first"}
    settings |= {"DUOLOGUE_SUPERVISE": "false", "DUOLOGUE_VOICE__ENABLED": "false"}
    watcher = await asyncpg.connect(DATABASE)

    async def counted() -> int:
        await asyncio.sleep(2)  # the statistics come a moment later
        return int(
            await watcher.fetchval("SELECT xact_commit FROM pg_stat_database WHERE datname = $1", name)
        )

    with duologue("--engine", "scripted", **settings) as port:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
            chat = (await http.post("/api/conversations", json={})).json()["id"]
            await asyncio.sleep(2)
            start = await counted()
            await asyncio.sleep(seconds + 2)
            idle = await counted() - start
            start = await counted()
            text = f"/pace 50\n/repeat {20 * seconds} x "
            content = [{"type": "text", "text": text}]
            message = {
                "verb": "send",
                "run": uuid.uuid4().hex,
                "message": {"id": uuid.uuid4().hex, "content": content},
            }
            (await http.post(f"/api/conversations/{chat}/runs", json=message)).raise_for_status()
            await asyncio.sleep(seconds + 2)
            made = await counted() - start
    await watcher.close()
    return float(max(0, made - idle))


@dataclass
class Measured:
    """What a real server did."""

    replies: int = 0
    seconds: float = 0.0
    cores: float = 0.0
    waits: list[float] = field(default_factory=list)

    def wait(self, part: float) -> float:
        ordered = sorted(self.waits)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


async def closed_loop(clients: int, seconds: float, users: Users, models: Models) -> Measured:
    """So many real clients that think, ask, and read a reply at the pace of the model. A wait is what the first chunk took more than with nobody
    else."""
    settings = json.dumps([{"engine": "scripted", "slots": models.slots}] * 2)
    measured = Measured(seconds=seconds)
    chance = random.Random(2)
    with duologue(
        DUOLOGUE_WORKERS=settings, DUOLOGUE_SUPERVISE="false", DUOLOGUE_VOICE__ENABLED="false"
    ) as port:
        gateway, _ = processes(port)
        text = f"/pace {1000 / models.speed:g}\n/repeat {users.tokens_median:g} x "
        alone = [await _first(port, text) for _ in range(3)]
        end = time.perf_counter() + seconds

        async def client() -> None:
            await asyncio.sleep(chance.random() * users.think_mean)
            while time.perf_counter() < end:
                began = time.perf_counter()
                first, last, _ = await stream(port, CHAT, body(text))
                if last < end:
                    measured.replies += 1
                    measured.waits.append(max(0.0, first - began - min(alone)))
                await asyncio.sleep(chance.lognormvariate(math.log(users.think_median), users.think_sigma))

        before = cpu(gateway)
        async with _until(end, gateway, before, measured):
            await asyncio.gather(*(client() for _ in range(clients)))
    return measured


@asynccontextmanager
async def _until(end: float, gateway: int, before: float, measured: Measured) -> AsyncIterator[None]:
    async def look() -> None:
        await asyncio.sleep(max(0.0, end - time.perf_counter()))
        measured.cores = (cpu(gateway) - before) / measured.seconds

    task = asyncio.create_task(look())
    yield
    await task


async def _first(port: int, text: str) -> float:
    began = time.perf_counter()
    first, _, _ = await stream(port, CHAT, body(text))
    return first - began
