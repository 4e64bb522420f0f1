"""A listener for engines that only hear whole recordings: the utterance is heard again and again while it grows.

Owns when it is heard again (never more than half the time, however slow the engine), what is shown meanwhile, the cutting
of an utterance that grows too long, and the sparing of the last hearing where nothing but silence came since the one
before; and the hearing of a recording piece by piece. Knows no engine: hearing is a blocking function, called in a lane.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from duologue.engines.asr.local_agreement import Agreement
from duologue.engines.audio.silence import is_silence, peak, pieces, quietest
from duologue.threads import ThreadLane
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, samples
from duologue.values.speech import Transcript
from duologue.values.transcripts import joined, joined_text, later

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


class IncrementalTranscriber:
    """Fulfils `engines.Listener`. `partials` False: it hears once, at the end."""

    def __init__(
        self,
        hear: Hear,
        lane: ThreadLane,
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
        parts = [*self._settled, later(self._last, self._begin / HEARD_RATE)] if self._last else self._settled
        return joined(parts) if parts else Transcript("", understood=False)

    def _stands(self, sound: bytes) -> bool:
        """Whether the hearing before is as good as another: only silence came since."""
        return self._last is not None and is_silence(sound[self._heard * SAMPLE_BYTES :], peak(sound))

    async def _settle(self) -> None:
        """Hear the beginning of a long utterance for the last time."""
        sound = bytes(self._sound)
        cut = quietest(sound, LONGEST - SEARCHED, LONGEST)
        transcript = await self._listen(sound[: cut * SAMPLE_BYTES])
        self._settled.append(later(transcript, self._begin / HEARD_RATE))
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


async def hear_whole(
    hear: Callable[[bytes], Transcript], lane: ThreadLane, pcm: bytes, *, longest: int, searched: int
) -> Transcript:
    """Write down a recording, at most `longest` samples at a time, cut where their last `searched` are quietest; a caller who
    leaves waits for one of those."""
    parts = []
    for start, end in pieces(pcm, longest, searched):
        piece = pcm[start * SAMPLE_BYTES : end * SAMPLE_BYTES]
        if samples(piece) >= SHORTEST:
            part = await lane.run(partial(hear, piece))
            parts.append(later(part, start / HEARD_RATE))
    return joined(parts) if parts else Transcript("", understood=False)
