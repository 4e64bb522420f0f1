"""Record loads for `bench_queue.py`: what replies took on a real server, as files that the simulator replays.

    python bench/record_queue_loads.py [--folder bench/queue_loads] [NAME ...]

Asks a server with the scripted engine at the pace of a middling model, and writes for each request when it came, whose it was, the characters of
its prompt, its bound on tokens, and from the answer its tokens and the seconds of reading and writing. Lengths are drawn here from distributions
that replies have (log-normal); the times are those of the server, with the noise of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from pathlib import Path
from typing import Any

import httpx

from load import duologue

PACE = 20
"""Milliseconds of a token."""
READ = 0.4
"""Milliseconds of a character of the prompt."""


def planned(at: float, share: str, tokens: float, prompt: int = 200, most: int = 1000) -> dict[str, Any]:
    return {"at": at, "share": share, "tokens": max(1, round(tokens)), "prompt": prompt, "most": most}


def even(rng: random.Random) -> list[dict[str, Any]]:
    """Similar replies for five keys, about 100 tokens each, a little more than two slots can do."""
    return [
        planned(number * 0.95 + rng.random() * 0.4, "abcde"[number % 5], rng.lognormvariate(4.6, 0.25))
        for number in range(70)
    ]


def mixed(rng: random.Random) -> list[dict[str, Any]]:
    """Short replies of about 25 tokens, and one in eight of about 500, which nothing announces."""
    return [
        planned(
            number * 0.85 + rng.random() * 0.4,
            "abcde"[number % 5],
            rng.lognormvariate(6.2, 0.25) if number % 8 == 3 else rng.lognormvariate(3.2, 0.35),
        )
        for number in range(88)
    ]


def bounded(rng: random.Random) -> list[dict[str, Any]]:
    """Prompts from a line to several pages, and bounds on tokens from 20 to 400, most of which are reached."""
    return [
        planned(
            number * 1.7 + rng.random() * 0.6,
            "abc"[number % 3],
            rng.lognormvariate(5.6, 0.5),
            rng.choice((100, 100, 800, 4000, 8000)),
            rng.choice((20, 60, 200, 400)),
        )
        for number in range(70)
    ]


LOADS = {"even": even, "mixed": mixed, "bounded": bounded}


async def ask(client: httpx.AsyncClient, began: float, request: dict[str, Any]) -> dict[str, Any] | None:
    await asyncio.sleep(max(0.0, began + request["at"] - time.monotonic()))
    script = f"/read 4 {READ * request['prompt'] / 4:.0f}\n/pace {PACE}\n/repeat {request['tokens']} x\n"
    body = {
        "messages": [{"role": "user", "content": script.ljust(request["prompt"])}],
        "max_tokens": request["most"],
    }
    answer = await client.post("/v1/chat/completions", json=body)
    if answer.status_code != 200:
        return None
    told = answer.json()
    times, usage = told["timings"], told["usage"]
    return {
        "at": round(request["at"], 2),
        "share": request["share"],
        "kind": "chat",
        "prompt": request["prompt"],
        "most": request["most"],
        "tokens": usage["completion_tokens"],
        "reading": round(times["prefill_ms"] / 1000, 3),
        "writing": round(times["generate_ms"] / 1000, 3),
    }


async def record(port: int, name: str) -> list[dict[str, Any]]:
    plan = LOADS[name](random.Random(name))
    began = time.monotonic()
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", timeout=600, limits=httpx.Limits(max_connections=200)
    ) as client:
        rows = await asyncio.gather(*(ask(client, began, request) for request in plan))
    return [row for row in rows if row is not None]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "queue_loads")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("names", nargs="*", default=list(LOADS))
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    for name in options.names:
        with duologue("--engine", "scripted", "--slots", str(options.slots)) as port:
            rows = asyncio.run(record(port, name))
        about = (LOADS[name].__doc__ or "").strip()
        lines = ",\n".join(json.dumps(row) for row in rows)
        text = f'{{"about": {json.dumps(about)},\n"slots": {options.slots},\n"requests": [\n{lines}\n]}}\n'
        (options.folder / f"{name}.json").write_text(text)
        print(f"{name}: {len(rows)} requests")


if __name__ == "__main__":
    main()
