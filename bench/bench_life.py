"""Measure the life of the server and its workers: a drain under load, kills under load, hangs, and long conversations.

    python bench/bench_life.py [drain|kills|hang|turns ...] [--kills 200] [--streams 32] [--every 3.5] [--rounds 5] [--turns 20]

* `drain`: streams that take three seconds are under way when the server gets SIGTERM. None may be cut; requests that come later must
  be refused with a code and a time.
* `kills`: clients stream from four workers, of which one is killed (`kill -9`) again and again, slowly enough that none counts as one
  that keeps crashing (with one second between kills all four were given up after half a minute, as they should be). Every client must be answered, with its
  whole reply or with an error that names its cause, and at the end nothing may be left: no slot, no waiting request, no process, no file.
* `hang`: a worker is suspended in the middle of a reply. Prints the seconds until its client is told, and until another process is
  there; the budget is 10 s.
* `turns`: the work until the first token at turn 20 of a conversation against turn 1, on a model of 118 million parameters with random
  weights that this makes, beside the same of llama.cpp alone, which reads the same tokens after the same others; the budget is 1.2 times
  its ratio. The messages are of one length, so with a cache that works only the new one is read, and this counts its tokens. Work is
  processor time of all processes of the server: on a busy machine the time on the clock says nothing.

All but `turns` use the scripted engine. Exits with 1 where something was cut, lost or left, or a budget was exceeded.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from load import duologue

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

TOLD = {"worker_lost", "server_stopping", "model_unavailable", "queue_full", "engine_stalled"}
"""The errors that are an answer: they say what happened, and a client may ask again."""
BUDGET_HANG_S = 10.0
BUDGET_TURNS = 1.2
MESSAGE = "Tell me in a few words what one sees from this window on an ordinary day of the year, and what one hears."
WRITTEN = "root ::= [a-z]{12}"
"""Random weights write random bytes, which are no text: a grammar has them write letters, in every turn alike."""
failures: list[str] = []


def judge(good: bool, sentence: str) -> None:
    print(f"  {'ok  ' if good else 'BAD '} {sentence}")
    if not good:
        failures.append(sentence)


class Reply:
    """What became of one streamed reply: `end` is "whole", an error's code, a status, or "cut"."""

    def __init__(self) -> None:
        self.end = "cut"
        self.first = float("nan")
        self.text = ""


async def stream(client: httpx.AsyncClient, text: str, began: Callable[[], None] = lambda: None) -> Reply:
    reply, start = Reply(), time.perf_counter()
    body = {"stream": True, "messages": [{"role": "user", "content": text}]}
    try:
        async with client.stream("POST", "/v1/chat/completions", json=body) as response:
            if response.status_code != 200:
                error = json.loads(await response.aread())["error"]
                reply.end = str(error["code"])
                if response.status_code == 503 and "retry-after" not in response.headers:
                    reply.end = "no Retry-After"
                return reply
            async for line in response.aiter_lines():
                if line == "data: [DONE]":
                    reply.end = "whole"
                elif line.startswith("data: "):
                    event = json.loads(line[6:])
                    if "error" in event:
                        reply.end = str(event["error"]["code"])
                        return reply
                    delta = event["choices"][0]["delta"].get("content") if event["choices"] else None
                    if delta:
                        if not reply.text:
                            reply.first = time.perf_counter() - start
                            began()
                        reply.text += delta
    except httpx.TransportError as error:
        reply.end = f"cut ({type(error).__name__})"
    return reply


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


async def until(true: Callable[[], Awaitable[bool]], seconds: float = 120.0) -> None:
    """Look again until it is true, or the time is over."""
    end = time.monotonic() + seconds
    while not await true() and time.monotonic() < end:  # noqa: ASYNC110 (what is waited for is another process)
        await asyncio.sleep(0.02)


async def workers(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    return list((await client.get("/workers")).json()["workers"])


def local(port: int) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120, limits=limits)


# ---- a drain


async def drain(options: argparse.Namespace) -> None:
    print(f"drain: {options.streams} streams under way, then SIGTERM")
    slots = ["--engine", "scripted", "--slots", str(options.streams), "--no-supervise"]
    with duologue(*slots, DUOLOGUE_LIFECYCLE__DRAIN_S="60") as port:
        async with local(port) as client, local(port) as late:
            begun = asyncio.Semaphore(0)
            script = "/pace 30\n/repeat 100 word "
            running = [
                asyncio.create_task(stream(client, script, begun.release)) for _ in range(options.streams)
            ]
            for _ in running:
                await begun.acquire()
            server = int((await late.get("/workers")).json()["workers"][0]["process"])
            parent = parent_of(server)
            os.kill(parent, signal.SIGTERM)

            async def drains() -> bool:
                return (await late.get("/ready")).status_code != 200

            await until(drains)
            ready = (await late.get("/ready")).json()["error"]["code"]
            refused = await stream(late, "hello")
            ends = Counter(reply.end for reply in await asyncio.gather(*running))
    judge(ends == {"whole": options.streams}, f"replies: {dict(ends)}")
    judge(refused.end == ready == "server_draining", f"later requests: {refused.end}; /ready: {ready}")


# ---- kills


async def kills(options: argparse.Namespace) -> None:
    print(
        f"kills: {options.kills} of four workers under {options.streams} streams, one every {options.every:g} s"
    )
    with duologue("--engine", "scripted", "--copies", "4", "--slots", "16", "--no-supervise") as port:
        async with local(port) as client, local(port) as admin:
            rows = await workers(admin)
            gateway = parent_of(rows[0]["process"])
            await stream(client, "warm up")
            before = left_of(gateway)
            ends, stop = Counter[str](), asyncio.Event()

            async def talk() -> None:
                while not stop.is_set():
                    reply = await stream(client, "/pace 20\n/repeat 40 word ")
                    ends[reply.end] += 1
                    if reply.end != "whole":
                        await asyncio.sleep(0.2)  # a client that is refused waits before it asks again

            talkers = [asyncio.create_task(talk()) for _ in range(options.streams)]
            killed: list[int] = []
            seen: dict[int, None] = {}
            while len(killed) < options.kills:
                await asyncio.sleep(options.every)
                alive = [
                    row["process"] for row in await workers(admin) if row["process"] and row["slots_total"]
                ]
                seen |= dict.fromkeys(alive)
                # The one that has been ready for longest: by lot, one of the four is soon killed five times within its first ten seconds.
                oldest = next((process for process in seen if process in alive), 0)
                if oldest and oldest not in killed:
                    os.kill(oldest, signal.SIGKILL)
                    killed.append(oldest)
            stop.set()
            await asyncio.gather(*talkers)

            async def all_idle() -> bool:
                return all(row["status"] == "idle" for row in await workers(admin))

            await until(all_idle, 400.0)
            status = (await admin.get("/status")).json()
            after = left_of(gateway)
    unanswered = {end: count for end, count in ends.items() if end != "whole" and end not in TOLD}
    judge(
        not unanswered,
        f"{sum(ends.values())} requests: {dict(ends.most_common())}; unanswered: {unanswered or 'none'}",
    )
    judge(
        status["slots_busy"] == status["queue_length"] == 0,
        f"slots busy {status['slots_busy']}, waiting {status['queue_length']}",
    )
    judge(
        status["idle_workers"] == len(rows), f"workers ready again: {status['idle_workers']} of {len(rows)}"
    )
    judge(after[0] <= before[0], f"processes of the gateway: {before[0]} before, {after[0]} after")
    # The clients' connections are kept alive for a while.
    judge(
        after[1] <= before[1] + options.streams + 8,
        f"open files of the gateway: {before[1]} before, {after[1]} after",
    )
    print(f"  memory of the gateway: {before[2] / 2**20:.0f} MiB before, {after[2] / 2**20:.0f} MiB after")


def left_of(gateway: int) -> tuple[int, int, int]:
    """Child processes of the gateway, its open files, and its bytes of memory."""
    children = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            children += int(stat.read_text().rpartition(")")[2].split()[1]) == gateway
        except (OSError, IndexError):
            continue
    files = len(list(Path(f"/proc/{gateway}/fd").iterdir()))
    resident = int(Path(f"/proc/{gateway}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return children, files, resident


# ---- hangs


async def replaced_by_another(admin: httpx.AsyncClient, old: int) -> bool:
    row = (await workers(admin))[0]
    return row["process"] not in (0, old) and row["status"] == "idle"


async def hang(options: argparse.Namespace) -> None:
    print(f"hang: a worker is suspended {options.rounds} times")
    told, replaced = [], []
    with duologue("--engine", "scripted", "--no-supervise") as port:
        async with local(port) as client, local(port) as admin:
            for _ in range(options.rounds):
                begun = asyncio.Event()
                running = asyncio.create_task(stream(client, "/say Hello\n/hang", begun.set))
                await begun.wait()
                stopped = (await workers(admin))[0]["process"]
                os.kill(stopped, signal.SIGSTOP)
                start = time.perf_counter()
                reply = await running
                told.append(time.perf_counter() - start)
                if reply.end != "worker_lost":
                    failures.append(f"the client heard {reply.end}")
                await until(partial(replaced_by_another, admin, stopped))
                replaced.append(time.perf_counter() - start)
                # One that is replaced again and again would be given up.
                await admin.post(f"/api/admin/workers/{(await workers(admin))[0]['worker_id']}/restart")
                await until(lambda: replaced_by_another(admin, 0))
    print(f"  told after {statistics.median(told):.1f} s, at most {max(told):.1f} s")
    judge(
        max(replaced) <= BUDGET_HANG_S,
        f"replaced and ready after {statistics.median(replaced):.1f} s, at most {max(replaced):.1f} s of {BUDGET_HANG_S:g} s",
    )


# ---- long conversations


async def turns(options: argparse.Namespace) -> None:
    from tests.support.tiny_model import TinyModel, write_tiny_model

    print(f"turns: turn {options.turns} against turn 1")
    shape = TinyModel(embedding=1024, blocks=7, feed_forward=4096, heads=16, kv_heads=16, context=8192)
    with tempfile.TemporaryDirectory() as folder:
        path = write_tiny_model(Path(folder, "large.gguf"), shape)
        print(f"  {path.stat().st_size / 4e6:.0f} million parameters")
        rounds = await served_turns(path, options.rounds, options.turns)
        alone = EngineAlone(path)
        for turn in (turn for conversation in rounds for turn in conversation):
            alone.read(turn)
    for at in (0, options.turns // 2, options.turns - 1):
        show_turn(at + 1, [conversation[at] for conversation in rounds])
    new = max(turn.total - turn.cached for conversation in rounds for turn in conversation[1:])
    # The end of the reply is read with the message: two letters that are one token to the tokenizer may have been written as two.
    judge(
        new <= 4 * len(MESSAGE) // 3, f"tokens read at a later turn: at most {new} of {rounds[0][-1].total}"
    )
    ratios = (
        statistics.median(talk[-1].served / talk[0].served for talk in rounds),
        statistics.median(talk[-1].alone / talk[0].alone for talk in rounds),
    )
    judge(
        ratios[0] / ratios[1] <= BUDGET_TURNS,
        f"turn {options.turns} against turn 1: {ratios[0]:.2f}, the engine alone {ratios[1]:.2f}, so {ratios[0] / ratios[1]:.2f} of {BUDGET_TURNS}",
    )


class Turn:
    """One turn: its prompt, and the seconds of work until the first token and for each token after it, of the server and of the engine alone."""

    def __init__(
        self, tokens: list[int], total: int, cached: int, served: float, each: float, text: str
    ) -> None:
        self.tokens, self.total, self.cached = tokens, total, cached
        self.served, self.served_each, self.text = served, each, text
        self.alone = self.alone_each = float("nan")


def show_turn(number: int, turns: list[Turn]) -> None:
    def middle(measure: Callable[[Turn], float]) -> float:
        return 1000 * statistics.median(map(measure, turns))

    print(
        f"  turn {number}: {turns[0].total} tokens, {turns[0].total - turns[0].cached} of them new; work until the first token "
        f"{middle(lambda turn: turn.served):.0f} ms (engine alone {middle(lambda turn: turn.alone):.0f}), then "
        f"{middle(lambda turn: turn.served_each):.1f} ms a token ({middle(lambda turn: turn.alone_each):.1f})"
    )


async def served_turns(path: Path, rounds: int, count: int) -> list[list[Turn]]:
    """Conversations over the server, after one that warms up."""
    kept: list[list[Turn]] = []
    sizes = ("--slots", "1", "--context", "8192")
    with duologue("--model", str(path), *sizes, "--no-supervise") as port:
        async with local(port) as client:
            worker = (await workers(client))[0]["process"]
            processes = [worker, parent_of(worker)]
            for number in range(rounds + 1):
                messages: list[dict[str, str]] = []
                conversation: list[Turn] = []
                for turn in range(count):
                    # The first words differ, so that no round finds the cache of another one.
                    messages.append({"role": "user", "content": f"{number:02}{turn:02} {MESSAGE}"})
                    made = await one_turn(client, messages, processes)
                    messages.append({"role": "assistant", "content": made.text})
                    conversation.append(made)
                if number:
                    kept.append(conversation)
    return kept


def work_of(processes: list[int]) -> float:
    """Seconds of processor time of these processes so far, by the clock that Linux has for each."""
    return sum(time.clock_gettime((~process << 3) | 2) for process in processes)


async def one_turn(client: httpx.AsyncClient, messages: list[dict[str, str]], processes: list[int]) -> Turn:
    prompt = (await client.post("/apply-template", json={"messages": messages})).json()["prompt"]
    asked = {"content": prompt, "parse_special": True, "add_special": False}
    tokens = (await client.post("/tokenize", json=asked)).json()["tokens"]
    body = {"stream": True, "messages": messages, "max_tokens": 16, "grammar": WRITTEN}
    body["stream_options"] = {"include_usage": True}
    before, times, text, usage = work_of(processes), list[float](), "", dict[str, Any]()
    async with client.stream("POST", "/v1/chat/completions", json=body) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                event = json.loads(line[6:])
                if "error" in event:
                    raise SystemExit(event["error"]["message"])
                usage = event.get("usage") or usage
                delta = event["choices"][0]["delta"] if event["choices"] else {}
                if delta.get("content"):
                    times.append(work_of(processes))
                    text += delta["content"]
    if not times:
        raise SystemExit("the model wrote nothing that can be shown")
    each = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else float("nan")
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    return Turn(tokens, usage["prompt_tokens"], cached, times[0] - before, each, text)


class EngineAlone:
    """llama.cpp in this process, with the sizes that the server gives it, and nothing of the server around it."""

    def __init__(self, path: Path) -> None:
        from duologue.engines.hardware import machine_limits
        from duologue.engines.llama.memory_plan import LlamaOptions, plan
        from duologue.engines.llama.model_server import start_server
        from duologue.models.gguf.header import read

        asked = LlamaOptions(model=str(path), slots=1, context=8192)
        header = read(path)
        self._server = start_server(header, None, asked, plan(header, asked, machine_limits(0)), "key", ())

    def read(self, turn: Turn) -> None:
        """Measure what it takes after the tokens that the server had in its cache."""
        if turn.cached:
            self._complete(turn.tokens[: turn.cached], 1)
        times = self._complete(turn.tokens, 13)
        turn.alone, turn.alone_each = times[0], (times[-1] - times[0]) / (len(times) - 1)

    def _complete(self, tokens: list[int], count: int) -> list[float]:
        """Seconds of work until each token."""
        request = {"prompt": tokens, "id_slot": 0, "cache_prompt": True, "stream": True, "n_predict": count}
        request |= {"ignore_eos": True, "grammar": WRITTEN.replace("{12}", "{20}")}
        times, before = list[float](), time.process_time()

        def on_chunk(data: bytes) -> bool:
            if json.loads(data).get("choices"):
                times.append(time.process_time() - before)
            return False

        self._server.handle_completions(json.dumps(request).encode(), on_chunk)
        return times


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = {"drain": drain, "kills": kills, "hang": hang, "turns": turns}
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--streams", type=int, default=32)
    parser.add_argument("--every", type=float, default=3.5, help="seconds between two kills")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=20)
    options = parser.parse_args()
    if unknown := set(options.parts) - set(parts):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    for name in options.parts or parts:
        asyncio.run(parts[name](options))
    if failures:
        print(f"\n{len(failures)} findings")
        sys.exit(1)
    print("\nnothing was cut, lost or left")


if __name__ == "__main__":
    main()
