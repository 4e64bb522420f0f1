"""`/api/blobs`: streamed uploads, and safe downloads.

Owns the HTTP of files: raw and multipart bodies, ranges, entity tags, and the headers that keep a file from acting as a page
of this server. `files/blobs.py` stores and reads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import quote

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from duologue.config.settings import LimitSettings
from duologue.conversations.files.blobs import Blobs
from duologue.conversations.files.inspection import Inspection, inspect
from duologue.conversations.files.media_fit import MediaFit, media_fit
from duologue.errors import TooLarge
from duologue.http.file_form import FileForm, body_chunks
from duologue.http.json_api import answer, user_of
from duologue.http.openapi import documented
from duologue.media import sniff
from duologue.values.conversations import Blob
from duologue.values.requests import ModelCard

INLINE_IMAGES = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "gif", "webp", "avif", "bmp", "x-icon"))
"""Picture formats that every browser shows and that cannot contain a script (so no SVG)."""
HEADERS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "private, max-age=31536000, immutable",
}
MULTIPART_SLACK = 64 * 1024
"""Bytes allowed for the form around the file."""

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_A_FILE: dict[str, Any] = {
    "responses": {"200": {"description": "The file, of the type it was stored with", "content": {"*/*": {}}}}
}
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "multipart/form-data": {
                "schema": {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}
            },
        },
    }
}


def router(
    blobs: Blobs,
    limits: LimitSettings,
    resolve: Callable[[str], ModelCard],
    hears: Callable[[], bool] = lambda: False,
) -> APIRouter:
    """The endpoints. `resolve` finds a model's card by name; `hears`: whether sound is written down for models that take none."""
    limit = limits.blob_mb * 2**20
    routes = APIRouter(prefix="/api/blobs", tags=["files"])

    @routes.post("", status_code=201, openapi_extra=_BODY, summary="Upload a file")
    async def keep_blob(
        request: Request,
        name: Annotated[str, Query(max_length=1024, description="The file's name.")] = "",
        temporary: Annotated[
            bool, Query(description="For a temporary chat: the file is kept in memory only.")
        ] = False,
    ) -> Response:
        """The body is the file, or a form with the file. Its id is the hash of its content, so the same file again has the
        same id."""
        announced = request.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > limit + MULTIPART_SLACK:
            raise TooLarge(
                f"The file is larger than {limit / 2**20:g} MB; the setting limits.blob_mb raises the limit."
            )
        mime = request.headers.get("content-type", "")
        chunks = body_chunks(request)
        if mime.startswith("multipart/"):
            form = FileForm(chunks, mime)
            await form.open()
            name, mime, chunks = name or form.name, form.mime, form.file()
        blob = await blobs.keep(user_of(request), chunks, name=name, mime=mime, temporary=temporary)
        return Response(msgspec.json.encode(blob), 201, media_type="application/json")

    @routes.head("/{hash}", include_in_schema=False)
    @routes.get("/{hash}", summary="A file", openapi_extra=_A_FILE)
    async def read_blob(request: Request, hash: str, download: bool = False) -> Response:
        """The file as it was uploaded; supports ranges. A file that could act as a page is served only as a download."""
        blob = await blobs.get(user_of(request), hash)
        headers = HEADERS | {
            "etag": f'"{hash}"',
            "accept-ranges": "bytes",
            "content-disposition": _disposition(blob, download=download),
        }
        if _matches(request.headers.get("if-none-match", ""), headers["etag"]):
            return Response(status_code=304, headers=headers)
        size = await blobs.size(hash)
        span = _range(request, headers["etag"], size)
        start, end = span or (0, size)
        if span:
            if start >= end:
                return _range_error(request, size)
            # Also for a range that covers the whole file: Safari plays media only if its first range request gets a 206.
            headers["content-range"] = f"bytes {start}-{end - 1}/{size}"
        status = 206 if span else 200
        headers |= {"content-length": str(end - start), "content-type": _content_type(blob.mime)}
        if request.method == "HEAD":
            return Response(status_code=status, headers=headers)
        return StreamingResponse(blobs.pieces(hash, start, end), status, headers=headers)

    _add_views(routes, blobs, limits, resolve, hears)
    return routes


def _add_views(
    routes: APIRouter,
    blobs: Blobs,
    limits: LimitSettings,
    resolve: Callable[[str], ModelCard],
    hears: Callable[[], bool],
) -> None:
    """A file's metadata and its thumbnail."""

    @routes.get(
        "/{hash}/inspection",
        summary="Whether a file can be attached",
        openapi_extra=documented(answers=Inspection),
    )
    async def inspect_blob(request: Request, hash: str) -> Response:
        """`code` and `message`: the error of a message with this file, whatever the model; empty when there is none. `scan`: only a
        model that sees pictures can read it."""
        return answer(await inspect(blobs, limits, user_of(request), hash))

    @routes.get(
        "/{hash}/fit",
        summary="What a model will get of a file",
        openapi_extra=documented(answers=MediaFit),
    )
    async def fit_blob(
        request: Request,
        hash: str,
        model: Annotated[str, Query(max_length=512, description="Default: the default chat model.")] = "",
    ) -> Response:
        """`became`: `kept`, `resized`, `text` (sound written down, or a document), `frames` or `frames_and_sound` (a video), or `refused`
        with `code` and `message`. `frames` pictures of `pixels` pixels each, about `tokens` tokens; `seconds`, `width` and `height` are
        the file's own. `most_seconds`: of sound that is kept, what all sounds of one message may have together. Measuring a long sound or a PDF takes up to a few seconds."""
        card = resolve(model)
        return answer(await media_fit(blobs, limits, user_of(request), hash, card, hears=hears()))

    @routes.get("/{hash}/thumbnail", summary="A small picture of a file", openapi_extra=_A_FILE)
    async def read_thumbnail(
        request: Request, hash: str, side: Annotated[int, Query(ge=1, le=4096)] = 256
    ) -> Response:
        """A WebP of a picture, or of a PDF's first page, that fits into a square of about `side` pixels."""
        user = user_of(request)
        await blobs.get(user, hash)
        headers = HEADERS | {"etag": f'"{hash}-{side}"'}
        if _matches(request.headers.get("if-none-match", ""), headers["etag"]):
            return Response(status_code=304, headers=headers)
        thumbnail = await blobs.thumbnail(hash, side, user=user)
        return Response(thumbnail, media_type="image/webp", headers=headers)


def _content_type(mime: str) -> str:
    """The type a file is served as. All text but HTML is served as plain text."""
    if sniff.family(mime) == "text" and mime != sniff.HTML:
        return "text/plain; charset=utf-8"
    return mime


def _disposition(blob: Blob, *, download: bool) -> str:
    family = sniff.family(blob.mime)
    is_inline = (
        blob.mime in INLINE_IMAGES
        or family in ("audio", "video")
        or (family == "text" and blob.mime != sniff.HTML)
    )
    kind = "inline" if is_inline and not download else "attachment"
    plain = re.sub(r"[^A-Za-z0-9._ ()\-]", "_", blob.name) or "file"
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(blob.name or 'file', safe='')}"


def _matches(if_none_match: str, etag: str) -> bool:
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return etag in tags or "*" in tags


def _range(request: Request, etag: str, size: int) -> tuple[int, int] | None:
    """The requested bytes, end excluded; an empty span if the file does not have them. None means the whole file, also for a
    request of several ranges, which a server may ignore."""
    match = _RANGE.fullmatch(request.headers.get("range", "").replace(" ", ""))
    if match is None or request.headers.get("if-range", etag) != etag:
        return None
    first, last = match[1], match[2]
    if not first:
        return (max(0, size - int(last)), size) if last else None
    if last and int(last) < int(first):
        return None
    return int(first), min(size, int(last) + 1) if last else size


def _range_error(request: Request, size: int) -> Response:
    error = {"code": "range_not_satisfiable", "message": f"The file has {size} bytes."}
    if request_id := request.scope.get("state", {}).get("request_id"):
        error["request_id"] = request_id
    headers = {"content-range": f"bytes */{size}", "cache-control": "no-store"}
    return Response(msgspec.json.encode({"error": error}), 416, headers, "application/json")
