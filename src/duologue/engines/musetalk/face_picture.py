"""Pixels around MuseTalk: the face cut out of a frame, and what was drawn blended in.

Used by `prepared_avatar` and `engine`. Pictures are arrays of bytes of the shape (height, width, 3), RGB. Calls block.
"""

from __future__ import annotations

from typing import Any

from duologue.engines.musetalk.face_box import Box, blur_sigma, jaw_outline


def cut_face(frame: Any, box: Box, side: int) -> Any:
    """The face in a frame as a square of `side` pixels."""
    return _resized(frame[box.top : box.bottom, box.left : box.right], side, side)


def jaw_mask(box: Box) -> Any:
    """How much of what is drawn shows in each pixel of the box, from 0 to 1: shape (height, width, 1). The upper half of the face, the
    cheeks and what is around it are left alone, with soft edges."""
    import numpy
    from PIL import Image, ImageDraw, ImageFilter

    mask = Image.new("L", (box.width, box.height))
    ImageDraw.Draw(mask).polygon(jaw_outline(box), fill=255)
    soft = mask.filter(ImageFilter.GaussianBlur(blur_sigma(box)))
    return numpy.asarray(soft, numpy.float32)[..., None] / 255


def blended(frame: Any, box: Box, mask: Any, face: Any) -> Any:
    """A copy of the frame with the drawn face in its box. Pixels that the mask does not reach stay exactly as they are."""
    import numpy

    inside = (slice(box.top, box.bottom), slice(box.left, box.right))
    below = frame[inside].astype(numpy.float32)
    made = below + (_resized(face, box.width, box.height) - below) * mask
    result = frame.copy()
    result[inside] = numpy.rint(made).astype(numpy.uint8)
    return result


def _resized(picture: Any, width: int, height: int) -> Any:
    import numpy
    from PIL import Image

    return numpy.asarray(Image.fromarray(picture).resize((width, height), Image.Resampling.LANCZOS))
