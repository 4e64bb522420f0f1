"""Measure how many calls a server carries, its recognition delay, stutter beside chats, and leaks after long use.

    python bench/bench_calls.py [--silent 30] [--speaking 20] [--seconds 20] [--chats 8] [--soak MINUTES] [--callers 16]

Every caller has its own process and socket and speaks in real time; the probe is an additional caller for whom the time from
its first word to the server's answer is measured. With `--soak` only the soak test runs: callers talk, interrupt, type, hang up
and call again, and at the end no seat and no task may be left, and no more memory in use than after the first minute.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx

from duologue.client.http import Client
from duplex.crowd import Crowd, Member, clips, converse, probe, speak_all_the_time
from duplex.server import Server, family_seconds, machine_load, memory, serving
from duplex.sounds import Clip, Voices
from duplex.table import Row, milliseconds, printed

MOST_GROWTH = 25 * 2**20
"""Bytes the processes may hold after a soak beyond what they held in the middle of it."""
MANY = {"DUOLOGUE_VOICE__SEATS": "64", "DUOLOGUE_LIMITS__SOCKETS_PER_USER": "200"}
"""Settings of a server for a crowd of one user."""
LAG = 0.1
"""Seconds that the crowd may make the server hear later."""


@asynccontextmanager
async def crowd(
    server: Server, count: int, spoken: list[Clip], seconds: float, deeds: Any
) -> AsyncIterator[Crowd]:
    """So many callers around what is done in the context."""
    around = Crowd()
    async with anyio.create_task_group() as tasks:
        for number in range(count):
            tasks.start_soon(Member(around, number, spoken, noise=None).be, server.url, seconds + 60, deeds)
            await anyio.sleep(0.05)
        yield around
        tasks.cancel_scope.cancel()


async def lag(
    server: Server, count: int, spoken: list[Clip], seconds: float, deeds: Any
) -> tuple[Crowd, float]:
    """How late a probe is heard among so many callers, and the share of a core the voice worker took, its children too."""
    worker = server.voice_worker()
    probing = Crowd()
    async with crowd(server, count, spoken, seconds, deeds) as around:
        await anyio.sleep(2.0)
        began, used = time.monotonic(), family_seconds(worker)
        await Member(probing, 1000, spoken).be(server.url, seconds, probe)
        share = (family_seconds(worker) - used) / (time.monotonic() - began)
        probing.problems += around.problems
        probing.queued += around.queued
    return probing, share


async def listeners(server: Server, options: argparse.Namespace, spoken: list[Clip]) -> list[Row]:
    """Callers who are silent, callers who all speak, against one caller alone."""
    alone, share = await lag(server, 0, spoken, options.seconds, None)
    rows = [
        Row(
            "onset to `hearing`, one caller alone",
            "",
            f"{milliseconds(alone.onsets)}; worker {share:.0%} of a core",
        ),
        Row("end of speech to its transcript, one caller alone", "", milliseconds(alone.transcripts)),
    ]
    for count, what, deeds in (
        (options.silent, "silent", None),
        (options.speaking, "speaking all the time", speak_all_the_time),
    ):
        among, share = await lag(server, count, spoken, options.seconds, deeds)
        later = among.median - alone.median
        told = f"{milliseconds(among.onsets)}; {later * 1000:+.0f} ms; worker {share:.0%} of a core, callers {among.late * 1000:.0f} ms behind"
        reached = later <= LAG and not among.problems and not among.queued
        rows.append(
            Row(f"the same among {count} callers, {what}", f"{LAG * 1000:.0f} ms later", told, reached)
        )
        slower = statistics.median(among.transcripts or [math.inf]) - statistics.median(alone.transcripts)
        rows.append(
            Row(
                f"its transcript among {count} callers, {what}",
                "",
                f"{milliseconds(among.transcripts)}; {slower * 1000:+.0f} ms",
            )
        )
        rows += [Row("a call broke", "", problem, reached=False) for problem in among.problems[:3]]
    return rows


async def beside_chats(options: argparse.Namespace, spoken: list[Clip]) -> list[Row]:
    """Two callers hear long replies while chats of the bundled model run without a pause."""
    rows = []
    with serving("bundled", "--slots", str(options.chats)) as server:
        for chats in (0, options.chats):
            two = Crowd()
            async with anyio.create_task_group() as tasks:
                for _ in range(chats):
                    tasks.start_soon(_chat, server)
                async with anyio.create_task_group() as calls:
                    for number in range(2):
                        calls.start_soon(Member(two, number, spoken).be, server.url, options.seconds, _ask_on)
                tasks.cancel_scope.cancel()
            worst = max(two.gaps, default=0.0)
            long = sum(gap > 0.2 for gap in two.gaps)
            rows.append(
                Row(
                    f"gaps in 2 calls beside {chats} chats",
                    "none over 200 ms" if chats else "",
                    f"{long} over 200 ms of {len(two.gaps)}, worst {worst * 1000:.0f} ms; {two.replies} replies",
                    (long == 0 and two.replies > 0 and not two.problems) if chats else None,
                )
            )
    return rows


async def _ask_on(member: Member, call: Any) -> None:
    while True:
        await call.tell(
            "text", text=f"Tell me in three sentences what you can do. Number {member.chance.random():.3f}."
        )
        await anyio.sleep(8.0)


async def _chat(server: Server) -> None:
    """A chat that never rests."""
    body = {
        "messages": [{"role": "user", "content": "Tell me about Duologue."}],
        "max_tokens": 200,
        "stream": True,
    }
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        while True:
            async with client.stream("POST", "/v1/chat/completions", json=body) as answer:
                async for _ in answer.aiter_raw():
                    pass


async def soak(options: argparse.Namespace, spoken: list[Clip]) -> list[Row]:
    """Callers who talk for the given time, hanging up every half minute."""
    end = time.monotonic() + options.soak * 60
    with serving(
        "scripted", "--log-level", "warning", **MANY | {"DUOLOGUE_VOICE__SEATS": str(options.callers)}
    ) as server:
        total = Crowd()
        kept: list[dict[int, int]] = []
        processes, voice = server.processes(), server.voice_worker()
        while not kept or time.monotonic() < end:
            around = Crowd()
            length = min(30.0, max(10.0, end - time.monotonic()))
            async with anyio.create_task_group() as tasks:
                for number in range(options.callers):
                    tasks.start_soon(
                        Member(around, number, spoken).be, server.url, length - number % 7, converse
                    )
            await anyio.sleep(1.0)
            kept.append({process: memory(process) for process in processes})
            _gather(total, around)
        seats = await _free_seats(server, options.callers)
        # Caches fill in the first minutes; a leak still grows in the second half.
        points = kept[0], kept[len(kept) // 2], kept[-1]
        grown = {process: points[2][process] - points[1][process] for process in processes}
        log = server.log.read_text()
    rows = [
        Row("seats given back", str(options.callers), str(seats), seats == options.callers),
        Row(
            "memory after the first half minute, in the middle and at the end",
            f"+{MOST_GROWTH >> 20} MB from the middle on",
            ", ".join(
                "/".join(str(point[process] >> 20) for point in points) + " MB" for process in processes
            ),
            max(grown.values()) <= MOST_GROWTH,
        ),
        Row(
            "memory of the voice worker, each tenth of the time",
            "",
            "/".join(str(point[voice] >> 20) for point in kept[:: max(1, len(kept) // 10)]) + " MB",
        ),
        Row("replies, interrupted ones", "", f"{total.replies}, {total.interrupted}", total.interrupted > 0),
        Row("crossed voices", "0", f"{len(total.crossed)} {total.crossed[:1]}", not total.crossed),
        Row("stale after a cancel", "0", str(total.stale), total.stale == 0),
        Row(
            "gaps over 200 ms",
            "",
            f"{sum(gap > 0.2 for gap in total.gaps)}, worst {max(total.gaps, default=0) * 1000:.0f} ms",
        ),
        Row("onset to `hearing`", "", milliseconds(total.onsets)),
        Row("callers behind their own clock", "", f"{total.late * 1000:.0f} ms worst"),
        Row(
            "calls that broke, traces in the log",
            "0, 0",
            f"{len(total.problems)} {total.problems[:1]}, {log.count('Traceback')}",
            not total.problems and "Traceback" not in log,
        ),
    ]
    return rows


def _gather(total: Crowd, around: Crowd) -> None:
    total.replies += around.replies
    total.interrupted += around.interrupted
    total.crossed += around.crossed
    total.stale += around.stale
    total.gaps += around.gaps
    total.onsets += around.onsets
    total.late = max(total.late, around.late)
    total.problems += around.problems


async def _free_seats(server: Server, count: int) -> int:
    """How many of so many calls get a seat at once."""
    seated = 0

    async def sit(number: int) -> None:
        nonlocal seated
        async with Client(server.url) as client:
            socket = await client.connect("/ws/voice")
            await socket.send(json.dumps({"type": "start", "greeting": "Yes."}))
            with anyio.move_on_after(10):
                while True:
                    frame = await socket.recv()
                    if isinstance(frame, bytes):
                        seated += 1
                        await anyio.sleep(10)
                    elif '"queued"' in frame:
                        break
            await socket.close()

    async with anyio.create_task_group() as tasks:
        for number in range(count):
            tasks.start_soon(sit, number)
    return seated


async def run(options: argparse.Namespace) -> bool:
    voices = Voices()
    spoken = await clips(voices)
    before = machine_load()
    if options.soak:
        rows = await soak(options, spoken)
    else:
        with serving("scripted", **MANY) as server:
            rows = await listeners(server, options, spoken)
        rows += await beside_chats(options, spoken)
    print(f"before: {before}; after: {machine_load()}\n")
    return printed(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--silent", type=int, default=30)
    parser.add_argument("--speaking", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--chats", type=int, default=8)
    parser.add_argument("--soak", type=float, default=0.0, help="minutes")
    parser.add_argument("--callers", type=int, default=16)
    raise SystemExit(0 if anyio.run(run, parser.parse_args()) else 1)


if __name__ == "__main__":
    main()
