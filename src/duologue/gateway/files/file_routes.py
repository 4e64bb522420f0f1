"""`/v1/files`: OpenAI's API of stored files.

Owns the HTTP of files: the form, pages of lists, the download. `stored_files` stores and reads them. Nobody but its owner reaches a
file: to anyone else it does not exist.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Literal
from urllib.parse import quote

import fastapi
from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from duologue.errors import BadRequest
from duologue.gateway.files.stored_files import StoredFiles
from duologue.http.file_form import FileForm, body_chunks
from duologue.http.json_api import answer, user_of, whole_number
from duologue.http.openapi import documented, form_body, whole_numbers
from duologue.wire.batches.file_object import (
    PURPOSES,
    FileDeleted,
    FileFields,
    FileList,
    FileObject,
    file_fields,
    purpose_of,
)

FileId = Annotated[str, fastapi.Path(max_length=256)]
PAGE = 10_000
"""Files of one answer, at most and by default."""
HEADERS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "private, no-store",
}


def router(files: StoredFiles) -> APIRouter:
    """The endpoints."""
    routes = APIRouter(prefix="/v1/files", tags=["Files and batches"])

    @routes.post(
        "",
        summary="Store a file",
        openapi_extra=form_body(FileFields, "application/json", description="The stored file."),
    )
    async def create_file(request: Request) -> Response:
        """A form with the `file` and its `purpose`. The file goes to the disk as it arrives."""
        mime = request.headers.get("content-type", "")
        if not mime.startswith("multipart/"):
            raise BadRequest(
                "Send the file as a form (multipart/form-data) with the fields file and purpose."
            )
        user = user_of(request)
        form = FileForm(body_chunks(request), mime)
        await form.open()
        if "purpose" in form.fields:
            file_fields(form.fields)  # what is refused is refused before the file has arrived
        async with files.receiving(user, form.file()) as arrived:
            fields = file_fields(form.fields)
            seconds = fields.expires_after.seconds if fields.expires_after else None
            stored = await files.keep(user, arrived, purpose=fields.purpose, name=form.name, seconds=seconds)
        return answer(FileObject.of(stored))

    @routes.get(
        "",
        summary="List your stored files",
        openapi_extra=documented(
            answers=FileList,
            query={
                "purpose": ("those of one purpose", {"type": "string", "enum": ["", *PURPOSES]}),
                "limit": ("the most there may be; 10,000", whole_numbers(PAGE)),
                "after": "an id",
            },
        ),
    )
    async def list_files(
        request: Request,
        order: Annotated[Literal["asc", "desc"], Query(description="By the time they were stored.")] = "desc",
    ) -> Response:
        user = user_of(request)
        limit = whole_number(request, "limit", PAGE, most=PAGE)
        after = request.query_params.get("after", "")
        found = await files.rows.of(
            user,
            purpose=purpose_of(request.query_params.get("purpose", "")),
            after=await files.get(user, after) if after else None,
            ascending=order == "asc",
            limit=limit + 1,
        )
        return answer(FileList.of(found, limit))

    _add_single(routes, files)
    return routes


def _add_single(routes: APIRouter, files: StoredFiles) -> None:
    """The routes of one file."""

    @routes.get(
        "/{id}", summary="Read a stored file's description", openapi_extra=documented(answers=FileObject)
    )
    async def get_file(request: Request, id: FileId) -> Response:
        return answer(FileObject.of(await files.get(user_of(request), id)))

    @routes.delete("/{id}", summary="Delete a stored file", openapi_extra=documented(answers=FileDeleted))
    async def delete_file(request: Request, id: FileId) -> Response:
        await files.delete(user_of(request), id)
        return answer(FileDeleted(id))

    @routes.get(
        "/{id}/content",
        summary="Download a stored file",
        openapi_extra=documented(media="application/octet-stream", says="The file as it was stored"),
    )
    async def get_content(request: Request, id: FileId) -> Response:
        file = await files.get(user_of(request), id)
        plain = re.sub(r"[^A-Za-z0-9._ ()\-]", "_", file.name)
        named = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(file.name, safe='')}"
        headers = HEADERS | {"content-disposition": named, "content-length": str(file.size)}
        return _Download(files.opened(file), headers)


class _Download(StreamingResponse):
    """A stored file. It is opened first, so that one that is gone is still answered with its status, and stays open until it is sent:
    deleting it meanwhile cuts nothing off."""

    def __init__(
        self, opened: AbstractAsyncContextManager[AsyncIterator[bytes]], headers: Mapping[str, str]
    ) -> None:
        super().__init__((), headers=headers, media_type="application/octet-stream")
        self._opened = opened

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._opened as self.body_iterator:
            await super().__call__(scope, receive, send)
