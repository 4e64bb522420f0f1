"""The utterances of a recording: the stretches of speech between silences, by a voice activity detector.

Called by `engine` for whole recordings. Owns how long a silence has to be. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from duologue.engines.audio.silence import quietest
from duologue.engines.contracts import FRAME, Detector
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, samples

SILENCE = HEARD_RATE // 2
"""Samples without speech that end an utterance."""
MARGIN = HEARD_RATE // 4
"""Samples added before and after one: words begin and end softly."""
LONGEST = 12 * HEARD_RATE
"""Samples after which an utterance is cut, where it is quietest."""
SEARCHED = 4 * HEARD_RATE
SPEECH = 0.5
"""The probability above which a frame is speech."""


def utterances(pcm: bytes, detector: Detector) -> Iterator[tuple[int, int]]:
    """The samples (from, to) of each utterance, at 16 kHz, in order. Blocks while the detector works."""
    whole = samples(pcm)
    for start, end in _speech(pcm, detector):
        start, end = max(0, start - MARGIN), min(whole, end + MARGIN)
        while end - start > LONGEST:
            cut = quietest(pcm, start + LONGEST - SEARCHED, start + LONGEST)
            yield start, cut
            start = cut
        yield start, end


def _speech(pcm: bytes, detector: Detector) -> Iterator[tuple[int, int]]:
    first, last = -1, -1
    for at in range(0, samples(pcm) - FRAME + 1, FRAME):
        if detector.probability(pcm[at * SAMPLE_BYTES : (at + FRAME) * SAMPLE_BYTES]) > SPEECH:
            if first < 0:
                first = at
            last = at + FRAME
        elif first >= 0 and at - last >= SILENCE:
            yield first, last
            first = -1
    if first >= 0:
        yield first, last
