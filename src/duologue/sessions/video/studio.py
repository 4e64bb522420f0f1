"""Where the frames of one call are drawn and encoded: its avatar, its turn at the engine, its encoders.

`clipped_reply.py`, `streamed_reply.py` and `call_video.py` draw here. Owns that one drawing runs at a time on an engine, whoever asks, and
in portions that let others in between.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from duologue.engines.video_contracts import Figure, Stretch
from duologue.errors import EngineFailed, Problem, TooLarge
from duologue.fair_lane import FairLane
from duologue.sessions.speech.kept_sound import KeptSound
from duologue.sessions.video.film_encoder import EncodedFrames, FilmEncoders
from duologue.turns.video.film_facts import clock_frame, frames_of, sample_of
from duologue.values.mouth import MouthKey

log = logging.getLogger(__name__)

LARGEST_CLIP = 32 * 2**20
"""Bytes of a clip: it is one message."""
IDLE_PORTION = 5
"""Frames of the avatar at rest that are drawn at a time: the lips of a first reply wait for no more of them."""
CLIP_TOO_LARGE = "This reply is too long for one clip, so it is only spoken."


class SoundSoFar(Struct, frozen=True):
    """A reply's sound from its first sample, as far as it exists, and the mouth's keys."""

    pcm: bytes = b""
    keys: tuple[MouthKey, ...] = ()

    @classmethod
    def of(cls, sound: KeptSound) -> SoundSoFar:
        return cls(bytes(sound.pcm), tuple(sound.keys))


class Studio:
    """The figure of one call. `user`: whose turns its drawings are."""

    def __init__(self, figure: Figure, lane: FairLane, encoders: FilmEncoders, user: str) -> None:
        self.figure = figure
        self.first_took = 0
        """How long the first picture of the last reply took, on the call's clock."""
        self._lane, self._encoders, self._user = lane, encoders, user

    async def stretch(self, frame: int, first: int, count: int, sound: SoundSoFar) -> EncodedFrames:
        """Frames of a reply as a segment, from its frame `frame` on. Raises Problem."""
        try:
            async with self._encoders.segment(self.figure) as encoder:
                await self._draw(encoder.add, frame, first, count, sound)
                return await encoder.finish()
        except Exception as error:
            raise _problem(error) from error

    async def idle(self) -> EncodedFrames:
        """The avatar at rest, once around. Raises Problem."""
        try:
            async with self._encoders.segment(self.figure) as encoder:
                for first, count in self._portions(self.figure.idle_frames, IDLE_PORTION):
                    await self._draw(encoder.add, 0, first, count, SoundSoFar())
                return await encoder.finish()
        except Exception as error:
            raise _problem(error) from error

    async def clip(self, samples: int, asked_at: int, sound: SoundSoFar) -> bytes:
        """A whole reply as a file. Raises Problem."""
        rate = self.figure.rate
        clock = clock_frame(asked_at, rate)
        try:
            async with self._encoders.clip(self.figure) as encoder:
                for frame, count in self._portions(frames_of(samples, rate), rate):
                    await self._draw(encoder.add, frame, clock + frame, count, sound)
                data = await encoder.finish(sound.pcm)
        except Exception as error:
            raise _problem(error) from error
        if len(data) > LARGEST_CLIP:
            raise TooLarge(CLIP_TOO_LARGE, code="clip_too_long")
        return data

    @staticmethod
    def _portions(frames: int, most: int) -> Sequence[tuple[int, int]]:
        """The frames in portions: where each begins, and how many it has."""
        return [(at, min(most, frames - at)) for at in range(0, frames, most)]

    async def _draw(
        self,
        add: Callable[[bytes], Awaitable[None]],
        frame: int,
        first: int,
        count: int,
        sound: SoundSoFar,
    ) -> None:
        """Draw one portion in a turn of its own, and hand over each frame."""
        at = sample_of(frame, self.figure.rate)
        stretch = Stretch(first, count, at, sound.pcm, sound.keys)
        async with self._lane.turn(self._user), self.figure.frames(stretch) as frames:
            async for picture in frames:
                await add(picture)


def _problem(error: Exception) -> Problem:
    """What the caller is told of a failed drawing."""
    if isinstance(error, Problem):
        return error
    log.error("a reply could not be drawn", exc_info=error)
    return EngineFailed(
        "The video engine failed, so this reply is only spoken. The server's log has the reason."
    )
