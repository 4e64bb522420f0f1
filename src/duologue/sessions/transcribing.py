"""Writing down a recording: one request, its transcript.

Owns the cutting of a long recording at its quietest places, so that something is told while the rest is still heard,
and a cancel ends the work soon. Knows no file format.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence

import msgspec

from duologue.errors import BadRequest
from duologue.sessions.hearing import level
from duologue.sessions.speech_engines import SpeechEngines
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, samples
from duologue.values.calls import CallEvent, Written
from duologue.values.speech import TimedWord, Transcript, TranscriptionRequest

Tell = Callable[[CallEvent], Awaitable[None]]

LONGEST = 30 * HEARD_RATE
"""Samples written down in one go: half a minute."""
SEARCHED = 12 * HEARD_RATE
"""Samples before that in which the quietest place is looked for."""
WINDOW = HEARD_RATE // 5
"""Samples of a place: a pause between two words is no shorter."""


async def transcribe(engines: SpeechEngines, request: TranscriptionRequest, tell: Tell) -> None:
    """Tell what was written down, piece by piece, and then the whole transcript once. Raises Problems."""
    recogniser = engines.recognises()
    if not samples(request.pcm):
        raise BadRequest("There is no sound in this recording.", param="file")
    parts: list[Transcript] = []
    for start, end in pieces(request.pcm):
        part = await recogniser.transcribe(
            request.pcm[start * SAMPLE_BYTES : end * SAMPLE_BYTES],
            language=request.language,
            hint=request.hint,
            words=request.words,
        )
        if part.text:
            told = any(earlier.text for earlier in parts)
            await tell(Written(f" {part.text}" if told else part.text))
        parts.append(_later(part, start / HEARD_RATE))
    await tell(Written(transcript=_joined(parts)))


def pieces(pcm: bytes) -> Iterator[tuple[int, int]]:
    """The samples (from, to) of the pieces of a recording, none longer than LONGEST, cut where it is quietest."""
    whole = samples(pcm)
    start = 0
    while whole - start > LONGEST:
        end = _quietest(pcm, start + LONGEST - SEARCHED, start + LONGEST)
        yield start, end
        start = end
    yield start, whole


def _quietest(pcm: bytes, start: int, end: int) -> int:
    """The middle of the quietest window between two samples."""
    places = range(start, end - WINDOW + 1, WINDOW // 2)
    return (
        min(places, key=lambda at: level(pcm[at * SAMPLE_BYTES : (at + WINDOW) * SAMPLE_BYTES])) + WINDOW // 2
    )


def _later(part: Transcript, seconds: float) -> Transcript:
    """A piece's transcript with its words where they are in the whole recording."""
    moved = tuple(TimedWord(word.text, word.start + seconds, word.end + seconds) for word in part.words)
    return msgspec.structs.replace(part, words=moved)


def _joined(parts: Sequence[Transcript]) -> Transcript:
    if len(parts) == 1:
        return parts[0]
    said = [part for part in parts if part.text]
    sure = [(part.confidence, len(part.text)) for part in said if part.confidence is not None]
    weight = sum(length for _, length in sure)
    return Transcript(
        " ".join(part.text for part in said),
        tuple(word for part in parts for word in part.words),
        next((part.language for part in parts if part.language), ""),
        sum(one * length for one, length in sure) / weight if weight else None,
        any(part.understood for part in said),
    )
