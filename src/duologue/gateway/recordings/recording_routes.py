"""`/api/recordings`: a person's own recordings, listed, played, downloaded and deleted.

Owns these routes and their JSON. Nobody but the owner reaches a recording, an admin neither: to anyone else it does not exist.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from fastapi import APIRouter, Request
from msgspec import Struct
from starlette.responses import FileResponse, Response

from duologue.errors import NotFound, Problem
from duologue.gateway.recordings.peaks import BIN_MS, reduced
from duologue.gateway.recordings.recording_document import (
    RecordingDocument,
    document,
    entries_of,
    frame_place,
)
from duologue.gateway.recordings.recording_files import ENTRIES, FRAMES, PEAKS, SOUND
from duologue.gateway.recordings.service import RecordingService
from duologue.http.json_api import answer, flag, nothing, user_of, whole_number
from duologue.http.openapi import documented
from duologue.media.call_sound import LARGEST_START, has_sound
from duologue.media.recordings import to_webm
from duologue.threads import encoding
from duologue.values.recordings import StoredRecording

MOST_BINS = 4000
PRIVATE = {"cache-control": "private, no-store", "x-content-type-options": "nosniff"}
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class RecordingRow(Struct, frozen=True):
    """`ended` is empty while it runs."""

    id: str
    kind: str
    title: str
    conversation: str
    created: int
    duration: int
    size: int
    frames: int
    ended: str


class RecordingList(Struct, frozen=True):
    """`bytes` is what they take, `limit` the most they may, `keep_days` how long each is kept."""

    recordings: list[RecordingRow]
    allowed: bool
    bytes: int
    limit: int
    keep_days: float


class Waveform(Struct, frozen=True):
    """The loudest sample of each side in every bin, 0 to 255; `bin_ms` is the length of one."""

    caller: list[int]
    assistant: list[int]
    bin_ms: float


def router(service: RecordingService) -> APIRouter:
    """The endpoints."""
    routes = APIRouter(prefix="/api/recordings", tags=["recordings"])
    _add_rows(routes, service)
    _add_sound(routes, service)
    return routes


def _add_rows(routes: APIRouter, service: RecordingService) -> None:
    @routes.get("", summary="Your recordings", openapi_extra=documented(answers=RecordingList))
    async def list_recordings(request: Request) -> Response:
        """The newest first."""
        rows = await service.list(user_of(request))
        total = sum(row.size for row in rows)
        shown = [_row(row) for row in rows]
        return answer(RecordingList(shown, service.allowed, total, service.user_bytes, service.keep_days))

    @routes.get(
        "/{id}",
        summary="One recording's timeline",
        openapi_extra=documented(answers=RecordingDocument, query={"download": "1: as a file"}),
    )
    async def get_recording(request: Request, id: str) -> Response:
        row = await service.get(user_of(request), id)
        entries = await service.archive.read(id, ENTRIES)
        response = answer(await encoding(document, row, entries))
        response.headers.update(PRIVATE)
        if flag(request, "download"):
            response.headers["content-disposition"] = _attachment(row, "json")
        return response

    @routes.delete(
        "/{id}",
        summary="Delete a recording",
        status_code=204,
        openapi_extra=documented(status=204, says="It is gone, with its files"),
    )
    async def delete_recording(request: Request, id: str) -> Response:
        await service.delete(user_of(request), id)
        return nothing()


def _add_sound(routes: APIRouter, service: RecordingService) -> None:
    @routes.get(
        "/{id}/sound",
        summary="One recording's sound",
        openapi_extra=documented(
            media="audio/ogg",
            says="Opus, the caller on the left and the assistant on the right",
            query={"format": "ogg (also in ranges) or webm", "download": "1: as a file"},
        ),
    )
    async def get_sound(request: Request, id: str) -> Response:
        row = await service.get(user_of(request), id)
        if not row.ended:
            raise Problem(
                "This recording is still running. Its sound can be played once it has ended.",
                code="recording_running",
                status=409,
            )
        kind = "webm" if request.query_params.get("format") == "webm" else "ogg"
        headers = dict(PRIVATE)
        if flag(request, "download"):
            headers["content-disposition"] = _attachment(row, kind)
        if not has_sound(await service.archive.read(id, SOUND, 0, LARGEST_START)):
            raise NotFound(
                "This recording has no sound: it ended before its first second was written. Delete it.",
                code="nothing_recorded",
            )
        if kind == "webm":
            sound = await service.archive.read(id, SOUND)
            return Response(await encoding(to_webm, sound), headers=headers, media_type="audio/webm")
        return FileResponse(await service.archive.sound(id), headers=headers, media_type="audio/ogg")

    @routes.get(
        "/{id}/peaks",
        summary="One recording's waveform",
        openapi_extra=documented(answers=Waveform, query={"bins": "the most there may be; 800"}),
    )
    async def get_peaks(request: Request, id: str) -> Response:
        await service.get(user_of(request), id)
        bins = whole_number(request, "bins", 800, most=MOST_BINS)
        pairs = await service.archive.read(id, PEAKS)
        caller, reply = reduced(pairs, bins)
        length = len(pairs) // 2 * BIN_MS
        return answer(Waveform(caller, reply, length / len(caller) if caller else BIN_MS))

    @routes.get(
        "/{id}/frames/{index}",
        summary="One picture of a recording",
        openapi_extra=documented(media="image/jpeg", says="The picture as the client sent it"),
    )
    async def get_frame(request: Request, id: str, index: int) -> Response:
        await service.get(user_of(request), id)
        place = frame_place(entries_of(await service.archive.read(id, ENTRIES)), index)
        if place is None:
            raise NotFound("This recording has no such picture.", code="recording_not_found")
        start, frame = place
        data = await service.archive.read(id, FRAMES, start, frame.size)
        mime = frame.mime if frame.mime in IMAGES else "application/octet-stream"
        return Response(data, headers=PRIVATE, media_type=mime)


def _row(row: StoredRecording) -> RecordingRow:
    return RecordingRow(
        row.id,
        row.kind,
        row.title,
        row.conversation,
        row.created,
        row.duration,
        row.size,
        row.frames,
        row.ended,
    )


def _attachment(row: StoredRecording, extension: str) -> str:
    name = re.sub(r"[^\w .-]", "_", row.title).strip() or "recording"
    plain = re.sub(r"[^A-Za-z0-9 ._-]", "_", name)
    return (
        f"attachment; filename=\"{plain}.{extension}\"; filename*=UTF-8''{quote(name, safe='')}.{extension}"
    )
