"""A picture of a face to speak with: any picture, upright and of a size that a graphics card takes, and a small one for lists.

Runs in decoder processes, for `gateway.avatars.library`.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.decoder.job import decoder_job
from duologue.errors import BadRequest
from duologue.media import images

SIDE = 2048
"""Pixels: what is larger is made smaller."""
LEAST = 64
"""Pixels of a side: in fewer nobody finds the corners of a mouth."""
PREVIEW_SIDE = 256


class AvatarPicture(Struct, frozen=True):
    """`picture`: PNG or JPEG; `preview`: PNG."""

    picture: images.Picture
    preview: bytes


@decoder_job(seconds=images.SECONDS, memory_mb=images.MEMORY_MB, preload=images.LIBRARIES)
def read_avatar_picture(data: bytes) -> AvatarPicture:
    """Raises BadRequest (`image_unreadable`, `avatar_too_small`), TooLarge (`image_too_large`)."""
    picture = images.portrait(data, SIDE)
    if min(picture.width, picture.height) < LEAST:
        raise BadRequest(
            f"The picture has {picture.width} x {picture.height} pixels, too few for a face. Choose a larger one.",
            code="avatar_too_small",
        )
    return AvatarPicture(picture, images.preview(picture.data, PREVIEW_SIDE))


@decoder_job(seconds=images.SECONDS, memory_mb=images.MEMORY_MB, preload=images.LIBRARIES)
def draw_preview(drawing: bytes) -> bytes:
    """A small PNG of a drawn face, which is given as SVG."""
    return images.preview(drawing, PREVIEW_SIDE)
