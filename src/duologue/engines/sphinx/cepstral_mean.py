"""The mean cepstra of an utterance, estimated while it is heard.

Used by `decoder`. The acoustic model expects cepstra without their mean, which depends on the speaker, the microphone and the
room. Left alone, the library trusts its assumption as much as five seconds of sound and looks at it again after eight, which is
longer than most turns of a call. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

LIBRARY_FRAMES = 500
"""Frames that the library's own mean counts for when it is set."""
INTERVAL = 50
"""Frames between two estimates: the library reports its mean with two decimals, too coarse for shorter ones."""


class CepstralMean:
    """Begins as `prior`, which counts as much as `weight` frames of sound."""

    def __init__(self, prior: Sequence[float], weight: int) -> None:
        self.values = tuple(prior)
        self._prior = self.values
        self._weight = weight
        self._sums = [0.0] * len(self.values)
        self._frames = 0

    def update(self, reported: Sequence[float], frames: int) -> None:
        """Take `frames` more frames into account. `reported` is the library's mean after them, where it was set to `values`
        before them."""
        self._frames += frames
        for at, (mean, before) in enumerate(zip(reported, self.values, strict=True)):
            self._sums[at] += mean * (LIBRARY_FRAMES + frames) - before * LIBRARY_FRAMES
        whole = self._weight + self._frames
        self.values = tuple(
            (first * self._weight + total) / whole
            for first, total in zip(self._prior, self._sums, strict=True)
        )
