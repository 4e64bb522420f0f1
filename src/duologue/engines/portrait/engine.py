"""The video engine `portrait`: our drawn faces and pictures of people as video, on any machine and without a graphics card.

Owns the prepared avatars and the thread in which they are painted, a few frames at a time, so that several calls take turns and a cancelled
one ends soon. The same face is drawn by the page (`web/src/voice/face`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any, Literal, Protocol

from msgspec import Struct

from duologue.engines.options import read_options
from duologue.engines.portrait.look_painter import LookPainter
from duologue.engines.portrait.picture_painter import PicturePainter
from duologue.engines.portrait.portrait_pose import LOOP_S, pose_of
from duologue.engines.video_contracts import Stretch, VideoEngine
from duologue.errors import NotFound, StartFailed, Unsupported
from duologue.faces import catalogue
from duologue.threads import ThreadLane
from duologue.values.audio import SPOKEN_RATE
from duologue.values.avatars import AvatarKind, AvatarSource

KEPT = 4
"""Avatars that stay prepared."""
BATCH = 5
"""Frames drawn in one go: other callers wait for them, and a cancelled stretch ends after them."""


class PortraitOptions(Struct, frozen=True):
    """`size`: width and height in pixels; `rate`: frames a second; `theme`: the colours of drawn faces."""

    size: int = 512
    rate: int = 25
    theme: Literal["light", "dark"] = "light"


class Painter(Protocol):
    """Paints an avatar in any pose."""

    def paint(self, pose: Mapping[str, float]) -> bytes:
        """RGB, rows from the top."""
        ...


class PortraitFigure:
    """Implements `video_contracts.Figure`."""

    def __init__(self, painter: Painter, options: PortraitOptions, lane: ThreadLane) -> None:
        self._painter, self._lane = painter, lane
        self.width = self.height = options.size
        self.rate = options.rate
        self.idle_frames = round(LOOP_S * options.rate)

    @asynccontextmanager
    async def frames(self, stretch: Stretch) -> AsyncIterator[AsyncIterator[bytes]]:
        """The frames of the stretch, painted in batches of BATCH."""
        async with aclosing(self._painted(stretch)) as frames:
            yield frames

    async def _painted(self, stretch: Stretch) -> AsyncGenerator[bytes]:
        for first in range(0, stretch.count, BATCH):
            for frame in await self._lane.run(self._paint, stretch, first):
                yield frame

    def _paint(self, stretch: Stretch, first: int) -> list[bytes]:
        numbers = range(first, min(first + BATCH, stretch.count))
        return [self._painter.paint(self._pose(stretch, number)) for number in numbers]

    def _pose(self, stretch: Stretch, number: int) -> dict[str, float]:
        at = stretch.at + number * SPOKEN_RATE / self.rate
        return pose_of(stretch.first + number, self.rate, at, stretch.mouth)


class PortraitEngine:
    """Implements `video_contracts.VideoEngine`."""

    name = "portrait"
    kinds: tuple[AvatarKind, ...] = ("drawn", "picture")

    def __init__(self, options: PortraitOptions) -> None:
        self._options = options
        self._lane = ThreadLane(1)
        self._figures: OrderedDict[str, PortraitFigure] = OrderedDict()

    async def prepare(self, avatar: AvatarSource) -> PortraitFigure:
        """Raises Unsupported for a figure, which only a browser draws, NotFound for a look that there is not, and BadRequest for a picture that
        cannot be read or is not marked."""
        if avatar.kind not in self.kinds:
            raise Unsupported(
                "This kind of avatar is drawn in browsers only, so there is no video of it. Choose a drawn face or a picture.",
                code="avatar_not_drawn",
            )
        figure = self._figures.get(avatar.digest)
        if figure is None:
            painter = await self._lane.run(self._painter, avatar)
            figure = PortraitFigure(painter, self._options, self._lane)
            self._figures[avatar.digest] = figure
        self._figures.move_to_end(avatar.digest)
        if len(self._figures) > KEPT:
            self._figures.popitem(last=False)
        return figure

    def _painter(self, avatar: AvatarSource) -> Painter:
        if avatar.kind == "picture":
            return PicturePainter(avatar.data, avatar.landmarks, self._options.size)
        if avatar.look not in catalogue.LOOKS:
            raise NotFound(
                f"There is no drawn face {avatar.look!r}. Choose another one.", code="avatar_not_found"
            )
        return LookPainter(catalogue.look(avatar.look), self._options.size, self._options.theme)

    async def close(self) -> None:
        """Forget the avatars."""
        self._figures.clear()


async def load(options: dict[str, Any]) -> VideoEngine:
    """The engine. Raises StartFailed for options that it does not have, and where a package is missing."""
    settings = read_options(PortraitOptions, options, "portrait")
    await ThreadLane(1).run(_import_libraries)
    return PortraitEngine(settings)


def _import_libraries() -> None:
    """Found out now, and not at the first clip."""
    try:
        import av  # noqa: F401
        import numpy  # noqa: F401
        import PIL.ImageDraw  # noqa: F401
    except ImportError as error:
        raise StartFailed(
            f"Video needs the package {error.name}: pip install 'duologue[voice]'.", code="engine_missing"
        ) from None
