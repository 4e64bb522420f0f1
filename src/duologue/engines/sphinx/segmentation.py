"""Where in a recording somebody speaks: the stretches between silences, one utterance each.

Owns how long a silence has to be. Pure; what is speech is said by a detector.
"""

from __future__ import annotations

from collections.abc import Iterator

from duologue.engines.audio.silence import quietest
from duologue.engines.contracts import FRAME, Detector
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, samples

SILENCE = HEARD_RATE // 2
"""Samples without speech that end an utterance."""
AROUND = HEARD_RATE // 4
"""Samples kept before and after one: words begin and end softly."""
LONGEST = 12 * HEARD_RATE
"""Samples after which one is cut, where it is quietest."""
SEARCHED = 4 * HEARD_RATE
LIKELY = 0.5


def utterances(pcm: bytes, detector: Detector) -> Iterator[tuple[int, int]]:
    """The samples (from, to) of each utterance, at 16 kHz, in order. Blocks as long as the detector does."""
    whole = samples(pcm)
    for start, end in _spoken(pcm, detector):
        start, end = max(0, start - AROUND), min(whole, end + AROUND)
        while end - start > LONGEST:
            cut = quietest(pcm, start + LONGEST - SEARCHED, start + LONGEST)
            yield start, cut
            start = cut
        yield start, end


def _spoken(pcm: bytes, detector: Detector) -> Iterator[tuple[int, int]]:
    first, last = -1, -1
    for at in range(0, samples(pcm) - FRAME + 1, FRAME):
        if detector.probability(pcm[at * SAMPLE_BYTES : (at + FRAME) * SAMPLE_BYTES]) > LIKELY:
            if first < 0:
                first = at
            last = at + FRAME
        elif first >= 0 and at - last >= SILENCE:
            yield first, last
            first = -1
    if first >= 0:
        yield first, last
