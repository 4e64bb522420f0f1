"""Ollama's API as an application of its own, for its port: our own `/api` keeps its names on the main one.

Same process, same keys, same pipeline and limits as the main application, which answers `/v1` here too. `server` runs it where the
setting `compat.ollama.enabled` says so.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from duologue import __version__
from duologue.errors import BadRequest
from duologue.gateway.app import Gateway
from duologue.gateway.auth import middleware, sessions
from duologue.gateway.body_limits import MEGABYTE, json_limit
from duologue.gateway.dialects.reply import ReplyPipeline
from duologue.gateway.middleware.body_limit import BodyLimit
from duologue.gateway.middleware.bytes_in_flight import BytesInFlight
from duologue.gateway.ollama import ollama_downloads, ollama_embeddings, ollama_listing, ollama_replies
from duologue.gateway.ollama.model_details import ModelDetails
from duologue.gateway.ollama.ollama_embeddings import Embedder
from duologue.gateway.ollama.ollama_names import OllamaNames
from duologue.http.error_responses import ERROR_SHAPE, exception_handlers, is_openai
from duologue.http.openapi_document import describe_completely, operation_id
from duologue.threads import ThreadLane, disk_io
from duologue.wire.ollama.ollama_reply import error_body

ERROR = {
    "description": "An error: a sentence that says what to do.",
    "content": {
        "application/json": {
            "schema": {
                "title": "OllamaError",
                "type": "object",
                "properties": {"error": {"type": "string"}},
                "required": ["error"],
            }
        }
    },
}


def ollama_port(gateway: Gateway, embedder: Embedder | None = None) -> ASGIApp:
    """The application: Ollama's API, and `/v1` of the gateway's own. The middleware of every request goes around it."""
    return _Paths(_application(gateway, embedder), gateway.app)


class OllamaErrors:
    """Gives the errors of a port Ollama's shape, those of `/v1` excepted. The outermost: refusals of all middleware have it too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            scope.setdefault("state", {})[ERROR_SHAPE] = _shape
        await self._app(scope, receive, send)


class _Paths:
    def __init__(self, ollama: ASGIApp, openai: ASGIApp) -> None:
        self._ollama, self._openai = ollama, openai

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_v1 = scope["type"] == "http" and is_openai(scope["path"])
        await (self._openai if is_v1 else self._ollama)(scope, receive, send)


def _shape(body: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    return body if is_openai(path) else error_body(body)


def _application(gateway: Gateway, embedder: Embedder | None) -> FastAPI:
    settings, service = gateway.settings, gateway.model_service
    media = settings.limits.body_mb * MEGABYTE, "limits.body_mb"
    app = FastAPI(
        title="Duologue: Ollama's API",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        servers=[{"url": "."}],
        generate_unique_id_function=operation_id,
        middleware=[
            Middleware(
                middleware.Authentication,
                gateway.keys,
                # Nobody logs in here: a key comes with every request.
                sessions.LoginSessions(gateway.keys),
                cookie=middleware.cookie_name(settings.compat.ollama.port),
                open_files={"/"},
                guessing=gateway.guessing,
            ),
            gateway.accounts.recording(),
            Middleware(BytesInFlight, gateway.ledger),
            Middleware(BodyLimit, *json_limit(settings), others={"/api/chat": media, "/api/generate": media}),
        ],
        exception_handlers=exception_handlers(),
    )
    names = OllamaNames(gateway.models, gateway.requested_models, service.available)
    details = ModelDetails(service.available, time.time())
    pipeline = ReplyPipeline(gateway.generate, gateway.speech)

    async def unload(name: str) -> None:
        card = gateway.models.find(name)
        if card is None:
            await disk_io(service.available.find, name)  # one that is not loaded, or none at all
        elif card.upstream:
            raise BadRequest(f"{card.name} is a model of a connected server; it cannot be unloaded here.")
        else:
            await service.loader.unload(card.name)

    app.include_router(ollama_listing.router(gateway.models, names, details))
    app.include_router(ollama_replies.router(pipeline, names, unload, limits=settings.limits))
    app.include_router(
        ollama_downloads.router(
            names, service.downloads, gateway.pool, service.available.folder, service.events
        )
    )
    app.include_router(ollama_embeddings.router(names, embedder, settings.limits))
    describe_completely(app, ThreadLane(1).run, _describe_errors)
    return app


def _describe_errors(document: dict[str, Any]) -> None:
    """The description of the routes, with errors as this port has them."""
    for methods in document["paths"].values():
        for operation in methods.values():
            operation["responses"]["default"] = ERROR
