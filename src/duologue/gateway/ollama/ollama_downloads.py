"""Ollama's `/api/pull` and `/api/delete`, for admins, and the refusals of what this server has no counterpart for.

A download that a request began stops when its client leaves, as with Ollama; its data stays.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Protocol

import anyio
from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from duologue.errors import Problem, Unavailable, Unsupported
from duologue.gateway.auth.middleware import admin
from duologue.gateway.models.api_routes import ModelEvent, remove_model
from duologue.gateway.models.downloads import OPEN, Download, Downloads
from duologue.gateway.ollama.ollama_names import OllamaNames
from duologue.gateway.scheduling.pool import Pool
from duologue.http.event_log import EventLog
from duologue.http.json_api import answer, body_of, user_of
from duologue.http.openapi import documented, json_body
from duologue.http.sse import KEEP_ALIVE, EventStream, unless_left
from duologue.threads import disk_io
from duologue.wire.ollama.ollama_models import (
    NamedModelBody,
    OllamaPullBody,
    PullStep,
    PullStream,
    downloadable,
)
from duologue.wire.ollama.ollama_reply import NDJSON, failure_line
from duologue.wire.validation import validate

MISSING = 404
REFUSED = {
    "copy": "Models cannot be copied here. A second name is an alias: the setting aliases.",
    "create": "Models cannot be created here. Put a GGUF file into the folder of the models, or pull one.",
    "push": "This server uploads no models.",
    "blobs/{digest}": "Model files cannot be uploaded. Put a GGUF file into the folder of the models, or pull one.",
}
"""Paths below /api that are refused, and why."""


def router(
    names: OllamaNames,
    downloads: Downloads,
    pool: Pool,
    folder: Path,
    events: EventLog[ModelEvent],
    *,
    keep_alive: float = KEEP_ALIVE,
) -> APIRouter:
    """The routes. `folder`: where models are stored; `events`: where the pages hear of a deleted one."""
    routes = APIRouter(prefix="/api", tags=["Ollama"])

    @routes.post(
        "/pull",
        summary="Download a model",
        dependencies=[Depends(admin)],
        openapi_extra=json_body(
            OllamaPullBody, NDJSON, "application/json", description="The progress, one JSON object a line."
        ),
    )
    async def pull(request: Request) -> Response:
        """A name of the catalogue (`qwen3:4b`), or hf.co/OWNER/REPOSITORY, perhaps with :QUANTISATION. Admins only."""
        body = validate(OllamaPullBody, await body_of(request))
        what = downloadable(body.named())
        running = {row.id for row in downloads.rows() if row.state in OPEN}
        row = downloads.enqueue(what, user=user_of(request))
        await downloads.save()
        steps = _steps(downloads, row.id, is_own=row.id not in running)
        if body.stream:
            return EventStream(
                aclosing(steps), PullStream(), keep_alive=keep_alive, media_type=NDJSON, failure=failure_line
            )

        async def finished() -> Response:
            async with aclosing(steps) as followed:
                async for _ in followed:
                    pass
            return answer({"status": "success"})

        return await unless_left(request.receive, finished)

    @routes.delete(
        "/delete",
        summary="Delete a model's files",
        dependencies=[Depends(admin)],
        openapi_extra=documented(body=NamedModelBody, answers=dict[str, str], says="Done"),
    )
    async def delete(request: Request) -> Response:
        """One that is loaded has to be unloaded first. Admins only."""
        name = await names.own(validate(NamedModelBody, await body_of(request)).named())
        await disk_io(remove_model, name, folder, pool.load_specs())
        events.publish({"type": "here"})
        return answer({"status": "success"})

    for path, sentence in REFUSED.items():
        refuse = _refusal(sentence)
        described = documented(answers=dict[str, str], status=400, says=sentence)
        routes.add_api_route(f"/{path}", refuse, methods=["POST"], summary="Refused", openapi_extra=described)
        routes.add_api_route(f"/{path}", refuse, methods=["HEAD"], include_in_schema=False)
    return routes


class _Refusal(Protocol):
    async def __call__(self) -> Response: ...


def _refusal(sentence: str) -> _Refusal:
    async def refuse() -> Response:
        raise Unsupported(sentence)

    return refuse


async def _steps(downloads: Downloads, id: str, *, is_own: bool) -> AsyncGenerator[PullStep]:
    """The steps of a download; the last is the one that is done. Raises the Problem that ended it. Where this request began it, it
    stops with who reads the steps."""
    has_ended = False
    try:
        async with aclosing(downloads.follow(id)) as rows:
            async for row in rows:
                has_ended = row.state not in OPEN
                if has_ended and row.state != "done":
                    raise _failure(row)
                yield PullStep(row.what, row.state, row.total, row.done)
    finally:
        if is_own and not has_ended:
            with anyio.CancelScope(shield=True):
                await downloads.stop(id)


def _failure(row: Download) -> Problem:
    if row.error is None:
        return Unavailable(f"The download of {row.name} was stopped. Pull it again to go on with it.")
    status = MISSING if row.error.code.endswith("not_found") else 500
    return Problem(row.error.message, code=row.error.code, status=status)
