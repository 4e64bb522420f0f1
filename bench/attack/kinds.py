"""The kinds of attack, each a coroutine that sends its share and counts what it was answered.

`runner` calls them one after the other. All chance comes from one seed: file number 17 of a seed is always the same bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from time import monotonic
from typing import Any

from attack import connections, guessing
from attack.answer_counts import AnswerCounts
from attack.bombs import BOMBS
from attack.delivery import Sender, doors
from attack.exchange import Line, NoAnswer, ask, request
from attack.frames import MESSAGES, Speaker
from attack.mutations import mutated
from attack.routes import Routes
from attack.samples import TOKENS, gguf_header, samples
from attack.server import ATTACKERS, Server

FILE_TASKS = 6
REQUEST_TASKS = 6
SOCKET_TASKS = 6
CONNECTION_TASKS = 30
FRAMES_PER_SOCKET = 60
GGUF_FILES = 40


@dataclass
class Share:
    """What one kind of attack is to do, and what it has done. `until` is when it must stop, by `monotonic`."""

    server: Server
    seed: int
    count: int
    until: float
    answers: AnswerCounts = field(default_factory=AnswerCounts)
    sent: int = 0

    @property
    def is_over(self) -> bool:
        return monotonic() > self.until

    def dice(self, *place: object) -> Random:
        return Random(f"{self.seed} {place}")

    def key(self, number: int) -> str:
        return self.server.keys[ATTACKERS[number % len(ATTACKERS)]]


async def by_tasks(count: int, work: Callable[[int], Awaitable[None]]) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(_as_coroutine(work(number)))


async def _as_coroutine(work: Awaitable[None]) -> None:
    await work


async def files(share: Share) -> None:
    """Mutations of real files of every kind, through every door that reads them."""
    real = samples()
    kinds = sorted(real)

    async def send(task: int) -> None:
        sender = Sender(share.server.port, share.key(task), share.answers)
        for number in range(task, share.count, FILE_TASKS):
            if share.is_over:
                break
            dice = share.dice("file", number)
            kind = kinds[number % len(kinds)]
            other = real[dice.choice(kinds)] if dice.random() < 0.2 else real[kind]
            data = mutated(dice.choice(real[kind]), dice, TOKENS.get(kind, ()), other)
            await sender.deliver(data, f"file{number}.{kind}", kind, doors(kind, dice))
            share.sent += 1
        sender.close()

    await by_tasks(FILE_TASKS, send)


async def bombs(share: Share) -> None:
    """Files written by hand to hurt, at most `count` of them; the same order for every seed but shuffled by it."""
    everything = list(BOMBS)
    share.dice("bombs").shuffle(everything)
    chosen = iter(everything[: share.count])

    async def send(task: int) -> None:
        sender = Sender(share.server.port, share.key(task), share.answers)
        for kind, name, make in chosen:
            if share.is_over:
                break
            data = await asyncio.to_thread(make)
            ways = share.dice("door", name).choice(all_doors(kind))
            file = f"{name.replace(' ', '_')}.{ending(kind, name)}"
            await sender.deliver(data, file, ending(kind, name), ways)
            share.sent += 1
        sender.close()

    await by_tasks(3, send)


def all_doors(kind: str) -> Sequence[tuple[str, ...]]:
    """The ways a bomb is sent, of which the dice choose one: many take their whole deadline."""
    match kind:
        case "zip":
            return (("import",), ("import",), ("upload", "message"))
        case "wav":
            return (("transcription",), ("upload", "message"), ("completion",))
        case "pdf":
            return (("upload", "thumbnail", "message"), ("upload", "pages"))
    return (("upload", "thumbnail", "message"), ("upload", "thumbnail"), ("completion",))


def ending(kind: str, name: str) -> str:
    """The ending of a bomb's name: that of its table, or the first word of its name where that is a kind."""
    first = name.partition(" ")[0]
    return first if kind in ("png", "wav") else kind


async def model_files(share: Share) -> None:
    """Damaged headers of models in the folder of models, listed and loaded by an admin."""
    folder = share.server.data / "models"
    folder.mkdir(exist_ok=True)
    header = gguf_header()
    port, root = share.server.port, share.server.keys["root"]
    for begin in range(0, share.count, GGUF_FILES):
        names = []
        for number in range(begin, min(begin + GGUF_FILES, share.count)):
            name = f"damaged{number}"
            (folder / f"{name}.gguf").write_bytes(mutated(header, share.dice("gguf", number), TOKENS["gguf"]))
            names.append(name)
        for method, path, body in (
            ("GET", "/v1/model/list", None),
            ("GET", "/api/models", None),
            *(
                ("POST", "/v1/model/load", json.dumps({"name": name, "stream": False}).encode())
                for name in names[:2]
            ),
        ):
            with contextlib.suppress(NoAnswer):
                share.answers.answer(await ask(port, method, path, key=root, body=body, seconds=60), path)
        for name in names:
            (folder / f"{name}.gguf").unlink(missing_ok=True)
            share.sent += 1
        if share.is_over:
            break


async def requests(share: Share) -> None:
    """Every route of the server's own document with what its fields do not expect; a tenth without a key."""
    answer = await ask(share.server.port, "GET", "/openapi.json", key=share.key(0), seconds=60)
    document: dict[str, Any] = answer.json() or {}
    ids = ["m1", "r1", "c1"]
    for name in ATTACKERS:
        made = await ask(
            share.server.port, "POST", "/api/conversations", key=share.server.keys[name], body=b"{}"
        )
        ids.append(str((made.json() or {}).get("id", "c1")))
    routes = Routes(document, ids)

    async def send(task: int) -> None:
        async with Line(share.server.port, seconds=60) as line:
            for number in range(task, share.count, REQUEST_TASKS):
                if share.is_over:
                    break
                dice = share.dice("request", number)
                wanted = routes.request(number, dice)
                key = "" if dice.random() < 0.1 else share.key(task)
                sent = request(wanted.method, wanted.path, key=key, body=wanted.body, headers=wanted.headers)
                try:
                    answer = await line.send(sent, only_head=wanted.method == "HEAD")
                    if wanted.method != "HEAD":
                        share.answers.answer(answer, wanted.label)
                except NoAnswer as error:
                    share.answers.fault(f"no answer: {error}", wanted.label)
                share.sent += 1

    await by_tasks(REQUEST_TASKS, send)


async def frames(share: Share) -> None:
    """Messages and frames for every socket."""
    paths = sorted(MESSAGES)

    async def send(task: int) -> None:
        speaker = Speaker(share.server.port, share.key(task), share.answers)
        number = task
        while speaker.sent < share.count / SOCKET_TASKS and not share.is_over:
            dice = share.dice("socket", number)
            before = speaker.sent
            await speaker.speak(
                paths[number % len(paths)],
                dice.choice((1, 5, FRAMES_PER_SOCKET, 3 * FRAMES_PER_SOCKET)),
                dice,
            )
            share.sent += speaker.sent - before
            number += SOCKET_TASKS

    await by_tasks(SOCKET_TASKS, send)


async def broken_connections(share: Share) -> None:
    """Connections that are slow, silent, flooded or half; at most CONNECTION_TASKS at once."""

    async def send(task: int) -> None:
        for number in range(task, share.count, CONNECTION_TASKS):
            if share.is_over:
                break
            await connections.one(share.server.port, share.dice("connection", number), share.answers)
            share.sent += 1

    await by_tasks(CONNECTION_TASKS, send)
    held = min(40, share.count)
    await connections.hold(share.server.port, held, min(12.0, max(1.0, share.count / 20)), share.answers)
    share.sent += held


async def guesses(share: Share) -> None:
    """Wrong keys, and then the right one."""
    await guessing.guess_keys(
        share.server.port, share.server.keys["trudy"], share.count, share.dice("guess"), share.answers
    )
    share.sent += share.count


KINDS: dict[str, Callable[[Share], Awaitable[None]]] = {
    "files": files,
    "bombs": bombs,
    "model-files": model_files,
    "requests": requests,
    "frames": frames,
    "connections": broken_connections,
    "guesses": guesses,
}
