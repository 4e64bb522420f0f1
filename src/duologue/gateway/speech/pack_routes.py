"""`/api/voice/packs`, for admins: the voice packs, choosing one, removing one, and events about both."""

from __future__ import annotations

from typing import Annotated, Any

import fastapi
from fastapi import APIRouter, Depends, Request
from msgspec import to_builtins
from starlette.responses import Response

from duologue.gateway.auth.middleware import admin
from duologue.gateway.speech.pack_service import VoicePacks
from duologue.http.event_log import event_response

PackName = Annotated[str, fastapi.Path(max_length=64)]


def router(packs: VoicePacks) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/api/voice/packs", tags=["voice"], dependencies=[Depends(admin)])

    @routes.get("", summary="Voice packs: recogniser and voice, by language")
    async def list_packs() -> dict[str, Any]:
        """Sizes in bytes. `active` is the pack in use, `built-in` for the engines of the settings; `job` the pack that is being
        installed, or the last one that was; `settings` a sentence where the settings decide."""
        return await packs.view()

    @routes.get("/events", summary="Events about voice packs")
    async def follow_events(request: Request) -> Response:
        """Numbered server-sent events: `pack` has the job; `packs` says to read the list again."""
        return event_response(request, packs.events.read, packs.events.number)

    @routes.post("/{name}", summary="Download a voice pack and use it", status_code=202)
    async def use(name: PackName) -> dict[str, Any]:
        """Downloads what is missing, loads the voice with it beside the running one, and has new calls use it; calls that
        are open end with the voice they began with. `built-in` returns to the engines of the settings."""
        job: dict[str, Any] = to_builtins(packs.use(name))
        return job

    @routes.delete("/{name}", summary="Remove a voice pack, or stop installing it")
    async def remove(name: PackName) -> dict[str, Any]:
        """Models that another installed pack needs stay. What was downloaded of a stopped pack stays, and is resumed."""
        return {"removed": name, "freed": await packs.remove(name)}

    return routes
