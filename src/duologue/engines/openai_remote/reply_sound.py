"""The sound of a reply that the upstream's model speaks itself: base64 in pieces to 16-bit mono at 24 kHz.

Used by `stream`. Owns the two forms in which servers send it: bare samples in one stream (OpenAI), and a WAV file with each piece
(vLLM-Omni).
"""

from __future__ import annotations

import base64
import binascii

from duologue.engines.openai_remote.wav_stream import WavHeaderStripper
from duologue.resampler import Resampler
from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE

LONGEST_PIECE = SPOKEN_RATE * SAMPLE_BYTES
"""Bytes of one piece: a second. A whole reply in one piece would hold up what follows it on the worker's socket."""
COMPRESSED = (b"OggS", b"fLaC", b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf1")
"""How files begin that are not samples."""


class ReplySound:
    """`rate`: Hz of bare samples; a WAV header wins."""

    def __init__(self, rate: int = SPOKEN_RATE) -> None:
        self._rate = rate
        self._wav = WavHeaderStripper()
        self._resampler: Resampler | None = None
        self._begun = False

    def feed(self, data: str) -> list[bytes]:
        """The next samples in pieces of at most a second. Raises ValueError for anything but base64 of 16-bit mono samples, and
        StartFailed where PyAV is needed and missing."""
        try:
            sound = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ValueError("sound that is not base64") from error
        if sound.startswith(b"RIFF"):
            self._wav = WavHeaderStripper()
        elif not self._begun and sound.startswith(COMPRESSED):
            raise ValueError("compressed sound")
        self._begun = self._begun or bool(sound)
        pcm = self._wav.feed(sound)
        if not pcm:
            return []
        if self._resampler is None:
            self._resampler = Resampler(self._wav.rate or self._rate, SPOKEN_RATE)
        return _pieces(self._resampler.feed(pcm))

    def finish(self) -> list[bytes]:
        """The samples that were held back."""
        return [] if self._resampler is None else _pieces(self._resampler.finish())


def _pieces(pcm: bytes) -> list[bytes]:
    return [pcm[at : at + LONGEST_PIECE] for at in range(0, len(pcm), LONGEST_PIECE)]
