"""The protocols of a video engine, which draws an avatar that speaks, and the values that cross them.

`sessions/video` programs against these; `registry` loads the engines. Nothing here knows of files or codecs: an engine gives pictures,
`sessions/video` makes clips and segments of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol, runtime_checkable

from msgspec import Struct

from duologue.values.avatars import AvatarKind, AvatarSource
from duologue.values.mouth import MouthKey


class Stretch(Struct, frozen=True):
    """Consecutive frames of one reply. `first`: the number of the first one on the avatar's own clock, by which it breathes and blinks,
    so that idle and speaking join; `at`: the sample (24 kHz) of the reply that it shows; `count`: how many frames.

    `pcm` is the reply's sound from its first sample, as far as it exists, and `mouth` its keys: both may go on beyond the stretch, for
    engines that look ahead. An idle stretch has neither."""

    first: int
    count: int
    at: int = 0
    pcm: bytes = b""
    mouth: tuple[MouthKey, ...] = ()


class Figure(Protocol):
    """An avatar that is prepared to be drawn. Several sessions may share one; what it computes is a function of the stretch."""

    @property
    def width(self) -> int: ...

    @property
    def height(self) -> int: ...

    @property
    def rate(self) -> int:
        """Frames a second."""
        ...

    @property
    def idle_frames(self) -> int:
        """After how many frames its idle motion repeats itself."""
        ...

    def frames(self, stretch: Stretch) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """The frames of the stretch in order: RGB, `height` rows of `width` pixels of 3 bytes. Drawn in the engine's thread a batch at a
        time; leaving the context ends the work within one batch. Raises `Problem`s."""
        ...


@runtime_checkable
class VideoEngine(Protocol):
    """Draws avatars that speak. There is one in a voice worker, or None."""

    @property
    def name(self) -> str: ...

    @property
    def kinds(self) -> tuple[AvatarKind, ...]:
        """The kinds of avatars it draws."""
        ...

    async def prepare(self, avatar: AvatarSource) -> Figure:
        """The avatar, ready to be drawn; kept by its digest, the last few of them. Raises Unsupported for a kind it does not draw, and
        BadRequest with a sentence for a picture that cannot be used."""
        ...

    async def close(self) -> None: ...
