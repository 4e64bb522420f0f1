"""The conversations service over HTTP, for tests: `from conversation_service import site`.

The real parts (store, files, runs) in a temporary folder, a model that says what it is told to, and one client for
each user.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from duologue.config import Settings
from duologue.conversations import api, service
from duologue.conversations.service import Service
from duologue.errors import Problem
from duologue.store.cluster.cluster_link import alone
from duologue.values.events import Done, Event, Failed, Prefilled, Started, TextDelta, Usage
from duologue.values.requests import ChatRequest, ModelCard

CARD = ModelCard("scripted", "scripted", 4096, verbs=("continue", "count", "tools"), parameters=8_000_000_000)
START = 1_800_000_000_000


class Counted:
    def __init__(self, tokens: int) -> None:
        self.tokens, self.context, self.estimated = tokens, CARD.context, False


class Model:
    """Says `says(request)` word by word, or these events. While `hold` is set and not released it stays silent after the first word."""

    def __init__(self) -> None:
        self.says: Callable[[ChatRequest], str | Failed | list[Event]] = lambda request: (
            f"You said: {request.messages[-1].text}"
        )
        self.asked: list[ChatRequest] = []
        self.hold: anyio.Event | None = None

    @asynccontextmanager
    async def __call__(self, request: ChatRequest, **_: Any) -> AsyncIterator[AsyncIterator[Any]]:
        self.asked.append(request)
        yield self._batches(request)

    async def _batches(self, request: ChatRequest) -> AsyncIterator[list[tuple[int, Event]]]:
        said = self.says(request)
        yield [(0, Started(CARD.name, CARD.context)), (0, Prefilled(10))]
        if isinstance(said, Failed):
            yield [(0, said)]
            return
        if isinstance(said, list):
            yield [(0, event) for event in said]
            return
        first, space, rest = said.partition(" ")
        yield [(0, TextDelta(first + space))]
        if self.hold is not None:
            await self.hold.wait()
        if rest:
            yield [(0, TextDelta(rest))]
        yield [(0, Done("stop", Usage(10, 5)))]

    async def count(self, request: ChatRequest, user: str) -> Counted:
        return Counted(sum(len(message.text) // 4 + 4 for message in request.messages))


class Clock:
    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> int:
        self.at += 1
        return self.at


class Site:
    """The service and its clients."""

    def __init__(self, opened: Service, model: Model, clock: Clock) -> None:
        self.service = opened
        self.model = model
        self.clock = clock
        # Including a router makes FastAPI examine every route once more: half of the time that a site took to make.
        self.app = FastAPI(exception_handlers={Problem: _said}, routes=api.router(opened).routes)
        self._clients: dict[str, httpx.AsyncClient] = {}

    def user(self, name: str) -> httpx.AsyncClient:
        """A client of that user."""
        if name not in self._clients:

            async def app(scope: Any, receive: Any, send: Any) -> None:
                scope["state"] = {"user": name, "role": "admin", "keyed": True}
                await self.app(scope, receive, send)

            transport = httpx.ASGITransport(app=app)
            self._clients[name] = httpx.AsyncClient(transport=transport, base_url="http://test")
        return self._clients[name]

    @property
    def ann(self) -> httpx.AsyncClient:
        return self.user("ann")

    @property
    def bob(self) -> httpx.AsyncClient:
        return self.user("bob")

    async def conversation(self, id: str = "c", **fields: Any) -> dict[str, Any]:
        """A new one of ann."""
        made = await self.ann.post("/api/conversations", json={"id": id, **fields})
        assert made.status_code == 201, made.text
        return made.json()

    async def say(self, text: str, number: int, conversation: str = "c") -> dict[str, Any]:
        """Send as ann and wait for the whole answer; the ids are m1, r1 and so on."""
        begun = await self.send(text, number, conversation)
        assert begun.status_code == 202, begun.text
        await self.events(f"r{number}")
        return begun.json()

    async def send(self, text: str, number: int, conversation: str = "c", **fields: Any) -> httpx.Response:
        body = {
            "verb": "send",
            "run": f"r{number}",
            "message": {"id": f"m{number}", "content": [{"type": "text", "text": text}]},
        }
        return await self.ann.post(f"/api/conversations/{conversation}/runs", json=body | fields)

    async def events(self, run: str, after: int | None = None) -> list[tuple[int, dict[str, Any]]]:
        """A run's events to its end, numbered."""
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        with anyio.fail_after(60):
            stream = await self.ann.get(f"/api/runs/{run}/events", headers=headers)
        assert stream.status_code == 200, stream.text
        return parsed(stream.text)

    async def whole(self, conversation: str = "c") -> dict[str, Any]:
        found = await self.ann.get(f"/api/conversations/{conversation}")
        assert found.status_code == 200, found.text
        return found.json()

    async def texts(self, conversation: str = "c") -> list[str]:
        """The text of every message, by sequence."""
        rows = (await self.whole(conversation))["messages"]
        return ["".join(part.get("text", "") for part in row.get("content", ())) for row in rows]


def parsed(stream: str) -> list[tuple[int, dict[str, Any]]]:
    """The events of a stream, with their numbers."""
    import json

    found = []
    for block in stream.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and line[0] != ":")
        if "data" in fields:
            found.append((int(fields["id"]), json.loads(fields["data"])))
    return found


@asynccontextmanager
async def opened_site(
    data: Path,
    *,
    card: ModelCard = CARD,
    join: service.Join = lambda database: nullcontext(alone()),
    **settings: Any,
) -> AsyncIterator[Site]:
    """The service over a data folder: closed and opened again it is a server that was started anew. `join`: as one of several
    gateways."""
    model, clock = Model(), Clock()
    async with service.opened(
        Settings(data=data, **settings),
        generate=model,
        resolve=lambda name: card,
        count=model.count,
        now=clock,
        join=join,
    ) as opened:
        yield Site(opened, model, clock)


@pytest.fixture
async def site(tmp_path: Path, anyio_backend: str) -> AsyncIterator[Site]:
    async with opened_site(tmp_path) as made:
        yield made


async def _said(request: Request, problem: Exception) -> JSONResponse:
    assert isinstance(problem, Problem)
    return JSONResponse(
        {"error": {"code": problem.code, "message": problem.message, "param": problem.param}}, problem.status
    )
