"""Video of calls without encoding: files and segments that name the frames they consist of, and an avatar."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.lowlevel import checkpoint
from tests.support.call_parts import RunningCall

from duologue.engines.scripted.video import ScriptedVideoEngine, ScriptedVideoOptions
from duologue.engines.video_contracts import Figure
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.video.film_encoder import EncodedFrames
from duologue.values.avatars import AvatarSource
from duologue.values.call_events import (
    CallSetup,
    ReplyAudio,
    ReplyAudioStarted,
    ReplyRequested,
    ReplyText,
    Typed,
    VideoSegment,
)

AVATAR = AvatarSource("ada", "drawn", "digest of ada", look="ada")


class NamedFrames:
    """Encodes a frame as one byte: its grey."""

    def __init__(self) -> None:
        self.greys = bytearray()

    async def add(self, frame: bytes) -> None:
        await checkpoint()
        self.greys.append(frame[0])

    async def finish(self) -> EncodedFrames:
        return EncodedFrames(bytes(self.greys), (1,) * len(self.greys))


class NamedClip(NamedFrames):
    """A clip as the greys of its frames, and the length of its sound."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size

    async def finish(self, pcm: bytes) -> bytes:  # type: ignore[override]
        return bytes(self.greys) + b"|%d" % (len(pcm) // 2) + bytes(self._size)


class NamedEncoders:
    """Counts what is open. `size`: bytes by which each clip is longer."""

    def __init__(self, size: int = 0) -> None:
        self.open = 0
        self._size = size

    @asynccontextmanager
    async def segment(self, figure: Figure) -> AsyncIterator[NamedFrames]:
        self.open += 1
        try:
            yield NamedFrames()
        finally:
            self.open -= 1

    @asynccontextmanager
    async def clip(self, figure: Figure) -> AsyncIterator[NamedClip]:
        self.open += 1
        try:
            yield NamedClip(self._size)
        finally:
            self.open -= 1


def with_video(engines: SpeechEngines, **options: object) -> SpeechEngines:
    """The engines with a scripted video engine of these options."""
    engines.video = ScriptedVideoEngine(ScriptedVideoOptions(**options))  # type: ignore[arg-type]
    return engines


CLIPS = CallSetup(pauses=True, marks=True, video="clip", avatar=AVATAR)
SEED = CallSetup(video="clip", avatar=AVATAR)
"""A client that neither holds nor reports."""
STREAM = CallSetup(pauses=True, marks=True, video="stream", avatar=AVATAR)
WORD = 7200
"""Samples of a word of the scripted voice."""
LONG = "One two three four five six seven. Eight nine ten eleven twelve. Thirteen fourteen fifteen sixteen."


class Gate:
    """A video engine whose figures are drawn once it is opened."""

    def __init__(self, parts: SpeechEngines) -> None:
        self._engine: Any = parts.video
        self.name, self.kinds = self._engine.name, self._engine.kinds
        self.open = anyio.Event()
        self.drawing = 0

    async def prepare(self, avatar):
        figure = await self._engine.prepare(avatar)
        draw = figure._draw

        async def gated(stretch):
            self.drawing += 1
            try:
                await self.open.wait()
                async for frame in draw(stretch):
                    yield frame
            finally:
                self.drawing -= 1

        figure._draw = gated
        return figure

    async def close(self):
        """Nothing is held."""


async def typed_reply(talk: RunningCall, text: str) -> int:
    """Type something, and have it answered with this text. Gives the reply's number."""
    before = len(talk.of(ReplyRequested))
    await talk.say(Typed("hello"))
    await talk.until(lambda: len(talk.of(ReplyRequested)) > before)
    reply = talk.of(ReplyRequested)[-1].reply
    await talk.answer(reply, text)
    return reply


def sound_of(talk: RunningCall) -> list[type]:
    return [
        type(event) for event in talk.events if isinstance(event, ReplyAudio | ReplyAudioStarted | ReplyText)
    ]


def segments(talk: RunningCall, reply: int) -> list[VideoSegment]:
    return [segment for segment in talk.of(VideoSegment) if segment.reply == reply]
