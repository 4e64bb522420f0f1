"""A pool of one worker with the scripted engine, without processes: for the routes that ask about models and choose for them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import httpx
import msgspec
from fastapi import APIRouter, FastAPI
from fastapi.responses import JSONResponse
from tests.support.stand_in import StandIn

from duologue.engines.contracts import LanguageEngine
from duologue.engines.scripted.language import ScriptedEngine
from duologue.errors import Problem, Unsupported
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.scheduling.model_tuning import ModelTuning
from duologue.gateway.scheduling.served_models import ServedModels
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.http.error_responses import problem_body, problem_status
from duologue.sessions.chat.answers import answer
from duologue.values.requests import ModelCard
from duologue.wire.worker_protocol import LoadSpec


class _Slots:
    def occupied(self, worker: str) -> tuple[bool, ...]:
        return (True, False)


class AskedPool(StandIn):
    """`questions`: what was asked, with the user. `fails`: the state that a restarted worker gets."""

    def __init__(
        self, engine: LanguageEngine | None = None, options: Mapping[str, Any] | None = None
    ) -> None:
        self.engine = engine or ScriptedEngine("m", context=500)
        self.tuning = ModelTuning()
        self.scheduler = _Slots()
        self.status = WorkerStatus(
            "w", "m", self.engine.card.engine, "cpu", state="ready", card=self.engine.card
        )
        self.workers = {"w": self.status}
        self.spec = LoadSpec("w", self.engine.card.engine, "m", dict(options or {}))
        self.questions: list[tuple[Any, str]] = []
        self.templates: list[tuple[str, str, str]] = []
        self.restarts: list[LoadSpec] = []
        self.fails = False

    def cards(self) -> list[ModelCard]:
        return [] if self.status.card is None else [self.status.card]

    async def ask(self, question: Any, kind: type, user: str = "") -> Any:
        self.questions.append((question, user))
        found = await answer(self.engine, question, now=datetime(2031, 5, 4))
        assert isinstance(found, kind)
        return found

    def served(self) -> ServedModels:
        return ServedModels(self.workers.values())

    def workers_of(self, model: str) -> list[WorkerStatus]:
        return list(self.workers.values())

    def load_spec(self, worker: str) -> LoadSpec:
        return self.spec

    def change_spec(self, worker: str, spec: LoadSpec) -> None:
        self.spec = spec

    def restart(self, worker: str, cause: str = "admin") -> None:
        """The worker comes up with the adapters of its spec, or fails the first time."""
        self.restarts.append(self.spec)
        self.status.state = "failed" if self.fails and len(self.restarts) == 1 else "ready"
        self.status.detail = "No." if self.status.state == "failed" else ""
        loras = self.spec.options["loras"]
        assert isinstance(loras, dict)
        names = tuple(str(path).rpartition("/")[2].removesuffix(".gguf") for path in loras)
        assert self.status.card is not None
        self.status.card = msgspec.structs.replace(self.status.card, adapters=names)

    async def use_template(self, model: str, path: str, source: str) -> None:
        if "broken" in source:
            raise Unsupported("The template cannot be read.", code="template_error")
        self.templates.append((model, path, source))

    @property
    def registry(self) -> ModelRegistry:
        return ModelRegistry(self.cards, {"alias": "m"})


def asking(*routers: APIRouter, role: str = "admin", user: str = "ada") -> httpx.AsyncClient:
    """A client of these routes, signed in."""
    app = FastAPI()
    for router in routers:
        app.include_router(router)

    @app.exception_handler(Problem)
    async def answer_problem(request: Any, problem: Problem) -> JSONResponse:
        return JSONResponse(problem_body(problem, request.url.path), problem_status(problem))

    async def signed_in(scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = {"user": user, "role": role}
        await app(scope, receive, send)

    return httpx.AsyncClient(transport=httpx.ASGITransport(signed_in), base_url="http://test")
