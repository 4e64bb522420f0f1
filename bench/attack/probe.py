"""What others feel: a process of its own that asks `/health` and for a first token, again and again, and notes the seconds.

    python -m attack.probe PORT KEY SECONDS

It prints one JSON line for each question: `["health" or "token", when (monotonic), seconds or null]`. The parent runs it as
`Probe`; `latencies` is the arithmetic. It speaks from an address of its own, 127.0.0.77, because bounds by address are to
hit the attacker and nobody else.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from attack.exchange import HOST, NoAnswer, ask, request

BENCH = str(Path(__file__).resolve().parents[1])
SOURCE = "127.0.0.77"
HEALTH_EVERY = 0.1
TOKEN_EVERY = 0.25
GIVE_UP = 20.0
"""Seconds: an answer that takes longer counts as never."""
CHAT: dict[str, object] = {"messages": [{"role": "user", "content": "/say Hello"}], "stream": True}


class Latency(NamedTuple):
    """Seconds of the answers: the middle one, the slowest; and the questions that were not answered."""

    asked: int
    median: float
    slowest: float
    unanswered: int


class Question(NamedTuple):
    """One line of the probe. `seconds` None: no answer."""

    kind: str
    at: float
    seconds: float | None


def latencies(questions: list[Question], kind: str, since: float, until: float) -> Latency:
    """Of the questions of this kind asked in this span of time. An unanswered one counts as slow as it was given up."""
    asked = [each for each in questions if each.kind == kind and since <= each.at < until]
    taken = sorted(each.seconds if each.seconds is not None else GIVE_UP for each in asked)
    if not taken:
        return Latency(0, 0.0, 0.0, 0)
    return Latency(len(taken), taken[len(taken) // 2], taken[-1], sum(each.seconds is None for each in asked))


class Probe:
    """The running probe: started with the server, stopped at the end; `questions` grow meanwhile."""

    def __init__(self, port: int, key: str, *, model: str = "", tokens: bool = True) -> None:
        self.questions: list[Question] = []
        self._arguments = [str(port), key or "-", model or "-", "tokens" if tokens else "health"]
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "attack.probe",
            *self._arguments,
            stdout=asyncio.subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": BENCH},
        )
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            kind, at, seconds = json.loads(line)
            self.questions.append(Question(kind, at, seconds))

    async def stop(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        if self._reading is not None:
            await self._reading


def say(kind: str, at: float, seconds: float | None) -> None:
    sys.stdout.write(json.dumps([kind, at, seconds]) + "\n")
    sys.stdout.flush()


async def ask_health(port: int) -> None:
    while True:
        at = monotonic()
        try:
            answer = await ask(port, "GET", "/health", seconds=GIVE_UP, source=SOURCE)
            say("health", at, monotonic() - at if answer.status == 200 else None)
        except NoAnswer:
            say("health", at, None)
        await asyncio.sleep(max(0.0, at + HEALTH_EVERY - monotonic()))


async def ask_token(port: int, key: str, model: str) -> None:
    body = CHAT | ({"model": model, "max_tokens": 4} if model not in ("", "default") else {"max_tokens": 4})
    sent = request("POST", "/v1/chat/completions", key=key, body=json.dumps(body).encode())
    while True:
        at = monotonic()
        try:
            async with asyncio.timeout(GIVE_UP):
                reader, writer = await asyncio.open_connection(HOST, port, local_addr=(SOURCE, 0))
                try:
                    writer.write(sent)
                    is_answered = b" 200 " in await reader.readline()
                    if is_answered:
                        await reader.readuntil(b'"content":')
                    say("token", at, monotonic() - at if is_answered else None)
                finally:
                    writer.close()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            say("token", at, None)
        await asyncio.sleep(max(0.0, at + TOKEN_EVERY - monotonic()))


async def main(port: int, key: str, model: str, mode: str) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(ask_health(port))
        if mode == "tokens":
            group.create_task(ask_token(port, "" if key == "-" else key, "" if model == "-" else model))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), *sys.argv[2:5]))
