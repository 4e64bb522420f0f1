"""Loudness of sound: where to cut it, and whether there is anything in it at all.

Used by the recognisers, the speakers, the energy detector and transcription. Pure: 16-bit samples in, at 16 kHz unless
a rate is named; numbers out.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from operator import mul

from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, samples

WINDOW = HEARD_RATE // 5
"""Samples of a place to cut: about the length of a pause between two words."""
SHORT = HEARD_RATE // 50
"""Samples that are measured at a time: about the shortest consonant."""
FAINT = -45.0
"""dBFS above which nothing is silence."""
BELOW = 35.0
"""dB by which silence is below the peak of the voice."""
PAUSE = 8
"""Hundredths of a second of silence that are a pause between words, and not the stop of a consonant."""


def loudness(pcm: bytes) -> float:
    """The loudness in dBFS; -100 for digital silence."""
    values = array("h", pcm[: samples(pcm) * SAMPLE_BYTES])
    energy = sum(map(mul, values, values)) / max(1, len(values))
    return -100.0 if energy < 0.11 else 10.0 * math.log10(energy / (32768.0 * 32768.0))


def peak(pcm: bytes) -> float:
    """The loudness of the loudest fiftieth of a second, in dBFS."""
    size = SHORT * SAMPLE_BYTES
    return max((loudness(pcm[at : at + size]) for at in range(0, len(pcm), size)), default=-100.0)


def is_silence(pcm: bytes, voice: float) -> bool:
    """Whether the sound has nothing of a voice with a peak of `voice` dBFS."""
    return not pcm or peak(pcm) < min(FAINT, voice - BELOW)


def quietest(pcm: bytes, start: int, end: int) -> int:
    """The sample in the middle of the quietest window between `start` and `end`."""
    places = range(start, max(start + 1, end - WINDOW + 1), WINDOW // 2)
    best = min(places, key=lambda at: loudness(pcm[at * SAMPLE_BYTES : (at + WINDOW) * SAMPLE_BYTES]))
    return min(best + WINDOW // 2, samples(pcm))


def pieces(pcm: bytes, longest: int, searched: int) -> Iterator[tuple[int, int]]:
    """The samples (from, to) of pieces no longer than `longest`, each cut where its last `searched` samples are quietest."""
    whole, start = samples(pcm), 0
    while whole - start > longest:
        end = quietest(pcm, start + longest - searched, start + longest)
        yield start, end
        start = end
    yield start, whole


def sounding(pcm: bytes, rate: int = HEARD_RATE) -> list[tuple[int, int]]:
    """The samples (from, to) between pauses of a voice at `rate` Hz; empty where there is nothing but silence."""
    size = rate // 100
    levels = [loudness(pcm[at : at + size * SAMPLE_BYTES]) for at in range(0, len(pcm), size * SAMPLE_BYTES)]
    least = max(FAINT, max(levels, default=-100.0) - BELOW)
    loud = [number for number, level in enumerate(levels) if level >= least]
    spans: list[tuple[int, int]] = []
    for number in loud:
        if spans and number - spans[-1][1] < PAUSE:
            spans[-1] = (spans[-1][0], number + 1)
        else:
            spans.append((number, number + 1))
    return [(start * size, min(end * size, samples(pcm))) for start, end in spans]
