"""`/v1/model`: the default model, what could be loaded, loading and unloading, in the words other servers use for it.

Owns these bodies and the stream of a load. Deciding and doing are the loader's.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import msgspec
from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from duologue.errors import BadRequest
from duologue.gateway.auth.middleware import admin
from duologue.gateway.models.available import AvailableModels, Sizes
from duologue.gateway.models.loader import Load, Loader, LoadProgress, LoadRequest
from duologue.gateway.models.registry import ModelRegistry
from duologue.http.sse import resumable_stream
from duologue.threads import disk_io
from duologue.wire.openai import model_entry
from duologue.wire.validation_errors import shortened

MODULES = 100
"""Parts in which a load is counted."""
OURS = frozenset({"skip_queue"})
"""Fields of other servers whose meaning holds here without doing anything: a load waits for nobody."""
NAMED_AS_IGNORED = 20
LARGEST = 2**31 - 1
"""What the numbers of an engine hold."""


class LoadBody(BaseModel):
    """A model to load. Fields of other servers are taken and ignored; the answer names them."""

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
    replace: bool = Field(default=False, description="First unload what was loaded at run time.")
    force: bool = Field(default=False, description="Load it even where memory is short.")
    another: bool = Field(default=False, description="One more worker of a model that is loaded.")
    stream: bool = Field(default=True, description="Tell the progress; false answers once, at the end.")

    def wanted(self) -> LoadRequest:
        """Raises BadRequest without a name."""
        name = self.name or self.model_name
        if not name.strip():
            raise BadRequest("name: say which model; /v1/model/list has them.", param="name")
        sizes = Sizes(self.context or self.max_seq_len, self.slots, self.threads, self.gpu_layers)
        return LoadRequest(name, sizes, replace=self.replace, force=self.force, another=self.another)

    def ignored(self) -> list[str]:
        """The fields that say nothing to this server."""
        unknown = sorted(set(self.model_extra or {}) - OURS)
        return [shortened(name) for name in unknown[:NAMED_AS_IGNORED]]


class UnloadBody(BaseModel):
    """What to unload: a model with all its workers, or one worker; neither: the default model."""

    model_config = ConfigDict(extra="ignore")

    name: str = Field(default="", max_length=300, description="A model's name.")
    worker: str = Field(default="", max_length=300, description="A worker's name.")


def router(
    loader: Loader,
    loadables: AvailableModels,
    models: ModelRegistry,
    *,
    clock: Callable[[], float] = time.time,
) -> APIRouter:
    """The routes. `clock` gives seconds since 1970."""
    routes = APIRouter(prefix="/v1/model", tags=["models"])
    started = int(clock())

    @routes.get("", summary="The default model")
    async def default_model() -> dict[str, Any]:
        """Its entry, as /v1/models has it. 503 where no model is loaded."""
        return model_entry(models.resolve(""), started)

    @routes.get("/list", summary="What can be loaded")
    async def list_loadable() -> dict[str, Any]:
        """The models of the settings, the bundled one, and those of the data folder."""
        loaded = {card.name for card in models.cards()}
        entries = await disk_io(loadables.all)
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
                }
                for entry in entries
            ],
        }

    @routes.post("/load", summary="Load a model", dependencies=[Depends(admin)])
    async def load(asked: LoadBody) -> Response:
        """A stream of events, each with how far it is; with `stream: false` one answer at the end. The load goes on
        when whoever asked has left. Only what /v1/model/list names can be loaded."""
        ignored = asked.ignored()
        begun = await loader.load(asked.wanted())
        if asked.stream:
            return resumable_stream(_frames(begun, ignored))
        await begun.done()
        return _json(load_frame(begun, begun.step, ignored))

    @routes.post("/unload", summary="Unload a model", dependencies=[Depends(admin)])
    async def unload(asked: UnloadBody | None = None) -> dict[str, Any]:
        """The names of the workers that are gone. What they were writing ends as `model_unloaded`."""
        wanted = asked or UnloadBody()
        return {"unloaded": await loader.unload(wanted.name, wanted.worker)}

    return routes


def load_frame(load: Load, step: LoadProgress, ignored: list[str]) -> dict[str, Any]:
    """How far a load is, as it is told."""
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
