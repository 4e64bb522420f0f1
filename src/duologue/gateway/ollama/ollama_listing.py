"""Ollama's `/api/tags`, `/api/show`, `/api/ps` and `/api/version`, and the greeting at `/`."""

from __future__ import annotations

import time
from collections.abc import Callable

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.ollama.model_details import ModelDetails
from duologue.gateway.ollama.ollama_names import OllamaNames
from duologue.http.json_api import answer, body_of
from duologue.http.openapi import documented
from duologue.threads import disk_io
from duologue.wire.ollama.ollama_models import OllamaShowBody
from duologue.wire.validation import validate

VERSION = "0.14.0"
"""The version of Ollama that clients are told: the one by which it had every API that this port serves, the last of them
`/v1/messages`. Clients compare it with what they need (tool calls in streams: 0.8, `think`: 0.9, logprobs: 0.12.11)."""
GREETING = "Ollama is running"


def router(
    models: ModelRegistry,
    names: OllamaNames,
    details: ModelDetails,
    *,
    clock: Callable[[], float] = time.time,
) -> APIRouter:
    """The routes. `clock` gives seconds since 1970."""
    routes = APIRouter(tags=["Ollama"])

    @routes.get("/", include_in_schema=False)
    @routes.head("/", include_in_schema=False)
    async def greet() -> Response:
        """By this clients find out whether the server runs, without a key."""
        return PlainTextResponse(GREETING)

    @routes.get(
        "/api/version", summary="The version", openapi_extra=documented(answers=dict[str, str], says="It")
    )
    @routes.head("/api/version", include_in_schema=False)
    async def version() -> Response:
        """The version of Ollama whose API this is."""
        return answer({"version": VERSION})

    @routes.get(
        "/api/tags",
        summary="List the models",
        openapi_extra=documented(answers=dict[str, object], says="`models`: one entry each"),
    )
    @routes.head("/api/tags", include_in_schema=False)
    async def list_models() -> Response:
        """The loaded models, the default one first, those of connected servers, aliases, then those that can be loaded."""
        aliases = models.aliases()
        listed = await disk_io(details.all, models.cards(), aliases)
        allowed = [model for model in listed if model.name in aliases or models.allows(model.name)]
        return answer({"models": [model.listed() for model in allowed]})

    @routes.get(
        "/api/ps",
        summary="List the loaded models",
        openapi_extra=documented(answers=dict[str, object], says="`models`: one entry each"),
    )
    async def list_loaded() -> Response:
        """The models with a worker of their own. They stay loaded, so they expire in a hundred years."""
        cards = [card for card in models.cards() if card.context and not card.upstream]
        rows = [
            (await disk_io(details.loaded, card)).running(
                clock(), card.context, on_card=card.device not in ("", "cpu")
            )
            for card in cards
        ]
        return answer({"models": rows})

    @routes.post(
        "/api/show",
        summary="Everything about a model",
        openapi_extra=documented(body=OllamaShowBody, answers=dict[str, object], says="The model"),
    )
    async def show(request: Request) -> Response:
        """Of a loaded model what it can do here, of another what its file shows."""
        name = await names.own(validate(OllamaShowBody, await body_of(request)).named())
        model, shown = await disk_io(details.shown, name, models.find(name))
        return answer(shown.body(model))

    return routes
