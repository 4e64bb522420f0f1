"""Sound between neural networks and the rest of the server: float arrays to and from 16-bit PCM, and PCM as chunks.

Used by the recognisers and speakers whose libraries work on numpy arrays; numpy comes with those libraries.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from duologue.engines.contracts import SpeechChunk, SpokenWord
from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE, samples
from duologue.values.mouth import Phone

CHUNK = SPOKEN_RATE // 5
"""Samples of one chunk."""
FAINT = 0.01
"""Share of full scale below which a beginning counts as silence."""
MARGIN = SPOKEN_RATE // 50
"""Samples of such a beginning that are left, so that a soft consonant is not cut."""


def to_floats(pcm: bytes) -> Any:
    """16-bit samples as a float32 array, -1 to 1. Half a sample at the end is dropped."""
    import numpy

    return numpy.frombuffer(pcm[: samples(pcm) * SAMPLE_BYTES], "<i2").astype(numpy.float32) / 32768.0


def to_pcm(sound: Any) -> bytes:
    """A float array (-1 to 1) as 16-bit samples; louder values are clipped, NaN is silence."""
    import numpy

    values = numpy.nan_to_num(numpy.asarray(sound, dtype=numpy.float32).ravel())
    return bytes((values.clip(-1.0, 1.0) * 32767.0).round().astype("<i2").tobytes())


def crossfade(old: Any, new: Any) -> Any:
    """Float arrays of equal length: from the one to the other, evenly."""
    import numpy

    share = numpy.arange(1, len(new) + 1, dtype=numpy.float32) / (len(new) + 1)
    return old * (1 - share) + new * share


def leading_silence(pcm: bytes) -> int:
    """The samples of silence a sound begins with, less MARGIN; 0 where it is all silence."""
    import numpy

    loud = numpy.flatnonzero(numpy.abs(numpy.frombuffer(pcm, "<i2")) > FAINT * 32767)
    return max(0, int(loud[0]) - MARGIN) if len(loud) else 0


def split_chunks(
    pcm: bytes, words: Sequence[SpokenWord], start: int = 0, phones: Sequence[Phone] = ()
) -> Iterator[SpeechChunk]:
    """A sound in chunks, each with the words and phones that begin in it; its first sample is the clause's sample `start`."""
    size = CHUNK * SAMPLE_BYTES
    for at in range(0, len(pcm), size):
        first = start + at // SAMPLE_BYTES
        # What begins outside of the sound, by a rounding of the model's, goes with its first or last chunk.
        low = -math.inf if not at else first
        high = math.inf if at + size >= len(pcm) else first + CHUNK
        yield SpeechChunk(
            pcm[at : at + size],
            tuple(word for word in words if low <= word.start < high),
            tuple(phone for phone in phones if low <= phone.start < high),
        )


def shift_words(words: Sequence[SpokenWord], start: int, at: int) -> tuple[SpokenWord, ...]:
    """The words of a part as words of its clause, where it begins at sample `start` and character `at`."""
    return tuple(
        msgspec.structs.replace(
            word, start=word.start + start, end=word.end + start, at=word.at + at, to=word.to + at
        )
        for word in words
    )


def shift_phones(phones: Iterable[Phone], start: int) -> tuple[Phone, ...]:
    """The phones of a part as phones of its clause, where it begins at sample `start`."""
    return tuple(Phone(phone.symbol, phone.start + start, phone.end + start) for phone in phones)


async def no_speech() -> AsyncIterator[SpeechChunk]:
    """The sound of a clause without any letter or digit: no chunks."""
    return
    yield
