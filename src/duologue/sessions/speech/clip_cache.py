"""Sound of the sentences that are said again and again: spoken once, kept for every call.

Owns what is kept and how much of it. Knows no sentence by name.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from duologue.engines.contracts import SpeakerEngine, SpeechChunk

KEPT = 64
"""Clauses; some twenty seconds of sound a megabyte."""
LONGEST = 200
"""Characters of a clause worth keeping."""

Key = tuple[str, str, float, str]


class ClipStyle(Protocol):
    """How a clause is to sound."""

    @property
    def voice(self) -> str: ...

    @property
    def speed(self) -> float: ...

    @property
    def language(self) -> str: ...


class ClipCache:
    """Clauses as sound, by their text and how they sound; the one not asked for longest goes first."""

    def __init__(self, kept: int = KEPT) -> None:
        self._size = kept
        self._kept: OrderedDict[Key, tuple[SpeechChunk, ...]] = OrderedDict()

    @asynccontextmanager
    async def speak(
        self, speaker: SpeakerEngine, clause: str, voicing: ClipStyle
    ) -> AsyncIterator[AsyncIterator[SpeechChunk]]:
        """As `SpeakerEngine.speak`; from memory where the whole clause was spoken before."""
        key = (clause, voicing.voice, voicing.speed, voicing.language)
        if (kept := self._kept.get(key)) is not None:
            self._kept.move_to_end(key)
            yield _each(kept)
            return
        async with speaker.speak(
            clause, voice=voicing.voice, speed=voicing.speed, language=voicing.language
        ) as sounds:
            yield self._keeping(sounds, key)

    async def _keeping(self, sounds: AsyncIterator[SpeechChunk], key: Key) -> AsyncIterator[SpeechChunk]:
        heard: list[SpeechChunk] = []
        async for spoken in sounds:
            heard.append(spoken)
            yield spoken
        if len(key[0]) <= LONGEST:
            self._kept[key] = tuple(heard)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)


async def _each(kept: tuple[SpeechChunk, ...]) -> AsyncIterator[SpeechChunk]:
    for spoken in kept:
        yield spoken
