"""Reading the picture of an avatar, for engines that draw pictures. Calls block."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from duologue.engines.footage.clip_cycle import fitted_size
from duologue.errors import BadRequest

LARGEST = 50_000_000
"""Pixels of the largest picture that is read."""
FORMATS = ("PNG", "JPEG", "WEBP")


def read_picture(data: bytes, longest: int, multiple: int = 2) -> Any:
    """The picture, upright, scaled to `longest` pixels on its longer side; both sides are multiples of `multiple`: even ones, as H.264 needs them, or what a
    model asks for. An array of bytes of the shape (height, width, 3), RGB. Raises BadRequest for
    what is no picture, or a huge one."""
    import numpy
    from PIL import Image, ImageOps

    try:
        picture: Image.Image = Image.open(BytesIO(data), formats=FORMATS)
        # Known before anything is decoded.
        if picture.width * picture.height > LARGEST:
            raise BadRequest(
                f"The avatar's picture has {picture.width} x {picture.height} pixels; use one of at most {LARGEST // 1_000_000} megapixels.",
                param="avatar",
            )
        picture = ImageOps.exif_transpose(picture).convert("RGB")
    except BadRequest:
        raise
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise BadRequest(
            f"The avatar's picture cannot be read ({error}). Use a PNG, JPEG or WebP file.", param="avatar"
        ) from None
    size = fitted_size(picture.width, picture.height, longest=longest, multiple=multiple)
    return numpy.asarray(picture.resize(size, Image.Resampling.LANCZOS))
