"""A clip of an avatar that says a text, or moves its lips to a recording.

worker/voice.py runs it. The whole text is spoken first, since a clip's length decides whether it is made at all; then frames are drawn, encoded and
sent a batch at a time, each in a turn of its own at the engine, so that calls draw in between. A cancelled clip stops within one batch.
"""

from __future__ import annotations

from itertools import count

import anyio
from msgspec import Struct

from duologue.engines.video_contracts import Figure, Stretch
from duologue.errors import BadRequest, Busy, TooLarge, Unsupported
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.speech.speech_task import SendEvent, speak
from duologue.sessions.video.muxer import ClipMuxer
from duologue.sessions.video.recorded_lips import recorded_lips
from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE, samples
from duologue.values.avatars import ClipRequest
from duologue.values.call_events import (
    CallControl,
    CallEvent,
    ClipData,
    ClipProgress,
    ReplyAudio,
)
from duologue.values.mouth import MouthKey
from duologue.values.speech import SpeechRequest

LONGEST = 600
"""Seconds of a clip."""
BATCH = 8 * 2**20
"""Bytes of frames that are encoded at a time; never more than a second of them."""
PIECE = 256 * 1024
"""Bytes of one `ClipData`."""
BUSY = "Calls are using the video engine at the moment. Try again in a minute."
_numbers = count(1)


class ClipSound(Struct, frozen=True):
    """What a clip says: 16-bit mono at 24 kHz, and the mouth to it."""

    pcm: bytes
    mouth: tuple[MouthKey, ...]


async def make_clip(engines: SpeechEngines, request: ClipRequest, send: SendEvent) -> None:
    """Speak, draw and send a clip, with its progress. Raises Problems: where there is no video engine or it does not draw this avatar, where
    nothing is said, and where it is too long."""
    video = engines.require_video()
    if request.avatar.kind not in video.kinds:
        raise Unsupported(
            f"The video engine {video.name} does not draw this kind of avatar. Choose another one.",
            code="avatar_not_drawn",
        )
    sound = await _sound(engines, request, send)
    user = f"clip-{next(_numbers)}"
    await send(ClipProgress("preparing", 0.0))
    try:
        async with engines.drawing.turn(user):
            figure = await video.prepare(request.avatar)
        await send(ClipProgress("preparing", 1.0))
        await _draw(engines, figure, user, sound, send)
    except Busy as busy:
        # The lane's own sentence is for a reply of a call.
        raise Busy(BUSY, code=busy.code, retry_after=busy.retry_after) from None


def frame_count(length: int, rate: int) -> int:
    """How many whole frames so many samples of sound last; at least one."""
    return max(1, length * rate // SPOKEN_RATE)


async def _sound(engines: SpeechEngines, request: ClipRequest, send: SendEvent) -> ClipSound:
    if request.speech.text.strip():
        return await _spoken(engines, request.speech, send)
    if not samples(request.pcm):
        raise BadRequest("A clip needs a text or a recording.", param="text")
    _check_length(samples(request.pcm))
    await send(ClipProgress("speaking", 0.0))
    mouth = await recorded_lips(engines.require_recogniser(), request.pcm, request.speech.language)
    await send(ClipProgress("speaking", 1.0))
    return ClipSound(request.pcm, mouth)


async def _spoken(engines: SpeechEngines, speech: SpeechRequest, send: SendEvent) -> ClipSound:
    """The whole text, spoken."""
    request = SpeechRequest(
        speech.text, speech.voice, speech.speed, speech.language, sample=speech.sample, mouth=True
    )
    pcm, mouth = bytearray(), list[MouthKey]()
    spoken = 0.0

    async def collect(event: CallEvent) -> None:
        nonlocal spoken
        if not isinstance(event, ReplyAudio):
            return
        pcm.extend(event.pcm)
        mouth.extend(event.mouth)
        if len(pcm) > SAMPLE_BYTES * LONGEST * SPOKEN_RATE:
            # Raised here it would reach the caller inside an exception group.
            speaking.cancel()
        elif event.words:
            share = event.words[-1].to / len(speech.text)
            if share >= spoken + 0.01:
                spoken = share
                await send(ClipProgress("speaking", min(1.0, share)))

    await send(ClipProgress("speaking", 0.0))
    with anyio.CancelScope() as speaking:
        await speak(engines, request, _NoControls(), collect)
    _check_length(len(pcm) // SAMPLE_BYTES)
    if not pcm:
        raise BadRequest("There is nothing to say in this text.", param="text")
    await send(ClipProgress("speaking", 1.0))
    return ClipSound(bytes(pcm), tuple(mouth))


def _check_length(length: int) -> None:
    if length > LONGEST * SPOKEN_RATE:
        raise TooLarge(
            f"The clip would be longer than {LONGEST // 60} minutes. Make several of shorter texts.",
            code="clip_too_long",
        )


async def _draw(engines: SpeechEngines, figure: Figure, user: str, sound: ClipSound, send: SendEvent) -> None:
    total = frame_count(samples(sound.pcm), figure.rate)
    muxer = ClipMuxer(figure.width, figure.height, figure.rate, engines.encoding)
    most = max(1, min(figure.rate, BATCH // (figure.width * figure.height * 3)))
    heard = 0
    for first in range(0, total, most):
        length = min(most, total - first)
        at = first * SPOKEN_RATE // figure.rate
        stretch = Stretch(first, length, at, sound.pcm, sound.mouth)
        async with engines.drawing.turn(user), figure.frames(stretch) as frames:
            batch = [frame async for frame in frames]
        drawn = first + length
        until = len(sound.pcm) if drawn == total else drawn * SPOKEN_RATE // figure.rate * SAMPLE_BYTES
        data = await muxer.write(batch, sound.pcm[heard:until])
        heard = until
        await _send_data(data, send)
        await send(ClipProgress("drawing", drawn / total))
    await _send_data(await muxer.finish(), send)


async def _send_data(data: bytes, send: SendEvent) -> None:
    for at in range(0, len(data), PIECE):
        await send(ClipData(data[at : at + PIECE]))


class _NoControls:
    """A clip's text is complete when it begins."""

    async def take(self) -> list[CallControl]:
        return []
