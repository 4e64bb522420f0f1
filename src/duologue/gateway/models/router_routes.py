"""`/models/load`, `/models/unload` and `/models/sse`, as the router of llama-server has them, for programs that load models by them.

Zed follows the events, Open WebUI loads and unloads. The loader does the work, as for `/v1/model`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Protocol

import msgspec
from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from duologue.gateway.auth.middleware import admin
from duologue.gateway.models.loader import Loader, LoadRequest
from duologue.http.event_log import NumberedEvent
from duologue.http.json_api import user_of
from duologue.http.openapi import documented
from duologue.http.sse import resumable_stream

ModelEvent = Mapping[str, object]
NEWS = frozenset({"loaded", "here"})
"""Types of events after which the list of models is another."""
CHANGED = b"data: " + msgspec.json.encode({"model": "*", "event": "models_reload"}) + b"\n\n"


class RouterModelBody(BaseModel):
    """A model by its name. Unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(min_length=1, max_length=300, description="A name of /v1/model/list.")


class ModelEvents(Protocol):
    """Gives the events about models after a number, by default from now on."""

    def __call__(self, after: int | None = None) -> AsyncGenerator[NumberedEvent[ModelEvent]]: ...


def router(loader: Loader, read: ModelEvents) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/models", tags=["models"])

    @routes.post(
        "/load", summary="Load a model, as llama-server's router does", dependencies=[Depends(admin)]
    )
    async def load(body: RouterModelBody, request: Request) -> dict[str, bool]:
        """Answers when the load has begun; /v1/models and /models/sse say how it goes on."""
        await loader.load(LoadRequest(body.model, user=user_of(request)))
        return {"success": True}

    @routes.post(
        "/unload", summary="Unload a model, as llama-server's router does", dependencies=[Depends(admin)]
    )
    async def unload(body: RouterModelBody) -> dict[str, bool]:
        """Answers when it is gone. Its running replies may end before."""
        await loader.unload(body.model, drain=True)
        return {"success": True}

    followed = documented(says="Events", media="text/event-stream")

    @routes.get(
        "/sse", openapi_extra=followed, summary="Follow the list of models, as llama-server's router has it"
    )
    async def follow() -> Response:
        """`{model: "*", event: "models_reload"}` when the list of /v1/models has changed."""
        return resumable_stream(_changes(read()))

    return routes


async def _changes(events: AsyncGenerator[NumberedEvent[ModelEvent]]) -> AsyncGenerator[bytes]:
    async with aclosing(events):
        async for entry in events:
            if entry.event["type"] in NEWS:
                yield CHANGED
