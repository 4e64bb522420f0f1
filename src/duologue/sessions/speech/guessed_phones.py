"""The phones of a voice that reports none, for the mouth: the sounds that the letters of its words suggest.

`synthesis.py` and `omni/native_reply.py` call it. Of a voice that does not report when its words sound either, the words were spread evenly; their
phones are then moved to where there is sound, so that the mouth is shut in a pause. Pure.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from duologue.engines.audio.silence import sounding
from duologue.text.speech.letter_sounds import guessed_phones
from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE, samples
from duologue.values.events import ReplyWord
from duologue.values.mouth import Phone

EACH = 8
"""Of so many samples one is looked at, because this runs on the event loop: ten seconds take about three milliseconds. What folds back of the
frequencies above leaves the loudness as it is."""


def phones_of_words(words: Iterable[ReplyWord], language: str) -> list[Phone]:
    """The phones of words whose times are known, in samples (24 kHz) of the reply."""
    return [phone for word in words for phone in guessed_phones(word.text, word.start, word.end, language)]


def phones_in_sound(words: Iterable[ReplyWord], pcm: bytes, start: int, language: str) -> list[Phone]:
    """The phones of words that were spread evenly over `pcm`, whose first sample is the reply's sample `start`: between the pauses of that
    sound. None where it is silent."""
    spans = _spans(pcm)
    count, total = samples(pcm), sum(end - begin for begin, end in spans)
    phones = []
    for phone in phones_of_words(words, language):
        begin, limit = _place(spans, (phone.start - start) * total // max(1, count))
        end = min(limit, begin + (phone.end - phone.start) * total // max(1, count))
        if begin < end:
            phones.append(Phone(phone.symbol, start + begin, start + end))
    return phones


def _spans(pcm: bytes) -> list[tuple[int, int]]:
    """The samples (from, to) between pauses."""
    few = array("h", pcm[: samples(pcm) * SAMPLE_BYTES])[::EACH].tobytes()
    spans = sounding(few, SPOKEN_RATE // EACH)
    return [(begin * EACH, min(end * EACH, samples(pcm))) for begin, end in spans]


def _place(spans: Sequence[tuple[int, int]], passed: int) -> tuple[int, int]:
    """The sample before which so many sounding ones have passed, and the end of the stretch that it is in."""
    for begin, end in spans:
        if passed < end - begin:
            return begin + passed, end
        passed -= end - begin
    return (spans[-1][1], spans[-1][1]) if spans else (0, 0)
