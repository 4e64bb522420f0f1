"""Kill the server repeatedly while it writes, then check that everything it confirmed is still there.

    python bench/kills.py [--times 200] [--seed 1]

Each time a client sends a message, follows the reply, and meanwhile creates conversations, renames them and writes
drafts; at a random moment every process of the server is killed (`kill -9`). After the next start there must be

* the effect of every command that was answered: conversations, titles, messages;
* all of the reply's text that the client saw except the last second, and no text that was never sent;
* a complete tree: every parent exists, nothing is running, the run has ended, and its log agrees with the message.

Every other time the interrupted reply is then continued, so that recovered conversations are written to as well. At the end
the database must pass its own check. Prints how much text was missing; on a violation, describes it and exits with 1.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from load import free_port, wait_ready

WORDS = 4000
PACE_MS = 4
LOST_S = 1.0
"""Seconds of a reply's text that may be missing."""
LATEST_S = 2.5
"""Seconds after its beginning at which a reply is killed at the latest."""
SAID = " ".join(f"word{number}" for number in range(WORDS))

Json = dict[str, Any]


class Disorder(Exception):
    """Something the server confirmed is missing or wrong."""


@dataclass
class Promise:
    """What the server confirmed as stored, and the part of the reply that the client saw."""

    titles: dict[str, str] = field(default_factory=dict)
    drafts: dict[str, str] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    """Message id -> conversation."""
    run: str = ""
    conversation: str = ""
    seen: list[tuple[float, str]] = field(default_factory=list)
    """When, and the text so far."""


class Server:
    """The server, and the processes to kill."""

    def __init__(self, data: Path) -> None:
        self.port = free_port()
        self.log = data / "log"
        command = [sys.executable, "-m", "duologue", "serve", "--port", str(self.port), "--data", str(data)]
        command += ["--engine", "scripted", "--log-level", "warning", "--no-supervise"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                cwd=data,
                start_new_session=True,
                env={key: value for key, value in os.environ.items() if not key.startswith("DUOLOGUE_")},
            )
        wait_ready(f"http://127.0.0.1:{self.port}/ready", self.process)

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}/api", timeout=20)

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.kill()


async def command(client: httpx.AsyncClient, method: str, path: str, body: object = None) -> Json:
    answer = await client.request(method, path, json=body)
    if answer.status_code >= 300:
        raise Disorder(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
    return answer.json() if answer.content else {}


async def write(client: httpx.AsyncClient, promise: Promise, numbers: Any) -> None:
    """Commands, one after the other, until the server is gone."""
    while True:
        number = next(numbers)
        id = f"conversation{number}"
        await command(client, "POST", "/conversations", {"id": id})
        promise.titles[id] = ""
        await command(client, "PATCH", f"/conversations/{id}", {"title": f"Title {number}"})
        promise.titles[id] = f"Title {number}"
        await command(client, "PUT", f"/drafts/{id}", {"text": f"Draft {number}"})
        promise.drafts[id] = f"Draft {number}"


async def follow(client: httpx.AsyncClient, promise: Promise, run: str, text: str) -> None:
    """Read a reply as a page does, until the server is gone."""
    async with client.stream("GET", f"/runs/{run}/events") as answer:
        async for line in answer.aiter_lines():
            if not line.startswith("data:"):
                continue
            event = json.loads(line[5:])
            if event["type"] == "message_added" and event["message"]["role"] == "assistant":
                text = text_of(event["message"])
            elif event["type"] == "delta" and event["kind"] == "text":
                text += event["text"]
                promise.seen.append((time.monotonic(), text))


async def trouble(
    server: Server, chance: random.Random, promise: Promise, numbers: Any, goes_on: str
) -> float:
    """Write and stream, then kill; when it was killed."""
    async with server.client() as client:
        run = f"run{next(numbers)}"
        if goes_on:
            verb: Json = {"verb": "continue", "run": run, "message": goes_on}
        else:
            promise.conversation = f"talk{next(numbers)}"
            await command(client, "POST", "/conversations", {"id": promise.conversation})
            promise.titles[promise.conversation] = ""
            message = {"id": f"message{run}", "content": [{"type": "text", "text": script()}]}
            verb = {"verb": "send", "run": run, "message": message}
        await command(client, "POST", f"/conversations/{promise.conversation}/runs", verb)
        promise.titles.pop(promise.conversation, None)
        if not goes_on:
            promise.messages[f"message{run}"] = promise.conversation
        promise.run = run
        works = [
            asyncio.ensure_future(write(client, promise, numbers)),
            asyncio.ensure_future(follow(client, promise, run, "")),
        ]
        await asyncio.sleep(chance.uniform(0.0, LATEST_S))
        server.kill()
        killed = time.monotonic()
        for work in works:
            with contextlib.suppress(httpx.HTTPError, asyncio.CancelledError):
                await asyncio.wait_for(work, 5)
        return killed


def script() -> str:
    return f"/pace {PACE_MS}\n/say {SAID}"


def text_of(row: Json) -> str:
    return "".join(part["text"] for part in row.get("content", []) if part["type"] == "text")


async def look(server: Server, promise: Promise, killed: float) -> tuple[float, str]:
    """Compare the stored data with the confirmed; returns the seconds of text missing and the interrupted message."""
    async with server.client() as client:
        for id, title in promise.titles.items():
            found = (await command(client, "GET", f"/conversations/{id}"))["conversation"]
            if (
                found.get("title", "") != title
                and f"{found.get('title', '')}".removeprefix("Title ") not in id
            ):
                raise Disorder(f"{id} is called {found.get('title')!r}, not {title!r}")
        for id, draft in promise.drafts.items():
            found = await command(client, "GET", f"/drafts/{id}")
            if draft not in json.dumps(found):
                raise Disorder(f"the draft of {id} is {found}")
        whole = await command(client, "GET", f"/conversations/{promise.conversation}")
        rows = {row["id"]: row for row in whole["messages"]}
        for id, conversation in promise.messages.items():
            if conversation == promise.conversation and id not in rows:
                raise Disorder(f"the message {id} is missing")
        check_tree(whole, rows)
        run = await command(client, "GET", f"/runs/{promise.run}")
        if run.get("outcome") is None:
            raise Disorder(f"{promise.run} has not ended")
        row = next(row for row in reversed(whole["messages"]) if row["role"] == "assistant")
        text = text_of(row)
        if not SAID.startswith(text):
            raise Disorder(f"the reply holds what was never said: ...{text[-80:]!r}")
        if await replayed(client, promise.run, row["id"]) != text:
            raise Disorder("the log of the run has another text than the row")
    missing = [at for at, seen in promise.seen if len(seen) > len(text)]
    return (killed - missing[0] if missing else 0.0), row["id"]


def check_tree(whole: Json, rows: dict[str, Json]) -> None:
    for row in rows.values():
        if row["parent"] is not None and row["parent"] not in rows:
            raise Disorder(f"the parent of {row['id']} is missing")
        if row.get("status") == "running":
            raise Disorder(f"{row['id']} is still running")
    conversation = whole["conversation"]
    if conversation.get("running") or whole["run"]:
        raise Disorder("the conversation is still running")
    if conversation.get("leaf") not in rows:
        raise Disorder("the conversation shows a row that is missing")


async def replayed(client: httpx.AsyncClient, run: str, row: str) -> str:
    """The text of a row as one who follows the run now has it."""
    text = ""
    async with client.stream("GET", f"/runs/{run}/events") as answer:
        async for line in answer.aiter_lines():
            event = json.loads(line[5:]) if line.startswith("data:") else {}
            if event.get("message") == row and event.get("kind") == "text":
                text += event["text"]
            elif isinstance(event.get("message"), dict) and event["message"]["id"] == row:
                text = text_of(event["message"])
    return text


def check_database(data: Path) -> None:
    with contextlib.closing(sqlite3.connect(data / "duologue.db")) as database:
        for question in ("PRAGMA integrity_check", "PRAGMA foreign_key_check"):
            found = database.execute(question).fetchall()
            if found not in ([], [("ok",)]):
                raise Disorder(f"{question}: {found[:3]}")


def run(times: int, seed: int, data: Path) -> None:
    chance, numbers = random.Random(seed), iter(range(1, sys.maxsize))
    promise, goes_on, lost = Promise(), "", []
    began = time.perf_counter()
    server = Server(data)
    try:
        for number in range(1, times + 1):
            promise.seen.clear()
            promise.titles.clear()
            promise.drafts.clear()
            killed = asyncio.run(trouble(server, chance, promise, numbers, goes_on))
            server = Server(data)
            missing, row = asyncio.run(look(server, promise, killed))
            lost.append(missing)
            if missing > LOST_S:
                raise Disorder(f"{missing:.2f} s of text are missing, of {LOST_S:g} at most")
            goes_on = row if number % 2 else ""
            if sys.stdout.isatty():
                print(
                    f"\r{number} of {times}, at most {max(lost):.2f} s of text missing ", end="", flush=True
                )
    finally:
        server.end()
    check_database(data)
    middle = sorted(lost)[len(lost) // 2]
    print(
        f"\n{times} kills in {time.perf_counter() - began:.0f} s: every answered command was kept, no tree was "
        f"broken, {max(lost):.2f} s of text missing at most, {middle:.2f} s in the middle"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=200, help="how often the server is killed")
    parser.add_argument("--seed", type=int, default=1, help="when")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            run(options.times, options.seed, Path(folder))
        except (Disorder, SystemExit) as disorder:
            tail = Path(folder, "log").read_text(errors="replace")[-2000:]
            raise SystemExit(f"{disorder}\n{tail}") from None


if __name__ == "__main__":
    main()
