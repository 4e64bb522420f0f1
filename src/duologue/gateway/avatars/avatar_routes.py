"""`/api/avatars`: the faces to speak with, listed, brought, previewed, marked, shared and deleted.

Owns the bodies and the rows. The rules are in `AvatarLibrary`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import fastapi
import msgspec
from fastapi import APIRouter, Request
from pydantic import BeforeValidator, Field
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from duologue.errors import BadRequest, NotFound
from duologue.faces.look import Look
from duologue.gateway.avatars.landmark_rules import read_landmarks
from duologue.gateway.avatars.library import FIGURE_TYPE, STATEMENT, AvatarLibrary
from duologue.http.json_api import answer, read_body, user_of
from duologue.http.openapi import json_body
from duologue.values.avatars import StoredAvatar
from duologue.wire.api import RequestBody, read
from duologue.wire.validation import MEGABYTE

AvatarId = Annotated[str, fastapi.Path(max_length=64)]
NAME, WORDING = 80, 500
"""Characters of a name, and of what was agreed to."""
NAMELESS = "My face"
ENDINGS = {"image/png": "png", "image/jpeg": "jpg", FIGURE_TYPE: "vrm"}
SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Asked for again each time, because it may be deleted or no longer shared; unchanged it is not sent again.
    "Cache-Control": "private, no-cache",
}


def _consent(value: object) -> object:
    """What was agreed to: the wording, or true (in a form: "true", "on", "1") for the usual one."""
    word = value.strip().lower() if isinstance(value, str) else value
    if word in (True, "true", "on", "1", "yes"):
        return STATEMENT
    return "" if word in (False, None, "false", "off", "0", "no") else value


class AvatarFields(RequestBody):
    """What is known of a face, beside its file."""

    name: str = Field(default=NAMELESS, min_length=1, max_length=NAME, description="Its name.")
    consent: Annotated[str, BeforeValidator(_consent)] = Field(
        default="",
        max_length=WORDING,
        description=f"What was agreed to, in words; `true` stands for: {STATEMENT} No picture is kept without it.",
    )


class AvatarChange(RequestBody):
    """Changes of a face; absent fields stay as they are."""

    name: str | None = Field(default=None, min_length=1, max_length=NAME, description="Another name.")
    landmarks: dict[str, Any] | None = Field(
        default=None,
        description="Of a picture: where the parts of the face are. Points are [x, y], fractions of its width and height.",
    )
    shared: bool | None = Field(default=None, description="For admins: whether everyone may show it.")


_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "string",
                            "format": "binary",
                            "description": "A picture, or a VRM figure.",
                        },
                        "name": {"type": "string", "minLength": 1, "maxLength": NAME},
                        "consent": {"type": "string", "pattern": r"\S", "maxLength": WORDING},
                    },
                }
            }
        },
    }
}


def router(library: AvatarLibrary, rendered: Callable[[], Sequence[str]] = tuple) -> APIRouter:
    """The routes. `rendered`: the kinds of faces that the server renders in calls at this moment."""
    routes = APIRouter(prefix="/api/avatars", tags=["voice"])

    @routes.get("", summary="Faces: drawn ones, one's own, and shared ones")
    async def list_avatars(request: Request) -> Response:
        """The faces that the user may show: `id` is accepted wherever a request has an `avatar`. `rendered`: the kinds of which calls can
        have video."""
        user = user_of(request)
        rows = [_drawn_row(look) for look in library.looks.values()]
        rows += [_row(avatar, user) for avatar in await library.visible(user)]
        return answer(
            {"total": len(rows), "avatars": rows, "statement": STATEMENT, "rendered": list(rendered())}
        )

    @routes.post("", summary="Bring a face", status_code=201, openapi_extra=_FORM)
    async def add_avatar(request: Request) -> Response:
        """A picture of somebody who agreed to it, or a VRM figure (0.x or 1.0)."""
        data, fields = await _upload(request)
        user = user_of(request)
        avatar = await library.add(user, data, name=fields.name, statement=fields.consent)
        return answer(_row(avatar, user), 201)

    @routes.get("/{id}", summary="A face")
    async def read_avatar(request: Request, id: AvatarId) -> Response:
        user = user_of(request)
        look = library.looks.get(id)
        return answer(_row(await library.get(id, user), user) if look is None else _drawn_row(look))

    @routes.get("/{id}/look", summary="The shapes of a drawn face")
    async def read_look(request: Request, id: AvatarId) -> Response:
        """Paths, colours, and how each part of a pose moves their points."""
        look = library.looks.get(id)
        if look is None:
            raise NotFound("There is no drawn face of this name.", code="avatar_not_found", param="id")
        return _look_answer(look, request.headers.get("if-none-match"))

    @routes.get("/{id}/file", summary="The picture or the figure")
    async def read_file(request: Request, id: AvatarId) -> Response:
        """PNG or JPEG, upright; or a binary glTF file."""
        user = user_of(request)
        tag = f'"{(await library.get(id, user)).digest}"'
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=SAFE | {"ETag": tag})
        avatar, data = await library.file(id, user)
        name = f"{avatar.id}.{ENDINGS[avatar.mime]}"
        headers = SAFE | {"ETag": tag, "Content-Disposition": f'attachment; filename="{name}"'}
        return Response(data, media_type=avatar.mime, headers=headers)

    @routes.get("/{id}/preview", summary="A small picture of a face")
    async def read_preview(request: Request, id: AvatarId) -> Response:
        """A PNG of at most 256 pixels a side; of a figure the thumbnail inside its file, 404 where it has none."""
        return Response(await library.preview(id, user_of(request)), media_type="image/png", headers=SAFE)

    @routes.put(
        "/{id}",
        summary="Rename, mark or share a face",
        openapi_extra=json_body(AvatarChange, description="The face."),
    )
    async def change_avatar(request: Request, id: AvatarId) -> Response:
        change = await read_body(request, AvatarChange)
        user = user_of(request)
        avatar = await library.change(
            id,
            user,
            admin=_is_admin(request),
            name=change.name,
            landmarks=None if change.landmarks is None else read_landmarks(change.landmarks),
            shared=change.shared,
        )
        return answer(_row(avatar, user))

    @routes.delete("/{id}", summary="Delete a face and its file")
    async def delete_avatar(request: Request, id: AvatarId) -> Response:
        await library.delete(id, user_of(request), admin=_is_admin(request))
        return answer({"id": id, "deleted": True})

    return routes


def _look_answer(look: Look, known: str | None) -> Response:
    """A look as JSON; 304 where the browser knows it by its tag."""
    body = msgspec.json.encode(look)
    tag = f'"{hashlib.sha256(body).hexdigest()}"'
    headers = SAFE | {"ETag": tag}
    if known == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def _drawn_row(look: Look) -> dict[str, Any]:
    return {
        "id": look.name,
        "name": look.title,
        "kind": "drawn",
        "own": False,
        "shared": True,
        "ready": True,
        "preview": True,
    }


def _row(avatar: StoredAvatar, user: str) -> dict[str, Any]:
    """A face as clients see it. What was agreed to is its owner's business."""
    own = avatar.user == user
    row: dict[str, Any] = {
        "id": avatar.id,
        "name": avatar.name,
        "kind": avatar.kind,
        "own": own,
        "shared": avatar.shared,
        "ready": avatar.kind != "picture" or avatar.landmarks is not None,
        "mime": avatar.mime,
        "size": avatar.size,
        "digest": avatar.digest,
        "created": avatar.created,
        "preview": avatar.has_preview,
    }
    if avatar.kind == "picture":
        row |= {"width": avatar.width, "height": avatar.height, "landmarks": avatar.landmarks}
    if own:
        row["consent"] = {"statement": avatar.statement, "agreed": avatar.agreed}
    return row


def _is_admin(request: Request) -> bool:
    return bool(request.scope.get("state", {}).get("role") == "admin")


async def _upload(request: Request) -> tuple[bytes, AvatarFields]:
    """The file and the fields of a form. Raises BadRequest; the middleware has refused larger bodies."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise BadRequest(
            "Send a form (multipart/form-data) with the picture or figure in `file`.", param="file"
        )
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
    return data, read(AvatarFields, values)
