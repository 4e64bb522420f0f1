"""`/api/import` and `/api/export`: conversations as files.

Owns the HTTP of both; `exporting.py` and `importing` own the formats.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse

from duologue.conversations import exporting
from duologue.conversations.exporting import Exported
from duologue.conversations.importer import Importer, ImportReport
from duologue.errors import BadRequest, NotFound
from duologue.fair_lane import FairLane
from duologue.http.json_api import answer, checked_id, user_of
from duologue.http.openapi import documented
from duologue.threads import Refusal
from duologue.values.conversations import Conversation, Folder
from duologue.values.runs import ListReset

if TYPE_CHECKING:
    from duologue.conversations.service import Service

MOST_IMPORTS, MOST_WAITING, MOST_WAITING_PER_USER = 2, 8, 1
"""Imports at the same time, one of them of a user; and how many may wait."""
IMPORTS = Refusal(
    "Other imports are being read. Try again in a moment.",
    "Other imports took too long. Try again in a moment.",
    "import_running",
)
PAGE = 200


def router(service: Service) -> APIRouter:
    """The endpoints."""
    routes = APIRouter(prefix="/api", tags=["import and export"])
    importer = Importer(service.stores.durable, service.blobs, service.attachments(""))
    lane = FairLane(
        MOST_IMPORTS, 1, waiting=MOST_WAITING, waiting_per_user=MOST_WAITING_PER_USER, refusal=IMPORTS
    )

    @routes.post(
        "/import",
        summary="Import conversations",
        openapi_extra=documented(
            takes_file=True, answers=ImportReport, query={"name": "the file's name, which decides nothing"}
        ),
    )
    async def import_conversations(request: Request) -> Response:
        """The body is a file: an export of this server, of llama.cpp's page, ChatGPT or Open WebUI; JSON, JSON lines or zip,
        detected from the content. Conversations that exist already are skipped."""
        user = user_of(request)
        limit = service.limits.import_mb
        # Received first: a body that arrives slowly must not hold a place.
        with service.until_closed():
            async with (
                service.spool.received(user, _body(request), limit, "limits.import_mb") as path,
                lane.turn(user),
            ):
                report = await importer.import_file(user, path)
        service.feed.publish(user, ListReset())
        return answer(report)

    @routes.get(
        "/conversations/{id}/export",
        summary="Export a conversation",
        openapi_extra=documented(
            media=("application/x-ndjson", "text/markdown"),
            says="The file",
            query={
                "format": (
                    "jsonl, which can be imported again, or markdown of the branch shown",
                    {"type": "string", "enum": ["jsonl", "markdown"]},
                )
            },
        ),
    )
    async def export_conversation(request: Request, id: str) -> Response:
        user, form = user_of(request), request.query_params.get("format", "jsonl")
        exported = await _exported(service, user, checked_id(id))
        conversation = exported.conversation
        if form == "markdown":
            leaf = conversation.leaf
            path = await service.stores.of(id).messages.path(id, leaf) if leaf else ()
            return Response(
                exporting.markdown(conversation, path),
                media_type="text/markdown; charset=utf-8",
                headers=_download(exporting.file_name(conversation, "md")),
            )
        if form != "jsonl":
            raise BadRequest("format must be jsonl or markdown.", param="format")
        return StreamingResponse(
            exporting.json_lines(exported, lambda hash: _read(service, user, hash)),
            media_type="application/x-ndjson",
            headers=_download(exporting.file_name(conversation, "jsonl")),
        )

    @routes.get(
        "/export",
        summary="Export all your conversations",
        openapi_extra=documented(media="application/zip", says="A zip that can be imported again"),
    )
    async def export_all(request: Request) -> Response:
        user = user_of(request)
        return StreamingResponse(
            exporting.archive(_every(service, user), lambda hash: _read(service, user, hash)),
            media_type="application/zip",
            headers=_download("conversations.zip"),
        )

    return routes


async def _body(request: Request) -> AsyncIterator[bytes]:
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect:
        raise BadRequest("The request broke off.") from None


async def _exported(
    service: Service, user: str, id: str, folders: dict[str, Folder] | None = None
) -> Exported:
    store = service.stores.of(id)
    async with store.reading() as connection:
        conversation = await store.conversations.get(user, id, within=connection)
        messages = await store.messages.all(id, within=connection)
    if folders is None:
        folders = await _folders(service, user)
    folder = folders.get(conversation.folder or "")
    return Exported(conversation, messages, folder, _above(folder, folders))


def _above(folder: Folder | None, folders: dict[str, Folder]) -> tuple[Folder, ...]:
    """The folders that it is in, the outermost first."""
    above: list[Folder] = []
    while folder is not None and (folder := folders.get(folder.parent or "")) is not None:
        above.insert(0, folder)
    return tuple(above)


async def _folders(service: Service, user: str) -> dict[str, Folder]:
    return {folder.id: folder for folder in await service.stores.durable.folders.all(user)}


async def _every(service: Service, user: str) -> AsyncIterator[Exported]:
    """Every conversation, with a page of them in memory at a time. One that is deleted in the meantime is left out."""
    folders = await _folders(service, user)
    for archived in (False, True):
        async for conversation in _listed(service, user, archived=archived):
            try:
                yield await _exported(service, user, conversation.id, folders)
            except NotFound:
                continue


async def _listed(service: Service, user: str, *, archived: bool) -> AsyncIterator[Conversation]:
    before: tuple[int, str] | None = None
    while True:
        page = await service.stores.durable.conversations.listed(
            user, archived=archived, limit=PAGE, before=before
        )
        for conversation in page:
            yield conversation
        unpinned = [conversation for conversation in page if not conversation.pinned]
        if len(unpinned) < PAGE:
            return
        before = (unpinned[-1].updated, unpinned[-1].id)


async def _read(service: Service, user: str, hash: str) -> bytes | None:
    try:
        await service.blobs.get(user, hash)
        return await service.blobs.read(hash)
    except NotFound:
        return None


def _download(name: str) -> dict[str, str]:
    plain = name.encode("ascii", "replace").decode().replace("?", "-")
    return {
        "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
