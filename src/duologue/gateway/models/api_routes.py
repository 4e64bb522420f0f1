"""`/api/models`: what there is of models, downloads of more, what changes among them, and removing one. For admins.

Owns this HTTP. The picture is the inventory's, the line the downloads', the numbers of events the news'.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import fastapi
from fastapi import APIRouter, Depends, Request
from msgspec import to_builtins
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from duologue.errors import Problem
from duologue.gateway.auth.middleware import admin
from duologue.gateway.models import inventory
from duologue.gateway.models.downloads import Downloads
from duologue.gateway.models.loader import ProbeHardware
from duologue.gateway.scheduling.pool import Pool
from duologue.http.event_log import EventLog, event_response
from duologue.models import local
from duologue.threads import disk_io, hardware_io
from duologue.wire.worker_protocol import LoadSpec

ModelEvent = Mapping[str, object]
"""The JSON of an event of `/api/models/events`; `type` says which."""
READ_AGAIN: tuple[ModelEvent, ...] = ({"type": "loaded"}, {"type": "here"})
"""What a client is sent that missed events: to read both lists again."""


class DownloadBody(BaseModel):
    """A model to download."""

    model_config = ConfigDict(extra="forbid")

    what: str = Field(
        min_length=1,
        max_length=2000,
        description="A name of `available`, OWNER/REPOSITORY, with :QUANTISATION or :FILE behind it if you like, or "
        "the https address of a .gguf file.",
    )


def router(
    pool: Pool, folder: Path, downloads: Downloads, events: EventLog[ModelEvent], look: ProbeHardware | None
) -> APIRouter:
    """The routes. `folder` is where models are kept."""
    routes = APIRouter(prefix="/api/models", tags=["models"], dependencies=[Depends(admin)])
    headers = inventory.Headers()

    @routes.get("", summary="Every model: loaded, here, unfinished, available")
    async def everything() -> dict[str, Any]:
        """Sizes in bytes. `fit` is how a model would do on this machine: on the `card`, `good`, `slow`, or not at all
        for want of `memory` or `disk`."""
        processes = [view.process for view in pool.workers.values() if view.process]
        seen = await hardware_io(look, folder, processes) if look is not None else None
        hardware = seen[0] if seen else None
        files = await disk_io(inventory.files_row, folder, headers, pool.load_specs())
        available = await disk_io(inventory.available_rows, folder, hardware)
        return {
            **files,
            "hardware": inventory.hardware_row(seen),
            "engines": inventory.engine_rows(pool, available, hardware),
            "loaded": inventory.loaded_rows(pool),
            "available": available,
            "downloads": to_builtins(downloads.rows()),
        }

    @routes.post("/downloads", summary="Download a model", status_code=202)
    async def download(asked: DownloadBody) -> dict[str, Any]:
        """One is downloaded at a time, up to eight wait. What an earlier try left is used."""
        row: dict[str, Any] = to_builtins(downloads.ask(asked.what))
        return row

    @routes.delete("/downloads/{id}", summary="Stop a download")
    async def stop(id: Annotated[str, fastapi.Path(max_length=64)]) -> dict[str, Any]:
        """What came is kept, and asking for the same again goes on from there. One that has ended is no longer
        shown."""
        row: dict[str, Any] = to_builtins(await downloads.stop(id))
        return row

    @routes.get("/events", summary="What changes among the models")
    async def follow_events(request: Request) -> Response:
        """Server-sent events with numbers: `download` brings its row; `loaded` and `here` say what to read again."""
        return event_response(request, events.read, events.number)

    @routes.delete("/{name:path}", summary="Remove a model's files")
    async def remove(name: Annotated[str, fastapi.Path(max_length=300)]) -> dict[str, Any]:
        """All its parts, and what is unfinished of it."""
        called, freed = await disk_io(_remove, name, folder, pool.load_specs())
        events.publish({"type": "here"})
        return {"removed": called, "freed": freed}

    return routes


def _remove(name: str, folder: Path, loadouts: list[LoadSpec]) -> tuple[str, int]:
    """The model's name and the bytes freed. Raises Problem `model_loaded`, and what the shelf raises."""
    called, files = local.files_of(name, folder)
    users = inventory.users_of_files(loadouts)
    if workers := [worker for path in files for worker in users.get(path.resolve(), ())]:
        raise Problem(
            f"{called} is loaded by {', '.join(workers)}. Unload it first.",
            code="model_loaded",
            status=409,
        )
    return called, local.take_away(files)
