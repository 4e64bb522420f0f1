"""Streaming on top of engines that only transcribe whole recordings: the growing utterance is transcribed again and again.

Used by the engines for Whisper, Qwen3-ASR and the offline models of sherpa-onnx; each passes a blocking `transcribe`
function. Owns when the utterance is transcribed again (never more than half the time, however slow the engine), what is
shown meanwhile, where an utterance that grows too long is cut, and skipping the final pass where only silence followed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from duologue.engines.asr.local_agreement import LocalAgreement
from duologue.engines.audio.silence import is_silence, peak, pieces, quietest
from duologue.threads import ThreadLane
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, samples
from duologue.values.speech import Transcript
from duologue.values.transcripts import joined, joined_text, later

Transcribe = Callable[[bytes, str], Transcript]
"""Transcribes a sound, given the text before it. Blocks, and is called in a lane."""

EVERY = HEARD_RATE // 2
"""Samples after which an utterance is transcribed again, at least."""
LONGEST = 24 * HEARD_RATE
"""Samples transcribed together. Whisper's window is 30 s, and every engine gets slower with length."""
SEARCHED = 8 * HEARD_RATE
"""Samples at the end of those in which the place to cut is searched."""
SHORTEST = HEARD_RATE // 10
"""Samples below which there is nothing to transcribe."""


class IncrementalTranscriber:
    """Implements `contracts.StreamingTranscriber`. `partials` False: one pass, at the end."""

    def __init__(
        self,
        transcribe: Transcribe,
        lane: ThreadLane,
        *,
        partials: bool = True,
        every: int = EVERY,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._transcribe = transcribe
        self._lane = lane
        self._partials = partials
        self._every = every
        self._clock = clock
        self._finals: list[Transcript] = []
        """Transcripts of the beginning of the utterance that was cut off; their sound is gone."""
        self._context = ""
        """Their text."""
        self._begin = 0
        """The sample of the utterance at which `_sound` begins."""
        self._sound = bytearray()
        self._covered = 0
        """Samples of `_sound` that the last transcript covers."""
        self._due = every
        """Samples that must arrive before the next pass."""
        self._last: Transcript | None = None
        self._agreement = LocalAgreement()
        self._text = ""

    async def feed(self, pcm: bytes) -> str:
        """The words so far. Waits while they are transcribed again."""
        self._sound += pcm
        length = len(self._sound) // SAMPLE_BYTES
        if length > LONGEST:
            await self._cut_off()
        elif self._partials and length - self._covered >= self._due:
            transcript = await self._run(bytes(self._sound))
            self._last, self._covered = transcript, length
            self._text = self._agreement.add(transcript.text)
        return joined_text((self._context, self._text))

    async def finish(self) -> Transcript:
        """The transcript of the whole utterance."""
        sound = bytes(self._sound)
        if samples(sound) >= SHORTEST and not self._is_current(sound):
            self._last = await self._run(sound)
        parts = [*self._finals, later(self._last, self._begin / HEARD_RATE)] if self._last else self._finals
        return joined(parts) if parts else Transcript("", understood=False)

    def _is_current(self, sound: bytes) -> bool:
        """Whether the last transcript is as good as another one: only silence followed."""
        return self._last is not None and is_silence(sound[self._covered * SAMPLE_BYTES :], peak(sound))

    async def _cut_off(self) -> None:
        """Transcribe the beginning of a long utterance for the last time, and drop its sound."""
        sound = bytes(self._sound)
        cut = quietest(sound, LONGEST - SEARCHED, LONGEST)
        transcript = await self._run(sound[: cut * SAMPLE_BYTES])
        self._finals.append(later(transcript, self._begin / HEARD_RATE))
        self._context = joined_text((self._context, transcript.text))
        del self._sound[: cut * SAMPLE_BYTES]
        self._begin += cut
        self._covered, self._last, self._text, self._agreement = 0, None, "", LocalAgreement()

    async def _run(self, sound: bytes) -> Transcript:
        context, started = self._context, self._clock()
        transcript = await self._lane.run(self._transcribe, sound, context)
        # A slow engine that was called again at once would never stop working, and always be behind.
        self._due = max(self._every, round(2 * (self._clock() - started) * HEARD_RATE))
        return transcript


async def transcribe_in_chunks(
    transcribe: Callable[[bytes], Transcript], lane: ThreadLane, pcm: bytes, *, longest: int, searched: int
) -> Transcript:
    """The transcript of a recording, at most `longest` samples at a time, cut where their last `searched` are quietest.
    Leaving waits for the chunk that is being transcribed."""
    parts = []
    for start, end in pieces(pcm, longest, searched):
        chunk = pcm[start * SAMPLE_BYTES : end * SAMPLE_BYTES]
        if samples(chunk) >= SHORTEST:
            part = await lane.run(partial(transcribe, chunk))
            parts.append(later(part, start / HEARD_RATE))
    return joined(parts) if parts else Transcript("", understood=False)
