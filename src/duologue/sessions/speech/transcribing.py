"""Writing down a recording: one request, its transcript.

Owns the cutting of a long recording at its quietest places, so that something is told while the rest is still heard,
and a cancel ends the work soon. Knows no file format.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from duologue.engines.audio.silence import pieces
from duologue.errors import BadRequest
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, samples
from duologue.values.call_events import CallEvent, TranscriptText
from duologue.values.speech import Transcript, TranscriptionRequest
from duologue.values.transcripts import following, joined, later

Tell = Callable[[CallEvent], Awaitable[None]]

LONGEST = 30 * HEARD_RATE
"""Samples written down in one go: half a minute."""
SEARCHED = 12 * HEARD_RATE
"""Samples before that in which the quietest place is looked for."""


async def transcribe(engines: SpeechEngines, request: TranscriptionRequest, tell: Tell) -> None:
    """Tell what was written down, piece by piece, and then the whole transcript once. Raises Problems."""
    recogniser = engines.recognises()
    if not samples(request.pcm):
        raise BadRequest("There is no sound in this recording.", param="file")
    parts: list[Transcript] = []
    told = ""
    for start, end in pieces(request.pcm, LONGEST, SEARCHED):
        part = await recogniser.transcribe(
            request.pcm[start * SAMPLE_BYTES : end * SAMPLE_BYTES],
            language=request.language,
            prompt=request.hint,
            word_timestamps=request.words,
        )
        if part.text:
            await tell(TranscriptText(following(told, part.text)))
            told = part.text
        parts.append(later(part, start / HEARD_RATE))
    await tell(TranscriptText(transcript=joined(parts)))
