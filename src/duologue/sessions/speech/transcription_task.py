"""Transcription of one recording.

worker/voice.py runs it. A long recording is cut at its quietest places, so that text is sent while the rest is still
being recognised, and a cancelled request stops soon.
"""

from __future__ import annotations

from duologue.engines.audio.silence import pieces
from duologue.errors import BadRequest
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.speech.speech_task import SendEvent
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, samples
from duologue.values.call_events import TranscriptText
from duologue.values.speech import Transcript, TranscriptionRequest
from duologue.values.transcripts import following, joined, later

LONGEST = 30 * HEARD_RATE
"""Samples recognised at a time: half a minute."""
SEARCHED = 12 * HEARD_RATE
"""Samples before that limit in which the quietest place is sought."""


async def transcribe(engines: SpeechEngines, request: TranscriptionRequest, send: SendEvent) -> None:
    """Send the text piece by piece, then the complete transcript once. Raises Problems."""
    recogniser = engines.require_recogniser()
    if not samples(request.pcm):
        raise BadRequest("The recording contains no sound.", param="file")
    parts: list[Transcript] = []
    previous = ""
    for start, end in pieces(request.pcm, LONGEST, SEARCHED):
        part = await recogniser.transcribe(
            request.pcm[start * SAMPLE_BYTES : end * SAMPLE_BYTES],
            language=request.language,
            prompt=request.hint,
            word_timestamps=request.words,
        )
        if part.text:
            await send(TranscriptText(following(previous, part.text)))
            previous = part.text
        parts.append(later(part, start / HEARD_RATE))
    await send(TranscriptText(transcript=joined(parts)))
