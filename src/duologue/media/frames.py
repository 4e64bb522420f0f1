"""Frames of a video as small JPEGs, upright, and several of them as one collage. Called by `videos`, in decoder processes."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

QUALITY = 85
LEAST_SIDE = 16
"""Pixels: nothing is made smaller."""


class Jpeg(Struct, frozen=True):
    """An encoded picture. Pixels."""

    data: bytes
    width: int
    height: int


def fitted_size(width: int, height: int, megapixels: float) -> tuple[int, int]:
    """The size of the same shape with at most so many pixels; even numbers, as codecs have them."""
    scale = min(1.0, math.sqrt(megapixels * 1_000_000 / (width * height)))
    return tuple(max(LEAST_SIDE, int(side * scale) // 2 * 2) for side in (width, height))  # type: ignore[return-value]


def encode_frame(frame: Any, width: int, height: int) -> Jpeg:
    """A decoded frame at this size. Phones record lying pictures with a note how to turn them: that is followed."""
    image = frame.reformat(width=width, height=height, format="rgb24").to_image()
    turn = round(float(getattr(frame, "rotation", 0) or 0) / 90) * 90 % 360
    if turn:
        image = image.rotate(turn, expand=True)
    return _jpeg(image)


def collage(cells: Sequence[Jpeg]) -> Jpeg:
    """The pictures in rows, as square as it gets, in reading order. They are of one size."""
    from PIL import Image

    columns = math.ceil(math.sqrt(len(cells)))
    rows = math.ceil(len(cells) / columns)
    width, height = cells[0].width, cells[0].height
    board = Image.new("RGB", (columns * width, rows * height))
    for number, cell in enumerate(cells):
        with Image.open(io.BytesIO(cell.data), formats=["JPEG"]) as image:
            board.paste(image, (number % columns * width, number // columns * height))
    return _jpeg(board)


def _jpeg(image: Any) -> Jpeg:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY)
    return Jpeg(buffer.getvalue(), *image.size)
