"""Paints a look in any pose: each shape becomes a stamp (how much of each pixel it covers), and stamps are painted over each other.

`engine.py` calls it in its thread. What makes it fast: a stamp depends only on the parts of the pose that move its shape, in steps that nobody
sees, so most stamps are kept from one frame to the next; and the shapes behind the face are painted once for each position of the head.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from functools import cache
from math import hypot
from typing import TYPE_CHECKING, Any, NamedTuple

from duologue.engines.portrait.outlines import Outlines
from duologue.faces.look import SIDE, Look
from duologue.faces.pose import PARTS

if TYPE_CHECKING:
    from PIL.Image import Image

FINE = 4
"""Each pixel is as many times as many parts, to tell how much of it is covered."""
NUDGE = 0.3
"""Pixels that a step of a part of the pose moves a point at most."""
SHADES = 32
"""Steps of an opacity that a part of the pose decides."""
KEPT = 32 * 2**20
"""Bytes of stamps that are kept."""
FAST = frozenset(
    {"open", "wide", "round", "press", "tuck", "tongue", "blink", "look_x", "look_y", "smile", "brow"}
)
"""Parts of a pose that move the face and not the head."""


class Stamp(NamedTuple):
    """What a shape covers: a box of pixels (left, top, right, bottom), and 0 to 255 for each. `mask` None: all of the box."""

    box: tuple[int, int, int, int]
    mask: Image | None


PAPER = (243, 241, 238)
"""What is behind a look."""
EMPTY = Stamp((0, 0, 0, 0), None)


class LookPainter:
    """Paints frames of `size` x `size` pixels. Not for several threads at a time."""

    def __init__(self, look: Look, size: int, theme: str = "light") -> None:
        import PIL.Image
        from PIL import ImageChops, ImageDraw

        self._image, self._chops, self._draw = PIL.Image, ImageChops, ImageDraw
        self._size, self._scale = size, size / SIDE
        self._look = look
        self._colours = {name: _rgb(value) for name, value in look.colours[theme].items()}
        self._outlines = Outlines(look)
        self._places = {shape.id: at for at, shape in enumerate(look.shapes)}
        self._levels = [max(1.0, reach * self._scale / NUDGE) for reach in self._outlines.reach]
        self._stamps: OrderedDict[tuple[object, ...], Stamp] = OrderedDict()
        self.kept_bytes = 0
        """Bytes of the stamps that are kept, at most KEPT."""
        self._ground = self._first_of_face()
        self._behind: tuple[tuple[object, ...], Image] | None = None
        self._points: Any = None

    def paint(self, pose: Mapping[str, float]) -> bytes:
        """RGB, `size` rows of `size` pixels."""
        steps = [round(pose.get(part, 0.0) * level) for part, level in zip(PARTS, self._levels, strict=True)]
        weights = [step / level for step, level in zip(steps, self._levels, strict=True)]
        self._points = self._outlines.posed(weights) * self._scale
        behind = tuple(steps[at] for at, part in enumerate(PARTS) if part not in FAST)
        if self._behind is None or self._behind[0] != behind:
            canvas = self._image.new("RGB", (self._size, self._size), PAPER)
            self._paint_shapes(canvas, 0, self._ground, steps, pose)
            self._behind = (behind, canvas)
        canvas = self._behind[1].copy()
        self._paint_shapes(canvas, self._ground, len(self._look.shapes), steps, pose)
        return canvas.tobytes()

    def _first_of_face(self) -> int:
        """The place of the first shape that the face moves; those before it are behind the face."""
        for at, shape in enumerate(self._look.shapes):
            if shape.shade or FAST.intersection(shape.moves):
                return at
        return len(self._look.shapes)

    def _paint_shapes(
        self, canvas: Image, first: int, end: int, steps: list[int], pose: Mapping[str, float]
    ) -> None:
        for at in range(first, end):
            shape = self._look.shapes[at]
            shade = round(SHADES * max(0.0, min(1.0, pose.get(shape.shade, 0.0)))) if shape.shade else SHADES
            colour = self._colours.get(shape.fill or shape.stroke)
            if not shade or colour is None:
                continue
            stamp = self._stamp(at, steps, shade)
            if stamp.mask is not None:
                canvas.paste(colour, stamp.box, stamp.mask)
            elif stamp is not EMPTY:
                canvas.paste(colour, stamp.box)

    def _stamp(self, at: int, steps: list[int], shade: int) -> Stamp:
        """The shape as it is painted: within its clip, with its opacity."""
        shape = self._look.shapes[at]
        clip = self._places[shape.inside] if shape.inside else at
        moving = self._outlines.moving
        key = (at, shade, *(steps[part] for part in moving[at]))
        if clip != at:
            key = (*key, *(steps[part] for part in moving[clip]))
        if (kept := self._stamps.get(key)) is not None:
            self._stamps.move_to_end(key)
            return kept
        stamp = self._covered(at, steps)
        if clip != at:
            stamp = self._clipped(stamp, self._covered(clip, steps))
        opacity = shape.opacity * shade / SHADES
        if opacity < 1 and stamp is not EMPTY:
            mask = stamp.mask or self._image.new("L", _extent(stamp), 255)
            stamp = Stamp(stamp.box, mask.point(_fading(round(opacity * 255))))
        return self._keep(key, stamp)

    def _covered(self, at: int, steps: list[int]) -> Stamp:
        """What the outline covers, kept for the shapes that are painted within it."""
        key = (at, "outline", *(steps[part] for part in self._outlines.moving[at]))
        if (kept := self._stamps.get(key)) is not None:
            return kept
        return self._keep(key, self._cover(at))

    def _cover(self, at: int) -> Stamp:
        shape = self._look.shapes[at]
        spans = self._outlines.spans(at)
        points = self._points[spans[0][0] : spans[-1][1]]
        edge = 0.0 if shape.fill else shape.width * self._scale / 2
        low, high = points.min(axis=0) - edge, points.max(axis=0) + edge
        left, top = (max(0, int(value) - 1) for value in low)
        right, bottom = (min(self._size, int(value) + 2) for value in high)
        if right <= left or bottom <= top:
            return EMPTY
        box = (left, top, right, bottom)
        fine = self._image.new("L", ((right - left) * FINE, (bottom - top) * FINE))
        draw = self._draw.Draw(fine)
        for begin, end in spans:
            line = ((self._points[begin:end] - (left, top)) * FINE - 0.5).ravel().tolist()
            if shape.fill:
                draw.polygon(line, fill=255)
            elif len(line) > 2:
                self._stroke(draw, line, shape.width * self._scale * FINE)
        mask = fine.reduce(FINE)
        return Stamp(box, None if mask.getextrema() == (255, 255) else mask)

    @staticmethod
    def _stroke(draw: Any, line: list[float], width: float) -> None:
        """A line with round ends: the band between two outlines beside it, since Pillow's own lines have rounded widths."""
        places = list(zip(line[::2], line[1::2], strict=True))
        radius = width / 2
        one: list[tuple[float, float]] = []
        other: list[tuple[float, float]] = []
        for at, (x, y) in enumerate(places):
            before, after = places[max(0, at - 1)], places[min(len(places) - 1, at + 1)]
            along, down = after[0] - before[0], after[1] - before[1]
            length = hypot(along, down)
            if length < 1e-6:
                continue
            aside, under = -down / length * radius, along / length * radius
            one.append((x + aside, y + under))
            other.append((x - aside, y - under))
        if len(one) > 1:
            draw.polygon([*one, *reversed(other)], fill=255)
        for x, y in (places[0], places[-1]):
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)

    def _clipped(self, stamp: Stamp, clip: Stamp) -> Stamp:
        left, top = max(stamp.box[0], clip.box[0]), max(stamp.box[1], clip.box[1])
        right, bottom = min(stamp.box[2], clip.box[2]), min(stamp.box[3], clip.box[3])
        if right <= left or bottom <= top:
            return EMPTY
        box = (left, top, right, bottom)
        own, within = _cut(stamp, box), _cut(clip, box)
        if own is None or within is None:
            return Stamp(box, own or within)
        return Stamp(box, self._chops.multiply(own, within))

    def _keep(self, key: tuple[object, ...], stamp: Stamp) -> Stamp:
        self._stamps[key] = stamp
        self.kept_bytes += _weight(stamp)
        while self.kept_bytes > KEPT:
            _, oldest = self._stamps.popitem(last=False)
            self.kept_bytes -= _weight(oldest)
        return stamp


@cache
def _fading(opacity: int) -> tuple[int, ...]:
    """What an opacity of 0 to 255 makes of each value of a mask."""
    return tuple((value * opacity + 127) // 255 for value in range(256))


def _extent(stamp: Stamp) -> tuple[int, int]:
    left, top, right, bottom = stamp.box
    return right - left, bottom - top


def _cut(stamp: Stamp, box: tuple[int, int, int, int]) -> Image | None:
    """The part of the mask within a box that lies inside the stamp's."""
    if stamp.mask is None:
        return None
    left, top = stamp.box[:2]
    return stamp.mask.crop((box[0] - left, box[1] - top, box[2] - left, box[3] - top))


def _weight(stamp: Stamp) -> int:
    width, height = _extent(stamp)
    return 512 + (width * height if stamp.mask is not None else 0)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
