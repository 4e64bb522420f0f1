"""The mouth to a recording, whose sounds nobody reports: a recogniser writes down its words with their times, and the sounds of a word are
guessed by its letters. `clip.py` calls it."""

from __future__ import annotations

from duologue.engines.audio.silence import pieces
from duologue.engines.contracts import RecogniserEngine
from duologue.errors import Unsupported
from duologue.resampler import resampled
from duologue.text.speech.letter_sounds import guessed_phones
from duologue.threads import in_thread
from duologue.turns.mouth.curve import MouthCurve
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE, samples
from duologue.values.mouth import MouthKey, Phone
from duologue.values.speech import TimedWord

LONGEST = 30 * HEARD_RATE
"""Samples recognised at a time: half a minute."""
SEARCHED = 12 * HEARD_RATE
"""Samples before that limit in which the quietest place is sought."""


async def recorded_lips(recogniser: RecogniserEngine, pcm: bytes, language: str = "") -> tuple[MouthKey, ...]:
    """The mouth's keys for a recording (16-bit mono, 24 kHz). Raises Unsupported where the recogniser does not say when a word is spoken:
    lips that move at the wrong time are worse than none."""
    if not recogniser.word_timestamps:
        raise Unsupported(
            "The recogniser of this server does not tell when a word is spoken, so no lips can be moved to a recording. Send the text instead."
        )
    heard = await in_thread(resampled, pcm, SPOKEN_RATE, HEARD_RATE)
    words: list[TimedWord] = []
    for start, end in pieces(heard, LONGEST, SEARCHED):
        part = await recogniser.transcribe(
            heard[start * SAMPLE_BYTES : end * SAMPLE_BYTES], language=language, word_timestamps=True
        )
        later = start / HEARD_RATE
        words += [TimedWord(word.text, word.start + later, word.end + later) for word in part.words]
        language = language or part.language
    return mouth_of(words, samples(pcm), language)


def mouth_of(words: list[TimedWord], length: int, language: str) -> tuple[MouthKey, ...]:
    """The mouth's keys of timed words, in a recording of `length` samples at 24 kHz."""
    phones: list[Phone] = []
    for word in words:
        start = min(length, max(phones[-1].end if phones else 0, round(word.start * SPOKEN_RATE)))
        end = min(length, round(word.end * SPOKEN_RATE))
        if start < end:
            phones += guessed_phones(word.text, start, end, language)
    curve = MouthCurve()
    return (*curve.feed(phones, length), *curve.finish())
