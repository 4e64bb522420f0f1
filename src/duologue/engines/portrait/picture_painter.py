"""Paints a picture whose mouth, eyes and head are moved, by the places that a person has marked in it.

`engine.py` calls it in its thread. For each pixel of a frame it is worked out which place of the picture moved there. What a full weight of
each part of a pose moves is computed once (after `web/src/voice/face/picture/warp.ts`, which the page draws with); a frame adds fields, in
the boxes of the mouth and the eyes only, and looks colours up in a finer copy of the picture, where the nearest pixel is near enough.
The rest of the picture follows the head (`picture_head.py`), in every second frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any, NamedTuple

from duologue.engines.portrait.picture_head import FaceAxes, HeadField
from duologue.errors import BadRequest
from duologue.values.avatars import Eye, Landmarks, Point

JAW, LIFT = 0.42, 0.05
"""In mouth widths: how far the jaw drops and the upper lip rises,"""
SPREAD, ROUND = 0.1, 0.2
"""and how far the mouth's corners go."""
CLOSED = 1.05
"""How much of an eye a closed lid covers: a little more than its place is marked."""
SKIN = 0.22
"""In eye widths: the skin above a lid that follows it."""
TEETH, DARK, TONGUE = (232.0, 224.0, 214.0), (66.0, 22.0, 26.0), (176.0, 84.0, 88.0)
FINER, FINEST = 4, 2048
"""How many times finer the copy of the picture is, and its longest side: 16 MB."""
REFINED = 2
"""Steps to find what moved to a place, each of which starts from the last one's answer."""


class PicturePainter:
    """Paints frames of `size` x `size` pixels. Not for several threads at a time. Raises BadRequest for a picture that cannot be read or has
    no landmarks."""

    def __init__(self, data: bytes, marks: Landmarks | None, size: int) -> None:
        import numpy as np

        if marks is None:
            raise BadRequest(
                "The face in this picture is not marked yet. Place its points once.", code="landmarks_missing"
            )
        self._np = np
        pixels, place = _fitted(data, marks, size)
        self._colours = _Colours(pixels, np)
        self._rest = np.frombuffer(pixels.convert("RGBX").tobytes(), np.uint32).reshape(size, size)
        self._still = self._rest
        eyes = marks.left_eye, marks.right_eye
        middles = [_between(place.of(eye.outer), place.of(eye.inner)) for eye in eyes]
        self._head = HeadField(FaceAxes(middles[0], middles[1], place.of(marks.lips)), size, np)
        self._mouth = _MouthField(self._colours, marks, place, size, np)
        self._lids = [_Lid(self._colours, eye, place, size, np) for eye in eyes]

    def paint(self, pose: Mapping[str, float]) -> bytes:
        """RGB, `size` rows of `size` pixels."""
        head = self._head
        if head.pose(pose):
            self._still = self._rest if head.rests else self._colours.at(head.x, head.y)
        frame = self._still.copy()
        self._mouth.paint(frame, pose, head)
        blink = max(0.0, min(1.0, pose.get("blink", 0.0)))
        if blink > 0.01:
            for lid in self._lids:
                lid.paint(frame, blink, head)
        return self._colours.bytes_of(frame)


def _between(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return (one[0] + other[0]) / 2, (one[1] + other[1]) / 2


class _Colours:
    """The picture's colours between its pixels too: of a copy with a few times as many, each in one word."""

    def __init__(self, picture: Any, np: Any) -> None:
        from PIL import Image

        self._np, size = np, picture.size[0]
        self._finer = finer = max(1, min(FINER, FINEST // size))
        # Pixels of the picture are pixels of the copy, unchanged.
        fine = picture.convert("RGBX").transform(
            (size * finer, size * finer),
            Image.Transform.AFFINE,
            (1 / finer, 0, 0.5 - 0.5 / finer, 0, 1 / finer, 0.5 - 0.5 / finer),
            Image.Resampling.BICUBIC,
        )
        self._words = np.frombuffer(fine.tobytes(), np.uint32)
        self._side, self._most = size * finer, (size - 1) * finer

    def at(self, x: Any, y: Any) -> Any:
        """The colours at these places in pixels, each as one word."""
        np = self._np
        column = np.clip(x * np.float32(self._finer) + np.float32(0.5), 0, self._most).astype(np.int32)
        row = np.clip(y * np.float32(self._finer) + np.float32(0.5), 0, self._most).astype(np.int32)
        row *= self._side
        row += column
        return self._words.take(row)

    def split(self, words: Any) -> Any:
        """A view of these words as bytes of the shape (..., 4): RGB and one that is not used."""
        return words.view(self._np.uint8).reshape(*words.shape, 4)

    def bytes_of(self, frame: Any) -> bytes:
        """RGB of a frame of words."""
        from PIL import Image

        # Three times as fast as a copy of three of four bytes by NumPy.
        size = frame.shape[1], frame.shape[0]
        return Image.frombuffer("RGBX", size, frame, "raw", "RGBX", 0, 1).convert("RGB").tobytes()


class _Place:
    """Where the picture lies in the frame: fractions of the picture to pixels of the frame."""

    def __init__(self, width: float, height: float, left: float, top: float) -> None:
        self._width, self._height, self._left, self._top = width, height, left, top

    def of(self, point: Point) -> tuple[float, float]:
        return point.x * self._width - self._left, point.y * self._height - self._top


def _fitted(data: bytes, marks: Landmarks, size: int) -> tuple[Any, _Place]:
    """The picture cut to a square around the face."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(BytesIO(data)) as opened:
            picture = opened.convert("RGB")
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        raise BadRequest("The picture of this face cannot be read.", code="avatar_unreadable") from None
    scale = size / min(picture.size)
    width, height = (max(size, round(side * scale)) for side in picture.size)
    eyes = (marks.left_eye.inner, marks.right_eye.inner, marks.mouth_left, marks.mouth_right)
    middle_x = sum(point.x for point in eyes) / 4 * width
    middle_y = sum(point.y for point in eyes) / 4 * height
    left = round(min(width - size, max(0.0, middle_x - size / 2)))
    top = round(min(height - size, max(0.0, middle_y - size / 2)))
    fitted = picture.resize((width, height), Image.Resampling.LANCZOS).crop(
        (left, top, left + size, top + size)
    )
    return fitted, _Place(width, height, left, top)


class _Spot(NamedTuple):
    """Places in the picture, in pixels: arrays."""

    x: Any
    y: Any


def _turned(aside: Any, sink: Any, along: Any, down: Any, np: Any) -> Any:
    return np.stack([aside * along[0] + sink * down[0], aside * along[1] + sink * down[1]])


class _MouthField:
    """The mouth and the chin. Places along the line of the lips and under it, in mouth widths."""

    def __init__(self, colours: _Colours, marks: Landmarks, place: _Place, size: int, np: Any) -> None:
        self._np, self._colours = np, colours
        left, right = np.array(place.of(marks.mouth_left)), np.array(place.of(marks.mouth_right))
        lips, chin = np.array(place.of(marks.lips)), np.array(place.of(marks.chin))
        top, bottom = np.array(place.of(marks.mouth_top)), np.array(place.of(marks.mouth_bottom))
        self._width = width = max(4.0, float(np.hypot(*(right - left))))
        along = (right - left) / width
        down = np.array((-along[1], along[0]))
        centre = (left + right) / 2
        depth = max(0.4, float((chin - lips) @ down) / width)
        reach = np.array([left, right, chin, top])
        x0, y0 = (max(0, int(value)) for value in reach.min(axis=0) - 0.6 * width)
        x1, y1 = (min(size, int(value) + 1) for value in reach.max(axis=0) + 0.6 * width)
        self._box = (x0, y0, x1, y1)
        x, y = np.meshgrid(np.arange(x0, x1, dtype=np.float32), np.arange(y0, y1, dtype=np.float32))
        offset_x, offset_y = x - centre[0], y - centre[1]
        across = (offset_x * along[0] + offset_y * along[1]) / (width / 2)
        middle = float((lips - centre) @ down)
        line = middle * np.clip(1 - across * across, 0, 1)
        under = ((offset_x * down[0] + offset_y * down[1]) - line) / width
        self._under = under.astype(np.float32)
        upper_lip = max(0.03, float((lips - top) @ down) / width)
        lower_lip = max(0.03, float((bottom - lips) @ down) / width)
        # Nothing may move at the region's edge, or it would show.
        edge = np.minimum.reduce([x - x0, x1 - 1 - x, y - y0, y1 - 1 - y]) / (0.15 * width)
        free = width * np.clip(edge, 0, 1)
        self._fields = {
            name: np.stack([_turned(aside, sink, along, down, np) * free for aside, sink in sides]).astype(
                np.float32
            )
            for name, sides in _fields(across, under, depth, upper_lip, lower_lip, np).items()
        }
        self._down = (down / width).astype(np.float32)

    def paint(self, frame: Any, pose: Mapping[str, float], head: HeadField) -> None:
        np = self._np
        weights = {name: max(0.0, min(1.0, pose.get(name, 0.0))) for name in self._fields}
        moving = {name: np.float32(weight) for name, weight in weights.items() if weight > 0.005}
        if not moving:
            return
        # The upper and the lower side, each across and down.
        moved = sum(weight * self._fields[name] for name, weight in moving.items())
        x0, y0, x1, y1 = head.reached(self._box)
        place = _Spot(head.x[y0:y1, x0:x1], head.y[y0:y1, x0:x1])
        under = self._sampled(self._under, place)
        across, down = self._down
        nearest = self._nearest(place)
        under += (place.x - nearest.x) * across + (place.y - nearest.y) * down
        upper_x, upper_y, upper = self._source(moved[0], place, under)
        lower_x, lower_y, lower = self._source(moved[1], place, under)
        is_lower = (upper > 0) & ((lower >= 0) | (under > 0))
        colours = self._colours.at(np.where(is_lower, lower_x, upper_x), np.where(is_lower, lower_y, upper_y))
        # Between the lips is what neither the upper nor the lower side has moved to.
        gap = np.minimum(upper, -lower)
        inner = np.nonzero(gap > 0)
        if len(inner[0]):
            share = np.minimum(1, gap[inner] * np.float32(self._width))[..., None]
            inside = self._inside(upper[inner], lower[inner], weights)
            channels = self._colours.split(colours)[..., :3]
            channels[inner] = (channels[inner] * (1 - share) + inside * share + 0.5).astype(np.uint8)
        frame[y0:y1, x0:x1] = colours

    def _source(self, moved: Any, place: _Spot, under: Any) -> tuple[Any, Any, Any]:
        """Where in the picture each pixel comes from if it belongs to the side that moves so, and how far under the line of the lips that is, in
        mouth widths."""
        source = place
        for _ in range(REFINED + 1):
            step_x, step_y = self._sampled(moved[0], source), self._sampled(moved[1], source)
            source = _Spot(place.x - step_x, place.y - step_y)
        across, down = self._down
        return source.x, source.y, under - (step_x * across + step_y * down)

    def _nearest(self, place: _Spot) -> _Spot:
        """The pixels of the region that are nearest to these places."""
        np = self._np
        x0, y0, x1, y1 = self._box
        half = np.float32(0.5)
        return _Spot(
            np.clip(place.x + half, x0, x1 - 1).astype(np.int32),
            np.clip(place.y + half, y0, y1 - 1).astype(np.int32),
        )

    def _sampled(self, field: Any, place: _Spot) -> Any:
        nearest = self._nearest(place)
        x0, y0, x1, _ = self._box
        return field.ravel().take((nearest.y - y0) * (x1 - x0) + (nearest.x - x0))

    def _inside(self, upper: Any, lower: Any, weights: Mapping[str, float]) -> Any:
        """Teeth at the top, the dark, and the tongue at the bottom."""
        np = self._np
        share = (upper / np.maximum(1e-3, upper - lower))[..., None]
        opened = min(1.0, weights["open"] * 1.6) * (1 - 0.6 * weights["round"])
        teeth = np.clip((0.32 - share) * 12, 0, 1) * 0.9 * opened
        tongue = np.clip((share - 0.72 + 0.3 * weights["tongue"]) * 8, 0, 1) * 0.85
        dark, white, red = (np.array(colour, np.float32) for colour in (DARK, TEETH, TONGUE))
        inside = dark * (1 - tongue) + red * tongue
        return inside * (1 - teeth) + white * teeth


def _fields(
    across: Any, under: Any, depth: float, upper_lip: float, lower_lip: float, np: Any
) -> dict[str, Any]:
    """What a full weight of each part moves, aside and down in mouth widths, on the upper and on the lower side."""
    profile = np.clip(1 - across * across, 0, 1) ** 0.75
    low, high = np.maximum(0, under), np.maximum(0, -under)
    jaw = np.exp(-((across / 1.7) ** 2))
    share = _smooth(low / 0.45, np)
    drop = (
        JAW * (profile * (1 - share) + 0.72 * jaw * share) * _fade(low, depth * 1.05, depth * 1.05 + 0.4, np)
    )
    lift = -LIFT * profile * _fade(high, 0.05, 0.35, np)
    near = np.exp(-((under / 0.45) ** 2))
    beyond = np.sign(across) * np.exp(-(((np.abs(across) - 1) / 0.8) ** 2))
    corner = np.where(np.abs(across) < 1, across, beyond) * near
    lips = np.clip(1 - (across * 1.4) ** 2, 0, 1) ** 0.75 * np.exp(-((under / 0.35) ** 2))
    nothing = np.zeros_like(across)
    squeeze_low = -0.55 * lower_lip * profile * _bump(low / lower_lip, 1, 1.3, np)
    squeeze_high = 0.4 * upper_lip * profile * _bump(high / upper_lip, 1, 1.3, np)
    tuck_low = -0.5 * lower_lip * profile * _bump(low / lower_lip, 0.9, 1.4, np)
    tuck_high = -0.09 * profile * _fade(high, 0.05, 0.4, np)
    sides: dict[str, Any] = {
        "open": ((nothing, lift), (nothing, drop)),
        "wide": ((SPREAD * corner, -0.03 * np.abs(corner)),) * 2,
        "round": ((-ROUND * corner, -0.05 * lips), (-ROUND * corner, 0.1 * lips)),
        "press": ((nothing, squeeze_high), (nothing, squeeze_low)),
        "tuck": ((nothing, tuck_high), (nothing, tuck_low)),
        "tongue": ((nothing, nothing),) * 2,
        "smile": ((0.07 * corner, -0.12 * np.abs(corner)),) * 2,
    }
    return sides


class _Lid:
    """One eye, whose upper lid comes down over it: the skin above is stretched."""

    def __init__(self, colours: _Colours, eye: Eye, place: _Place, size: int, np: Any) -> None:
        self._np, self._colours = np, colours
        self._outer, self._inner = outer, inner = place.of(eye.outer), place.of(eye.inner)
        upper, lower = place.of(eye.upper), place.of(eye.lower)
        self._width = width = max(3.0, float(np.hypot(inner[0] - outer[0], inner[1] - outer[1])))
        left, right = sorted((outer[0], inner[0]))
        y0 = max(0, int(upper[1] - SKIN * width) - 1)
        y1 = min(size, int(max(lower[1], outer[1], inner[1])) + 3)
        self._box = (max(0, int(left - 0.15 * width)), y0, min(size, int(right + 0.15 * width) + 1), y1)
        self._upper, self._height = upper[1] - (outer[1] + inner[1]) / 2, lower[1] - upper[1]
        self._skin, self._lash = SKIN * width, max(0.8, 0.035 * width)

    def paint(self, frame: Any, blink: float, head: HeadField) -> None:
        np = self._np
        x0, y0, x1, y1 = head.reached(self._box)
        x, y = head.x[y0:y1, x0:x1], head.y[y0:y1, x0:x1]
        top, gap = self._lids(x)
        moved = gap * (CLOSED * blink)
        start = top - self._skin
        source = start + (y - start) * self._skin / (self._skin + moved)
        covered = (y >= start) & (y < top + moved)
        colours = self._colours.at(x, np.where(covered, source, y))
        # Lashes: the lid's edge is darker.
        edge = np.exp(-(((y - top - moved) / self._lash) ** 2)) * np.minimum(1, moved / self._lash)
        channels = self._colours.split(colours)[..., :3]
        channels[...] = (channels * (1 - 0.6 * edge[..., None]) + 0.5).astype(np.uint8)
        frame[y0:y1, x0:x1] = colours

    def _lids(self, x: Any) -> tuple[Any, Any]:
        """The y of the upper lid, and the height of the eye. Lids are bows from corner to corner."""
        np = self._np
        outer, inner = self._outer, self._inner
        slope = (inner[1] - outer[1]) / (inner[0] - outer[0]) if inner[0] != outer[0] else 0.0
        share = (x - (outer[0] + inner[0]) / 2) / (self._width / 2)
        bow = np.sqrt(np.clip(1 - share * share, 0, 1))
        return outer[1] + (x - outer[0]) * slope + self._upper * bow, np.maximum(0, self._height * bow)


def _smooth(share: Any, np: Any) -> Any:
    share = np.clip(share, 0, 1)
    return share * share * (3 - 2 * share)


def _fade(value: Any, near: float, far: float, np: Any) -> Any:
    """1 up to `near`, 0 from `far` on."""
    return 1 - _smooth((value - near) / (far - near), np)


def _bump(value: Any, at: float, width: float, np: Any) -> Any:
    """1 at `at`, 0 from `width` beside it on."""
    return 1 - _smooth(np.abs(value - at) / width, np)
