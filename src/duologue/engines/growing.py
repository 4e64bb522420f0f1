"""A listener for engines that only hear whole recordings: the utterance is heard again and again while it grows.

Owns when it is heard again (never more than half the time, however slow the engine), what is shown meanwhile, the cutting
of an utterance that grows too long, and the sparing of the last hearing where nothing but silence came since the one
before. Knows no engine: hearing is a blocking function, called in a lane.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import msgspec

from duologue.engines.agreement import Agreement
from duologue.engines.lane import Lane
from duologue.engines.quiet import is_silence, peak, quietest
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, samples
from duologue.values.speech import TimedWord, Transcript

Hear = Callable[[bytes, str], Transcript]
"""Writes down a sound, given what was said before it. Blocks, and is called in a lane."""

EVERY = HEARD_RATE // 2
"""Samples after which an utterance is heard again, at least."""
LONGEST = 24 * HEARD_RATE
"""Samples heard together. Whisper's window is 30 s, and every engine gets slower with length."""
SEARCHED = 8 * HEARD_RATE
"""Samples at the end of those in which the place to cut is looked for."""
SHORTEST = HEARD_RATE // 10
"""Samples under which there is nothing to hear."""


class GrowingListener:
    """Fulfils `engines.Listener`. `partials` False: it hears once, at the end."""

    def __init__(
        self,
        hear: Hear,
        lane: Lane,
        *,
        partials: bool = True,
        every: int = EVERY,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._hear = hear
        self._lane = lane
        self._partials = partials
        self._every = every
        self._clock = clock
        self._settled: list[Transcript] = []
        self._before = ""
        self._begin = 0
        """The sample at which the sound that is not settled begins."""
        self._sound = bytearray()
        self._heard = 0
        """Samples of it that were heard."""
        self._due = every
        """Samples that must come before it is heard again."""
        self._last: Transcript | None = None
        self._agreement = Agreement()
        self._text = ""

    async def feed(self, pcm: bytes) -> str:
        """The words so far. Waits while they are heard anew."""
        self._sound += pcm
        length = len(self._sound) // SAMPLE_BYTES
        if length > LONGEST:
            await self._settle()
        elif self._partials and length - self._heard >= self._due:
            transcript = await self._listen(bytes(self._sound))
            self._last, self._heard = transcript, length
            self._text = self._agreement.hear(transcript.text)
        return joined_text((self._before, self._text))

    async def finish(self) -> Transcript:
        """What stands: the last hearing of the whole."""
        sound = bytes(self._sound)
        if samples(sound) >= SHORTEST and not self._stands(sound):
            self._last = await self._listen(sound)
        parts = [*self._settled, moved(self._last, self._begin)] if self._last else self._settled
        return joined(parts) if parts else Transcript("", understood=False)

    def _stands(self, sound: bytes) -> bool:
        """Whether the hearing before is as good as another: only silence came since."""
        return self._last is not None and is_silence(sound[self._heard * SAMPLE_BYTES :], peak(sound))

    async def _settle(self) -> None:
        """Hear the beginning of a long utterance for the last time."""
        sound = bytes(self._sound)
        cut = quietest(sound, LONGEST - SEARCHED, LONGEST)
        transcript = await self._listen(sound[: cut * SAMPLE_BYTES])
        self._settled.append(moved(transcript, self._begin))
        self._before = joined_text((self._before, transcript.text))
        del self._sound[: cut * SAMPLE_BYTES]
        self._begin += cut
        self._heard, self._last, self._text, self._agreement = 0, None, "", Agreement()

    async def _listen(self, sound: bytes) -> Transcript:
        before, started = self._before, self._clock()
        transcript = await self._lane.run(lambda: self._hear(sound, before))
        # A slow engine that is asked again at once would always be asked, and always be behind.
        self._due = max(self._every, round(2 * (self._clock() - started) * HEARD_RATE))
        return transcript


def moved(transcript: Transcript, begin: int) -> Transcript:
    """A part's transcript with its words where they are in the whole, which it is part of from sample `begin` on."""
    seconds = begin / HEARD_RATE
    words = tuple(TimedWord(word.text, word.start + seconds, word.end + seconds) for word in transcript.words)
    return msgspec.structs.replace(transcript, words=words) if begin else transcript


def joined(parts: Sequence[Transcript]) -> Transcript:
    """The transcripts of one sound's parts as one."""
    if len(parts) == 1:
        return parts[0]
    sure = [(part.confidence, len(part.text)) for part in parts if part.text and part.confidence is not None]
    weight = sum(length for _, length in sure)
    return Transcript(
        joined_text([part.text for part in parts]),
        tuple(word for part in parts for word in part.words),
        next((part.language for part in parts if part.language), ""),
        sum(confidence * length for confidence, length in sure) / weight if weight else None,
        any(part.understood for part in parts),
    )


def joined_text(parts: Sequence[str]) -> str:
    """Parts of a text as one; between two that both have no Latin letters at their border there is no space."""
    said = [part.strip() for part in parts if part.strip()]
    text = said[0] if said else ""
    for before, after in pairwise(said):
        text += after if ord(before[-1]) > 0x2E80 and ord(after[0]) > 0x2E80 else f" {after}"
    return text
