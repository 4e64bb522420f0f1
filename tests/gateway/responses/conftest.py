"""The Responses API over a script and a database in memory, on a real server, with the official client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import anyio
import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from openai import AsyncOpenAI

from duologue.config.sections.responses import ResponseSettings
from duologue.config.settings import LimitSettings
from duologue.conversations.files.blobs import Blobs
from duologue.errors import Problem
from duologue.gateway.dialects.reply import ReplyPipeline
from duologue.gateway.media.references import MediaReferences
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.responses import conversation_routes, response_routes
from duologue.gateway.responses.background import Allowed, anyone
from duologue.gateway.responses.service import ResponseService
from duologue.gateway.speech.service import SpeechService
from duologue.http.error_responses import problem_body, problem_status
from duologue.store.database import Database
from duologue.store.stores import Store
from duologue.values.events import Done, Prefilled, Started, TextDelta, Usage
from duologue.values.questions.worker_answers import Counted
from duologue.values.requests import ChatRequest, ModelCard

VERBS = ("tools", "tool_choice", "format", "logprobs", "count", "thinking")
SEER = ModelCard("mini", "scripted", 100, verbs=VERBS, modalities=("text", "image"))
PLAIN = ModelCard("plain", "scripted", 1024)
NOW = 1_700_000_000


class Bench:
    """The service and what is around it. `ann` and `bob` are clients of two users; `plain` speaks HTTP."""

    def __init__(self, script: Any) -> None:
        self.script = script
        self.settings = ResponseSettings(background=2)
        self.limits = LimitSettings()
        self.counted: list[ChatRequest] = []
        self.address = ""
        self._stack = AsyncExitStack()

    async def open(self, stack: AsyncExitStack, serve: Any) -> None:
        self.tasks = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(self.tasks.cancel_scope.cancel)
        self.database = await stack.enter_async_context(Database.memory())
        self.at = NOW * 1000
        self.store = Store(self.database, lambda: self.at)
        self.blobs = Blobs.in_memory(self.store.blobs, limit=2**20, now=lambda: self.at)
        self.service = self.new_service()
        await self.tasks.start(self.service.run, self.store, self.blobs)
        self.address = await stack.enter_async_context(serve(self.application()))
        # Without types: what a union of the client's holds is what these tests are about.
        self.ann: Any = await stack.enter_async_context(self.client("ann"))
        self.bob: Any = await stack.enter_async_context(self.client("bob"))
        self.plain = await stack.enter_async_context(
            httpx.AsyncClient(base_url=f"http://{self.address}/v1", headers={"x-user": "ann"}, timeout=60)
        )

    def new_service(self, allowed: Allowed = anyone) -> ResponseService:
        return ResponseService(
            ReplyPipeline(self.script, SpeechService(None)),
            MediaReferences(self.limits),
            limits=self.limits,
            settings=self.settings,
            count=self.count,
            clock=lambda: float(NOW),
            allowed=allowed,
        )

    def client(self, user: str) -> AsyncOpenAI:
        return AsyncOpenAI(
            base_url=f"http://{self.address}/v1",
            api_key="any",
            max_retries=0,
            timeout=60,
            default_headers={"x-user": user},
        )

    async def count(self, request: ChatRequest, user: str) -> Counted:
        """Ten tokens for each message."""
        self.counted.append(request)
        return Counted(10 * len(request.messages), 100)

    def application(self) -> Any:
        app = FastAPI()
        models = ModelRegistry(lambda: (SEER, PLAIN))
        app.include_router(response_routes.router(self.service, RequestedModels(models), self.limits))
        app.include_router(conversation_routes.router(self.service, self.limits))

        async def answer(request: Request, problem: Exception) -> JSONResponse:
            return JSONResponse(problem_body(problem, request.url.path), problem_status(problem))

        app.add_exception_handler(Problem, answer)

        async def with_user(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                headers = dict(scope["headers"])
                scope.setdefault("state", {})["user"] = headers.get(b"x-user", b"local").decode()
            await app(scope, receive, send)

        return with_user

    def says(self, *words: str) -> None:
        """What the next replies are."""
        usage = Usage(input=7, output=len(words))
        self.script.plays(
            Started("mini"), Prefilled(7), *(TextDelta(word) for word in words), Done("stop", usage)
        )

    def asked(self, number: int = -1) -> list[tuple[str, str]]:
        """The messages of a request that reached the model: roles and texts."""
        return [(message.role, message.text) for message in self.script.requests[number].messages]


@pytest.fixture
async def bench(script: Any, serve: Any) -> AsyncIterator[Bench]:
    made = Bench(script)
    made.says("Hel", "lo")
    async with AsyncExitStack() as stack:
        await made.open(stack, serve)
        yield made
