"""Sound between networks and everybody else: the numbers one hears, and what one made as 16-bit samples, in pieces, with the
words that begin in each.

Owns the way there and back. Knows no network. It needs numpy, which every such network brings along.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from duologue.engines.contracts import SpeechChunk, SpokenWord
from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE, samples

PIECE = SPOKEN_RATE // 5
"""Samples told at a time."""
FAINT = 0.01
"""Of full volume, under which a beginning is taken for silence."""
KEPT = SPOKEN_RATE // 50
"""Samples of such a beginning that stay."""


def numbers(pcm: bytes) -> Any:
    """16-bit samples as a network hears them: float32, -1 to 1. Half a sample at the end does not count."""
    import numpy

    return numpy.frombuffer(pcm[: samples(pcm) * SAMPLE_BYTES], "<i2").astype(numpy.float32) / 32768.0


def whole_samples(sound: Any) -> bytes:
    """A network's numbers (-1 to 1) as 16-bit samples; what is louder is cut off, what is no number is silence."""
    import numpy

    values = numpy.nan_to_num(numpy.asarray(sound, dtype=numpy.float32).ravel())
    return bytes((values.clip(-1.0, 1.0) * 32767.0).round().astype("<i2").tobytes())


def silent_start(pcm: bytes) -> int:
    """The samples of silence a sound begins with, less a fiftieth of a second."""
    import numpy

    loud = numpy.flatnonzero(numpy.abs(numpy.frombuffer(pcm, "<i2")) > FAINT * 32767)
    return max(0, int(loud[0]) - KEPT) if len(loud) else 0


def cut(pcm: bytes, words: Sequence[SpokenWord], start: int = 0) -> Iterator[SpeechChunk]:
    """A sound in pieces, each with the words that begin in it; the first sample is the clause's sample `start`."""
    size = PIECE * SAMPLE_BYTES
    for at in range(0, len(pcm), size):
        first = start + at // SAMPLE_BYTES
        final = at + size >= len(pcm)
        begun = tuple(
            word
            for word in words
            if (first <= word.start or not at) and (word.start < first + PIECE or final)
        )
        yield SpeechChunk(pcm[at : at + size], begun)


def later(words: Sequence[SpokenWord], start: int, at: int) -> tuple[SpokenWord, ...]:
    """The words of a part as words of the clause it begins in at sample `start` and character `at`."""
    return tuple(
        msgspec.structs.replace(
            word, start=word.start + start, end=word.end + start, at=word.at + at, to=word.to + at
        )
        for word in words
    )
