"""The scripted video engine: grey frames that are as bright as the mouth is open, the same way every time.

It ships with the package so that clips and calls with video can be tested without drawing anything. A test finds in the decoded
frames what the mouth did, and when. By its options it is slow, or fails.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import anyio
from anyio.lowlevel import checkpoint
from msgspec import Struct

from duologue.engines.options import read_options
from duologue.engines.video_contracts import Stretch, VideoEngine
from duologue.errors import EngineFailed, StartFailed, Unsupported
from duologue.values.audio import SPOKEN_RATE
from duologue.values.avatars import AvatarKind, AvatarSource
from duologue.values.mouth import mouth_at

WHITE = 255
DARKEST = 16
"""The grey of a closed mouth."""


class ScriptedVideoOptions(Struct, frozen=True):
    """`frame_ms`: time that each frame takes. `fail`: "load", "prepare" or "draw", where it fails; `fail_at`: the frame of a stretch at
    which drawing does. `kinds`: the avatars it draws."""

    name: str = "scripted"
    size: int = 64
    rate: int = 25
    frame_ms: float = 0
    idle_frames: int = 50
    fail: str = ""
    fail_at: int = 0
    kinds: tuple[AvatarKind, ...] = ("drawn", "picture")


class ScriptedFigure:
    """Implements `video_contracts.Figure`. `drawn` counts the frames that were made; `open`: how many stretches are being drawn."""

    def __init__(self, options: ScriptedVideoOptions) -> None:
        self._options = options
        self.width = self.height = options.size
        self.rate = options.rate
        self.idle_frames = options.idle_frames
        self.drawn = 0
        self.open = 0

    @asynccontextmanager
    async def frames(self, stretch: Stretch) -> AsyncIterator[AsyncIterator[bytes]]:
        """The frames of the stretch. Raises EngineFailed where the script says so."""
        self.open += 1
        try:
            async with aclosing(self._draw(stretch)) as frames:
                yield frames
        finally:
            self.open -= 1

    async def _draw(self, stretch: Stretch) -> AsyncGenerator[bytes]:
        options = self._options
        for number in range(stretch.count):
            if options.fail == "draw" and number >= options.fail_at:
                raise EngineFailed("The script asked for a failure.", code="scripted_failure")
            await (anyio.sleep(options.frame_ms / 1000) if options.frame_ms else checkpoint())
            grey = grey_of(stretch, number, self.rate)
            self.drawn += 1
            yield bytes((grey,)) * (self.width * self.height * 3)


def grey_of(stretch: Stretch, number: int, rate: int) -> int:
    """The grey of a frame of a stretch: DARKEST for a closed mouth, WHITE for one wide open."""
    opened = mouth_at(stretch.mouth, stretch.at + number * SPOKEN_RATE / rate).open
    return DARKEST + round((WHITE - DARKEST) * opened)


class ScriptedVideoEngine:
    """Implements `video_contracts.VideoEngine`."""

    def __init__(self, options: ScriptedVideoOptions) -> None:
        self._options = options
        self.name = options.name
        self.kinds = options.kinds
        self.figures: dict[str, ScriptedFigure] = {}

    async def prepare(self, avatar: AvatarSource) -> ScriptedFigure:
        """The same figure for the same digest. Raises Unsupported for a kind that the options do not name."""
        await checkpoint()
        if avatar.kind not in self.kinds:
            raise Unsupported("The scripted video engine does not draw this kind of avatar.")
        if self._options.fail == "prepare":
            raise EngineFailed("The script asked for a failure.", code="scripted_failure")
        return self.figures.setdefault(avatar.digest, ScriptedFigure(self._options))

    async def close(self) -> None:
        """Nothing to free."""


async def load_video(options: dict[str, Any]) -> VideoEngine:
    """The scripted video engine; options as in ScriptedVideoOptions. Raises StartFailed."""
    settings = read_options(ScriptedVideoOptions, options, "scripted")
    if settings.fail == "load":
        raise StartFailed("The script asked for a failure.")
    return ScriptedVideoEngine(settings)
