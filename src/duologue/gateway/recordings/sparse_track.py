"""One side's sound on the timeline: pieces at their samples, silence between them. Pure. Used by `timeline`."""

from __future__ import annotations

from collections import deque

from duologue.values.audio import SAMPLE_BYTES, samples


class SparseTrack:
    """16-bit mono sound that is placed in order and taken out in order. Positions are samples from the beginning."""

    def __init__(self) -> None:
        self.taken = 0
        """Samples that were taken out: what is before cannot change any more."""
        self.end = 0
        """The sample after the last one that was placed."""
        self.pending = 0
        """Bytes that wait to be taken."""
        self._pieces: deque[tuple[int, bytes]] = deque()

    def place(self, start: int, pcm: bytes) -> int:
        """Put sound at `start`, or at the first sample that is free. Gives where it begins."""
        start = max(start, self.end, self.taken)
        if pcm:
            self._pieces.append((start, pcm))
            self.pending += len(pcm)
            self.end = start + samples(pcm)
        return start

    def trim(self, to: int) -> None:
        """Remove the sound from this sample on, as far as it was not taken."""
        to = max(to, self.taken)
        while self._pieces and self._pieces[-1][0] + samples(self._pieces[-1][1]) > to:
            start, pcm = self._pieces.pop()
            self.pending -= len(pcm)
            self.end = start
            if start < to:
                self.place(start, pcm[: (to - start) * SAMPLE_BYTES])
        self.end = min(self.end, to)

    def take(self, until: int) -> bytes:
        """The sound from `taken` to `until`, silence included."""
        sound = bytearray()
        at = self.taken
        while self._pieces and self._pieces[0][0] < until:
            start, pcm = self._pieces.popleft()
            self.pending -= len(pcm)
            if start + samples(pcm) > until:
                kept = pcm[(until - start) * SAMPLE_BYTES :]
                pcm = pcm[: (until - start) * SAMPLE_BYTES]
                self._pieces.appendleft((until, kept))
                self.pending += len(kept)
            sound += bytes((start - at) * SAMPLE_BYTES) + pcm
            at = start + samples(pcm)
        sound += bytes(max(0, until - at) * SAMPLE_BYTES)
        self.taken = max(self.taken, until)
        return bytes(sound)
