"""A cache of synthesised sentences that every call says again: fillers, apologies, announcements.

Shared by all calls of a voice worker; `synthesis.py` speaks the session's own sentences through it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from msgspec import Struct

from duologue.engines.contracts import CloningSpeaker, SpeakerEngine, SpeechChunk
from duologue.values.speech import VoiceSample

CLIPS = 64
"""Clauses in the cache. A megabyte holds some twenty seconds of sound."""
LONGEST = 200
"""Characters of a clause worth caching."""


class VoiceStyle(Struct, frozen=True):
    """How a text is to sound."""

    voice: str = ""
    speed: float = 1.0
    language: str = "en"
    sample: VoiceSample | None = None
    """Speak like this recording instead of in `voice`."""


class ClipCache:
    """Spoken clauses by text and style. Drops the least recently used."""

    def __init__(self, size: int = CLIPS) -> None:
        self._size = size
        self._clips: OrderedDict[tuple[str, VoiceStyle], tuple[SpeechChunk, ...]] = OrderedDict()

    @asynccontextmanager
    async def speak(
        self, speaker: SpeakerEngine, clause: str, style: VoiceStyle
    ) -> AsyncIterator[AsyncIterator[SpeechChunk]]:
        """Like `SpeakerEngine.speak`, from memory if the whole clause was spoken before."""
        key = (clause, style)
        if (clip := self._clips.get(key)) is not None:
            self._clips.move_to_end(key)
            yield _each(clip)
            return
        async with spoken(speaker, clause, style) as chunks:
            yield self._record(chunks, key)

    async def _record(
        self, chunks: AsyncIterator[SpeechChunk], key: tuple[str, VoiceStyle]
    ) -> AsyncIterator[SpeechChunk]:
        clip: list[SpeechChunk] = []
        async for chunk in chunks:
            clip.append(chunk)
            yield chunk
        # Only reached when the clause was spoken to its end: an interrupted one must not be cached.
        if len(key[0]) <= LONGEST:
            self._clips[key] = tuple(clip)
            while len(self._clips) > self._size:
                self._clips.popitem(last=False)


def spoken(
    speaker: SpeakerEngine, clause: str, style: VoiceStyle
) -> AbstractAsyncContextManager[AsyncIterator[SpeechChunk]]:
    """The sound of a clause in this style; in the style's voice where the speaker cannot imitate a recording."""
    if style.sample is not None and isinstance(speaker, CloningSpeaker):
        return speaker.speak_like(clause, sample=style.sample, speed=style.speed, language=style.language)
    return speaker.speak(clause, voice=style.voice, speed=style.speed, language=style.language)


async def _each(clip: tuple[SpeechChunk, ...]) -> AsyncIterator[SpeechChunk]:
    for chunk in clip:
        yield chunk
