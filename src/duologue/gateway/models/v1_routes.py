"""`/v1/model`: the default model, the list of models, loading and unloading, with the field names that other servers use.

Owns these bodies and the stream of a load's progress; the loader does the work.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from duologue.errors import BadRequest
from duologue.gateway.auth.middleware import admin
from duologue.gateway.models.available import AvailableModels, Sizes
from duologue.gateway.models.loader import Load, Loader, LoadRequest, LoadState
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.remembered import RememberedModels
from duologue.http.json_api import user_of
from duologue.http.openapi import documented
from duologue.http.sse import resumable_stream
from duologue.threads import disk_io
from duologue.wire.models.model_entries import model_entry
from duologue.wire.shapes.completion_shapes import ModelEntry
from duologue.wire.validation_errors import shortened

MODULES = 100
"""The steps that a load is divided into, as other servers report it."""
NAMED_AS_IGNORED = 20
LARGEST = 2**31 - 1
"""Engines use 32-bit integers."""


class LoadBody(BaseModel):
    """A model to load. Unknown fields are ignored; the answer lists them."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(default="", max_length=300, description="A name of /v1/model/list.")
    model_name: str = Field(default="", max_length=300, description="The same, as other servers call it.")
    context: int | None = Field(default=None, ge=1, le=LARGEST, description="Tokens one chat may have.")
    max_seq_len: int | None = Field(
        default=None, ge=1, le=LARGEST, description="The same, as other servers call it."
    )
    slots: int | None = Field(default=None, ge=1, le=256, description="Replies generated at the same time.")
    threads: int | None = Field(default=None, ge=1, le=1024, description="Threads of the engine.")
    gpu_layers: int | None = Field(
        default=None, ge=-1, le=LARGEST, description="Layers of the model on the GPU; -1: all."
    )
    loras: dict[str, Annotated[float, Field(ge=-100, le=100)]] | None = Field(
        default=None, max_length=64, description="LoRA adapters of /v1/loras by name, with their scales."
    )
    replace: bool = Field(default=False, description="First unload everything that was loaded at run time.")
    drain: bool = Field(
        default=True, description="With `replace`: what is unloaded may first end its running replies."
    )
    skip_queue: bool = Field(
        default=False, description="As `drain: false`, as other servers call it: end what is running."
    )
    force: bool = Field(default=False, description="Load it even if memory is short.")
    another: bool = Field(default=False, description="Add a worker to a model that is already loaded.")
    default: bool = Field(default=False, description="Make it the default model once it is ready.")
    stream: bool = Field(default=True, description="Stream the progress; false: one answer at the end.")

    def request(self, user: str) -> LoadRequest:
        """What `user` wants loaded. Raises BadRequest without a name."""
        name = self.name or self.model_name
        if not name.strip():
            raise BadRequest("name is missing. /v1/model/list has the names.", param="name")
        sizes = Sizes(self.context or self.max_seq_len, self.slots, self.threads, self.gpu_layers, self.loras)
        return LoadRequest(
            name,
            sizes,
            replace=self.replace,
            drain=self.drain and not self.skip_queue,
            force=self.force,
            another=self.another,
            default=self.default,
            user=user,
        )

    def ignored(self) -> list[str]:
        """The unknown fields."""
        unknown = sorted(set(self.model_extra or {}))
        return [shortened(name) for name in unknown[:NAMED_AS_IGNORED]]


class UnloadBody(BaseModel):
    """What to unload: a model with all its workers, or one worker; by default the default model."""

    model_config = ConfigDict(extra="ignore")

    name: str = Field(default="", max_length=300, description="A model's name.")
    worker: str = Field(default="", max_length=300, description="A worker's name.")
    drain: bool = Field(
        default=True,
        description="Nothing new begins, and running replies may end before, for `loading.drain_s` seconds at most; false: they end at once.",
    )


def router(
    loader: Loader,
    available: AvailableModels,
    models: ModelRegistry,
    remembered: RememberedModels,
    *,
    clock: Callable[[], float] = time.time,
) -> APIRouter:
    """The routes. `clock` gives seconds since 1970."""
    routes = APIRouter(prefix="/v1/model", tags=["models"])
    started = int(clock())

    @routes.get("", openapi_extra=documented(answers=ModelEntry), summary="The default model")
    async def default_model() -> dict[str, Any]:
        """Its entry, as in /v1/models. 503 if no model is loaded."""
        return model_entry(models.resolve(""), started)

    @routes.get("/list", summary="The models that can be loaded")
    async def list_loadable() -> dict[str, Any]:
        """The models of the settings, the bundled one, and those of the data folder. `failed`: the start of the server, or an admin
        since, could not load it."""
        loaded = {card.name for card in models.cards()}
        entries = [entry for entry in await disk_io(available.all) if models.allows(entry.name)]
        return {
            "object": "list",
            "data": [
                {
                    "id": entry.name,
                    "object": "model",
                    "created": started,
                    "owned_by": "duologue",
                    "loaded": entry.name in loaded,
                    "bundled": entry.bundled,
                    "failed": bool(remembered.failure(entry.name)),
                }
                for entry in entries
            ],
        }

    @routes.post("/load", summary="Load a model", dependencies=[Depends(admin)])
    async def load(body: LoadBody, request: Request) -> Response:
        """A stream of progress events; with `stream: false` one answer at the end. The load continues when the client
        disconnects. Only models of /v1/model/list can be loaded. The next start of the server loads it again."""
        running = await loader.load(body.request(user_of(request)))
        return await load_response(running, body.ignored(), stream=body.stream)

    @routes.post("/unload", summary="Unload a model", dependencies=[Depends(admin)])
    async def unload(body: UnloadBody | None = None) -> dict[str, Any]:
        """Gives the names of the unloaded workers, when they are gone. Their running replies may end before; those that take longer than
        `loading.drain_s`, and with `drain: false` all, end with `model_unloaded`. The next start does not load them again, except those of
        the settings."""
        target = body or UnloadBody()
        return {"unloaded": await loader.unload(target.name, target.worker, drain=target.drain)}

    return routes


async def load_response(load: Load, ignored: list[str], *, stream: bool) -> Response:
    """The progress of a load, or one answer when it has ended. Raises the Problem that ended it."""
    if stream:
        return resumable_stream(_frames(load, ignored))
    await load.done()
    return _json(load_frame(load, load.step, ignored))


def load_frame(load: Load, step: LoadState, ignored: list[str]) -> dict[str, Any]:
    """The JSON of a load's progress."""
    status = "failed" if step.problem else "finished" if step.ended else "processing"
    frame: dict[str, Any] = {
        "model_type": "model",
        "module": round(MODULES * (step.progress or 0)),
        "modules": MODULES,
        "status": status,
        "name": load.name,
        "worker": load.worker,
        "stage": step.stage,
        "progress": step.progress,
    }
    if step.problem is not None:
        frame["error"] = {"code": step.problem.code, "message": step.problem.message}
    if ignored:
        frame["ignored"] = ignored
    return frame


async def _frames(load: Load, ignored: list[str]) -> AsyncGenerator[bytes]:
    async with aclosing(load.steps()) as steps:
        async for step in steps:
            yield b"data: %b\n\n" % msgspec.json.encode(load_frame(load, step, ignored))


def _json(body: object) -> Response:
    return Response(
        msgspec.json.encode(body), media_type="application/json", headers={"Cache-Control": "no-store"}
    )
