"""What a call needs of an encoder of video, as protocols; `muxer.py` implements them.

Frames are RGB, as a `Figure` gives them. Nothing here blocks the event loop: encoding runs in threads.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct

from duologue.engines.video_contracts import Figure


class EncodedFrames(Struct, frozen=True):
    """H.264 with start codes, beginning with a key frame; `sizes` are the bytes of each frame."""

    data: bytes
    sizes: tuple[int, ...]


class SegmentEncoder(Protocol):
    """Encodes the frames of one segment."""

    async def add(self, frame: bytes) -> None: ...

    async def finish(self) -> EncodedFrames: ...


class ClipEncoder(Protocol):
    """Encodes one clip: H.264 and AAC in fragmented MP4."""

    async def add(self, frame: bytes) -> None: ...

    async def finish(self, pcm: bytes) -> bytes:
        """The file, with this sound (16-bit mono, 24 kHz)."""
        ...


class FilmEncoders(Protocol):
    """Makes encoders. Leaving the context frees them, whether they have finished or not."""

    def segment(self, figure: Figure) -> AbstractAsyncContextManager[SegmentEncoder]: ...

    def clip(self, figure: Figure) -> AbstractAsyncContextManager[ClipEncoder]: ...
