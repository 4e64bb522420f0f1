"""`/api/uploads`: files in pieces, which go on after a broken connection.

Owns the HTTP: the offset of each piece and of the upload, in headers of the resumable uploads that the IETF drafts.
`files/partial_uploads.py` keeps the pieces.
"""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter, Request
from msgspec import Struct
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from duologue.conversations.files.partial_uploads import IDLE_MS, PIECE_BYTES, PartialUploads
from duologue.conversations.files.upload_pieces import PartialUpload
from duologue.errors import BadRequest, TooLarge
from duologue.http.json_api import answer, nothing, read_body, user_of
from duologue.http.openapi import documented
from duologue.values.conversations import Blob
from duologue.wire import api

_PIECE: dict[str, Any] = {
    "parameters": [
        {
            "name": "Upload-Offset",
            "in": "header",
            "required": True,
            "description": "where the piece begins: what the upload has so far",
            "schema": {"type": "integer", "minimum": 0},
        }
    ]
}


class UploadState(Struct, frozen=True):
    """`offset`: the bytes that have arrived, of `size`. A piece may have up to `piece_bytes`. `idle_s`: seconds without a piece after
    which the upload is dropped."""

    id: str
    offset: int
    size: int
    piece_bytes: int = PIECE_BYTES
    idle_s: int = IDLE_MS // 1000


def router(uploads: PartialUploads) -> APIRouter:
    """The endpoints."""
    routes = APIRouter(prefix="/api/uploads", tags=["files"])

    @routes.post(
        "",
        summary="Begin an upload in pieces",
        openapi_extra=documented(body=api.UploadBody, answers=UploadState, status=201, says="The upload"),
    )
    async def begin_upload(request: Request) -> Response:
        """For large files and poor connections. Not for temporary chats, whose files are never on the disk."""
        new = await read_body(request, api.UploadBody)
        upload = await uploads.begin(user_of(request), new.name, new.mime, new.size)
        return answer(UploadState(upload.id, upload.offset, upload.size), 201)

    @routes.head(
        "/{id}",
        summary="How far an upload is",
        status_code=204,
        openapi_extra=documented(status=204, says="Upload-Offset and Upload-Length"),
    )
    async def read_upload(request: Request, id: str) -> Response:
        return Response(status_code=204, headers=_state(await uploads.get(user_of(request), id)))

    @routes.patch(
        "/{id}",
        summary="Add a piece",
        openapi_extra=documented(
            takes_file=True,
            answers=Blob,
            status=201,
            says="The file",
            also={204: "It is not complete yet"},
        )
        | _PIECE,
    )
    async def add_piece(request: Request, id: str) -> Response:
        """The last piece is answered with the file, as an upload in one piece is. After a lost answer, an empty piece at the end is
        answered with it again. What arrives of a piece before the connection breaks is kept."""
        user, offset = user_of(request), _offset(request)
        await uploads.get(user, id)
        data, is_whole = await _piece(request)
        blob = await uploads.add(user, id, offset, data)
        if not is_whole:
            raise BadRequest("The upload broke off.")
        if blob is None:
            return Response(status_code=204, headers=_state(await uploads.get(user, id)))
        return Response(msgspec.json.encode(blob), 201, media_type="application/json")

    @routes.delete(
        "/{id}",
        summary="Drop an upload",
        status_code=204,
        openapi_extra=documented(status=204, says="What had arrived is removed"),
    )
    async def drop_upload(request: Request, id: str) -> Response:
        await uploads.drop(user_of(request), id)
        return nothing()

    return routes


def _state(upload: PartialUpload) -> dict[str, str]:
    return {
        "upload-offset": str(upload.offset),
        "upload-length": str(upload.size),
        "cache-control": "no-store",
    }


def _offset(request: Request) -> int:
    text = request.headers.get("upload-offset", "")
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise BadRequest("Upload-Offset must say at which byte the piece begins.", param="Upload-Offset")
    return int(text)


async def _piece(request: Request) -> tuple[bytes, bool]:
    """The body, and whether all of it came."""
    piece = bytearray()
    try:
        async for chunk in request.stream():
            piece += chunk
            if len(piece) > PIECE_BYTES:
                raise TooLarge(f"A piece of an upload has up to {PIECE_BYTES} bytes.")
    except ClientDisconnect:
        return bytes(piece), False
    return bytes(piece), True
