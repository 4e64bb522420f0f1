"""`/api/avatars/{id}/clips`: videos of an avatar that speaks, made on request, followed, fetched and deleted.

Owns the bodies and the form. The rules are in `ClipService`.
"""

from __future__ import annotations

from typing import Annotated

import fastapi
from fastapi import APIRouter, Request
from pydantic import Field
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse, Response

from duologue.decoder.service import decode
from duologue.errors import BadRequest
from duologue.gateway.avatars.clip_service import ClipService
from duologue.http.error_responses import request_id_of
from duologue.http.json_api import answer, nothing, read_body, user_of
from duologue.http.openapi import json_body
from duologue.http.sse import resumable_stream
from duologue.media.clip_sound import read_clip_sound
from duologue.values.speech import SpeechRequest
from duologue.wire.api import RequestBody, read
from duologue.wire.validation import MEGABYTE

AvatarId = Annotated[str, fastapi.Path(max_length=64)]
ClipId = Annotated[str, fastapi.Path(max_length=64)]
TEXT = 16_000
"""Characters, far more than ten minutes of speech."""
SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-store",
}


class ClipFields(RequestBody):
    """What is known of a recording: the language that is spoken in it."""

    language: str = Field(
        default="", max_length=35, description="BCP 47; empty: the recogniser's own choice."
    )


class ClipBody(RequestBody):
    """What the avatar says."""

    text: str = Field(min_length=1, max_length=TEXT, description="What it says.")
    voice: str = Field(
        default="", max_length=64, description="A voice by name or id; empty: the default one."
    )
    speed: float = Field(default=1.0, ge=0.25, le=4.0, description="1: the voice's own.")
    language: str = Field(default="", max_length=35, description="BCP 47; empty: the voice's own.")


def router(clips: ClipService) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/api/avatars/{id}/clips", tags=["voice"])

    @routes.post(
        "",
        summary="Make a clip of a face that speaks",
        status_code=202,
        openapi_extra=json_body(ClipBody, description="The clip, which is being made.", status=202),
    )
    async def make_clip(request: Request, id: AvatarId) -> Response:
        """Answers at once with the clip, which is then made. The face says a text, or moves its lips to a recording (a form with `file`)."""
        user, request_id = user_of(request), request_id_of(request.scope)
        if request.headers.get("content-type", "").startswith("multipart/form-data"):
            data, fields = await _upload(request)
            pcm = await decode(read_clip_sound, data, user=user)
            speech = SpeechRequest(language=fields.language)
            job = await clips.create(user, id, speech, pcm, request_id=request_id)
        else:
            body = await read_body(request, ClipBody)
            speech = SpeechRequest(body.text, body.voice, body.speed, body.language)
            job = await clips.create(user, id, speech, request_id=request_id)
        return answer(job.row(), 202)

    @routes.get("/{clip}", summary="A clip and its progress")
    async def read_clip(request: Request, id: AvatarId, clip: ClipId) -> Response:
        return answer(clips.get(user_of(request), id, clip).row())

    @routes.get("/{clip}/events", summary="A clip's progress as events")
    async def follow_clip(request: Request, id: AvatarId, clip: ClipId) -> Response:
        """Server-sent events: the clip at each change, until it is ready or has failed."""
        return resumable_stream(clips.get(user_of(request), id, clip).frames())

    @routes.get("/{clip}/file", summary="A clip's video")
    async def read_file(request: Request, id: AvatarId, clip: ClipId) -> Response:
        """H.264 and AAC in fragmented MP4; also in ranges."""
        job = clips.ready(user_of(request), id, clip)
        headers = SAFE | {"Content-Disposition": f'inline; filename="clip-{job.id[:8]}.mp4"'}
        return FileResponse(job.file, media_type="video/mp4", headers=headers)

    @routes.delete("/{clip}", summary="Delete a clip, or stop making it", status_code=204)
    async def delete_clip(request: Request, id: AvatarId, clip: ClipId) -> Response:
        await clips.delete(user_of(request), id, clip)
        return nothing()

    return routes


async def _upload(request: Request) -> tuple[bytes, ClipFields]:
    """The file and the fields of a form. Raises BadRequest; the middleware has refused larger bodies."""
    try:
        async with request.form(max_files=1, max_fields=4, max_part_size=MEGABYTE) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile):
                raise BadRequest("The form has no file.", param="file")
            data = await file.read()
            values = {name: value for name, value in form.multi_items() if name != "file"}
    except HTTPException as error:
        raise BadRequest(f"The form is invalid: {error.detail}") from None
    except ClientDisconnect:
        raise BadRequest("The form is incomplete.") from None
    return data, read(ClipFields, values)
