"""The faces to speak with: drawn ones, and those that people bring; who may show which, and how many there may be.

Owns the rules and their sentences; rows are in `store.faces.avatar_rows`, files are read in a decoder process. Used by
`avatar_routes`, and by everything that has a face drawn (`source`).
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from duologue.decoder.service import decode
from duologue.errors import BadRequest, Forbidden, NotFound, Problem, Unavailable
from duologue.faces.still import still
from duologue.media.avatar_picture import draw_preview, read_avatar_picture
from duologue.media.glb import MAGIC
from duologue.media.vrm_file import read_figure
from duologue.values.avatars import BROUGHT, AvatarSource, Landmarks, StoredAvatar
from duologue.wire.validation_errors import shortened

if TYPE_CHECKING:
    from duologue.faces.look import Look
    from duologue.store.faces.avatar_rows import AvatarRows

STATEMENT = "This is a picture of me, or the person in it agreed that it is used here."
"""What a client agrees to that sends no wording of its own."""
NO_CONSENT = (
    "A picture is kept as a face only with the consent of the person in it. "
    "Send `consent` with what was agreed to, such as: " + STATEMENT
)
ID_BYTES = 16
FIGURE_TYPE = "model/gltf-binary"


class AvatarLibrary:
    """`most`: the faces that one user may bring; `looks`: the drawn ones by name. Until `use`, everything about those that are stored
    raises Unavailable."""

    def __init__(self, most: int, looks: Mapping[str, Look]) -> None:
        self._most = most
        self.looks = looks
        self._rows: AvatarRows | None = None
        self._drawn_previews: dict[str, bytes] = {}

    def use(self, rows: AvatarRows) -> None:
        """The database is open."""
        self._rows = rows

    async def source(self, id: str, user: str) -> AvatarSource:
        """What a video engine needs to draw this face. Raises NotFound, and BadRequest (`landmarks_missing`) for a picture that is not
        marked yet. A figure is given without its bytes: only browsers draw it."""
        if (look := self.looks.get(id)) is not None:
            digest = hashlib.sha256(msgspec.json.encode(look)).hexdigest()
            return AvatarSource(id, "drawn", digest, look=look.name)
        avatar = await self.get(id, user)
        if avatar.kind != "picture":
            return AvatarSource(id, avatar.kind, avatar.digest)
        if avatar.landmarks is None:
            raise BadRequest(
                "The face in this picture is not marked yet. Open Settings > Voice > Your faces and place its points once.",
                code="landmarks_missing",
                param="avatar",
            )
        marked = avatar.digest.encode() + msgspec.json.encode(avatar.landmarks)
        data = await self._bytes(avatar.id)
        return AvatarSource(
            id, "picture", hashlib.sha256(marked).hexdigest(), data=data, landmarks=avatar.landmarks
        )

    async def visible(self, user: str) -> list[StoredAvatar]:
        """The faces that people brought and this user may show, their own first."""
        return await self._stored.visible(user)

    async def get(self, id: str, user: str) -> StoredAvatar:
        """A face that somebody brought and this user may show. Raises NotFound."""
        avatar = await self._stored.get(id, user)
        if avatar is None:
            raise _not_found(id)
        return avatar

    async def file(self, id: str, user: str) -> tuple[StoredAvatar, bytes]:
        """A face that somebody brought, with its bytes. Raises NotFound."""
        avatar = await self.get(id, user)
        return avatar, await self._bytes(id)

    async def preview(self, id: str, user: str) -> bytes:
        """A small PNG of a face. Raises NotFound, also where there is none."""
        if (look := self.looks.get(id)) is not None:
            return await self._drawn_preview(look)
        avatar = await self.get(id, user)
        data = await self._stored.data(id, "preview") if avatar.has_preview else None
        if data is None:
            raise NotFound("This figure has no thumbnail inside its file.", code="avatar_without_preview")
        return data

    async def add(self, user: str, data: bytes, *, name: str, statement: str = "") -> StoredAvatar:
        """Store a picture of any known format, or a VRM figure. `statement` is what was agreed to, needed for a picture. Raises BadRequest
        without one, for too many faces, and as `read_avatar_picture` and `read_figure`."""
        rows, statement = self._stored, statement.strip()
        if not data:
            raise BadRequest("The file is empty.", code="avatar_unreadable", param="file")
        if data.startswith(MAGIC):
            avatar, data, preview = await _figure(user, name, data)
        elif not statement:
            raise BadRequest(NO_CONSENT, code="avatar_consent_missing", param="consent")
        else:
            avatar, data, preview = await _picture(user, name, data)
        stored = await rows.add(
            msgspec.structs.replace(avatar, statement=statement), data, preview, self._most
        )
        if stored is None:
            raise BadRequest(
                f"You have {self._most} faces, the most allowed (setting limits.avatars). Delete one of them first.",
                code="too_many_avatars",
            )
        return stored

    async def change(
        self,
        id: str,
        user: str,
        *,
        admin: bool,
        name: str | None = None,
        landmarks: Landmarks | None = None,
        shared: bool | None = None,
    ) -> StoredAvatar:
        """Change what is not None. Its owner may rename and mark it; sharing needs an admin. Raises NotFound, Forbidden, and BadRequest
        for landmarks of a figure."""
        avatar = await self._own(id, user, admin=admin)
        if shared is not None and shared != avatar.shared and not admin:
            raise Forbidden("Only an admin can share a face with everyone.", code="admin_needed")
        if landmarks is not None and avatar.kind != "picture":
            raise BadRequest(
                "Only a picture has landmarks; this is a figure.", code="landmarks_invalid", param="landmarks"
            )
        changed = msgspec.structs.replace(
            avatar,
            name=avatar.name if name is None else name,
            landmarks=avatar.landmarks if landmarks is None else landmarks,
            shared=avatar.shared if shared is None else shared,
        )
        if not await self._stored.change(changed):
            raise _not_found(id)
        return changed

    async def delete(self, id: str, user: str, *, admin: bool) -> None:
        """Delete a face with its bytes. Raises NotFound, Forbidden."""
        await self._own(id, user, admin=admin)
        await self._stored.delete(id)

    async def _drawn_preview(self, look: Look) -> bytes:
        """Drawn once: there are as many as looks."""
        if look.name not in self._drawn_previews:
            self._drawn_previews[look.name] = await decode(draw_preview, still(look).encode())
        return self._drawn_previews[look.name]

    async def _own(self, id: str, user: str, *, admin: bool) -> StoredAvatar:
        if id in self.looks:
            raise Forbidden(
                "A drawn face is part of the server and cannot be changed.", code="avatar_not_yours"
            )
        avatar = await self.get(id, user)
        if avatar.user != user and not admin:
            raise Forbidden(
                "This face is shared with you. Only its owner can do this.", code="avatar_not_yours"
            )
        return avatar

    async def _bytes(self, id: str) -> bytes:
        data = await self._stored.data(id)
        if data is None:
            raise _not_found(id)
        return data

    @property
    def _stored(self) -> AvatarRows:
        if self._rows is None:
            raise Unavailable("The server is starting. Try again in a moment.")
        return self._rows


async def _figure(user: str, name: str, data: bytes) -> tuple[StoredAvatar, bytes, bytes]:
    """A figure as it came, and its preview."""
    figure = await decode(read_figure, data, user=user)
    avatar = StoredAvatar(_new_id(), user, name, "figure", FIGURE_TYPE, len(data), _digest(data))
    return avatar, data, figure.preview


async def _picture(user: str, name: str, data: bytes) -> tuple[StoredAvatar, bytes, bytes]:
    """A picture encoded anew, and its preview."""
    read = await decode(read_avatar_picture, data, user=user)
    drawn = read.picture
    avatar = StoredAvatar(
        *(_new_id(), user, name, "picture", drawn.mime, len(drawn.data), _digest(drawn.data)),
        width=drawn.width,
        height=drawn.height,
    )
    return avatar, drawn.data, read.preview


def _new_id() -> str:
    return BROUGHT + secrets.token_hex(ID_BYTES)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _not_found(id: str) -> Problem:
    return NotFound(
        f"There is no face {shortened(id)!r}, or it is not yours. GET /api/avatars lists yours.",
        code="avatar_not_found",
        param="avatar",
    )
