"""`/api/models`, for admins: the list of models, the default one, what the next start loads, downloads, events, and deleting files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from duologue.gateway.models.loader import Loader, ProbeHardware, repeated
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.remembered import RememberedModels
from duologue.gateway.models.v1_routes import load_response
from duologue.gateway.scheduling.pool import Pool
from duologue.http.event_log import EventLog, event_response
from duologue.http.json_api import user_of
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
        description="A name of `available`, OWNER/REPOSITORY, optionally followed by :QUANTISATION or :FILE, or "
        "the https URL of a .gguf file.",
    )
    use: bool = Field(
        default=False, description="Load it when it is complete, and make it the default model."
    )


class DefaultBody(BaseModel):
    """The model that answers where none is named."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=300, description="The name of a loaded model.")


class RetryBody(BaseModel):
    """How to load a remembered model again."""

    model_config = ConfigDict(extra="forbid")

    force: bool = Field(default=False, description="Load it even if memory is short.")
    stream: bool = Field(default=True, description="Stream the progress; false: one answer at the end.")


def router(
    pool: Pool,
    folder: Path,
    downloads: Downloads,
    events: EventLog[ModelEvent],
    probe_hardware: ProbeHardware | None,
    *,
    loader: Loader,
    remembered: RememberedModels,
    models: ModelRegistry,
) -> APIRouter:
    """The routes. `folder`: where models are stored."""
    routes = APIRouter(prefix="/api/models", tags=["models"], dependencies=[Depends(admin)])
    headers = inventory.Headers()
    _add_remembered(routes, loader, remembered, models, lambda: events.publish({"type": "loaded"}))

    @routes.get("", summary="All models: loaded, remembered, on disk, unfinished, available")
    async def list_models() -> dict[str, Any]:
        """Sizes in bytes. `fit`: how well a model would run on this machine: on the `card`, `good`, `slow`, or not at all for lack
        of `memory` or `disk`."""
        processes = [status.process for status in pool.workers.values() if status.process]
        report = await hardware_io(probe_hardware, folder, processes) if probe_hardware is not None else None
        hardware = report[0] if report else None
        files = await disk_io(inventory.files_row, folder, headers, pool.load_specs(), hardware)
        available = await disk_io(inventory.available_rows, folder, hardware)
        return {
            **files,
            "hardware": inventory.hardware_row(report),
            "loaded": inventory.loaded_rows(pool, remembered),
            "remembered": inventory.remembered_rows(remembered),
            "available": available,
            "proposed": inventory.proposed(pool, hardware),
            "downloads": to_builtins(downloads.rows()),
        }

    @routes.post("/downloads", summary="Download a model", status_code=202)
    async def download(body: DownloadBody, request: Request) -> dict[str, Any]:
        """One model is downloaded at a time, up to eight wait. Data of an earlier attempt is used. It continues without the client,
        and after a restart of the server."""
        row: dict[str, Any] = to_builtins(downloads.enqueue(body.what, use=body.use, user=user_of(request)))
        await downloads.save()
        return row

    @routes.delete("/downloads/{id}", summary="Stop a download")
    async def stop(id: Annotated[str, fastapi.Path(max_length=64)]) -> dict[str, Any]:
        """The data stays, and downloading the same model again resumes there. A download that has ended is removed from the
        list."""
        row: dict[str, Any] = to_builtins(await downloads.stop(id))
        return row

    @routes.get("/events", summary="Events about models")
    async def follow_events(request: Request) -> Response:
        """Numbered server-sent events: `download` has the download's row; `loaded` and `here` say which list to read again."""
        return event_response(request, events.read, events.number)

    @routes.delete("/{name:path}", summary="Remove a model's files")
    async def remove(name: Annotated[str, fastapi.Path(max_length=300)]) -> dict[str, Any]:
        """All parts of it, including unfinished ones."""
        removed, freed = await disk_io(remove_model, name, folder, pool.load_specs())
        events.publish({"type": "here"})
        return {"removed": removed, "freed": freed}

    return routes


def _add_remembered(
    routes: APIRouter,
    loader: Loader,
    remembered: RememberedModels,
    models: ModelRegistry,
    changed: Callable[[], None],
) -> None:
    @routes.put("/default", summary="Choose the default model")
    async def choose_default(body: DefaultBody, request: Request) -> dict[str, Any]:
        """A loaded model; its alias will do. Kept over a restart, as long as the settings name the same models."""
        card = models.resolve(body.name)
        models.require(card, "chat")
        await remembered.choose_default(card.name, user_of(request))
        return {"default": card.name}

    @routes.post("/remembered/{name:path}/retry", summary="Load a remembered model")
    async def retry(
        name: Annotated[str, fastapi.Path(max_length=300)], request: Request, body: RetryBody | None = None
    ) -> Response:
        """With the sizes it had. Answers as /v1/model/load."""
        how, load = body or RetryBody(), remembered.to_retry(name)
        running = await loader.load(repeated(load, force=how.force, user=user_of(request)))
        return await load_response(running, [], stream=how.stream)

    @routes.delete("/remembered/{name:path}", summary="Do not load a model at the next start")
    async def forget(name: Annotated[str, fastapi.Path(max_length=300)]) -> dict[str, Any]:
        """Forgets a model that is remembered and not loaded. To forget a loaded one, unload it."""
        await remembered.forget(name)
        changed()
        return {"forgotten": name}


def remove_model(name: str, folder: Path, load_specs: list[LoadSpec]) -> tuple[str, int]:
    """Delete a model's files: its name and the bytes freed. Raises Problem `model_loaded`, and what `local.files_of` raises."""
    model, files = local.files_of(name, folder)
    users = inventory.users_of_files(load_specs)
    if workers := [worker for path in files for worker in users.get(path.resolve(), ())]:
        raise Problem(
            f"{model} is loaded by {', '.join(workers)}. Unload it first.",
            code="model_loaded",
            status=409,
        )
    return model, local.remove_files(files)
