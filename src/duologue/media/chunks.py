"""A recording of hours, read passage by passage: only a few minutes of it are ever in memory as samples.

Owns where a passage ends, at the quietest place near its greatest length, so that no word is cut. Knows no speech.
Everything here blocks: call it in `media.decoding`.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator

from duologue.errors import TooLarge
from duologue.media import recordings, wav
from duologue.resampler import available
from duologue.values.audio import from_float32

RATE = wav.RATE
LONGEST = 300 * RATE
"""Samples of a passage: five minutes."""
SEARCHED = 10 * RATE
"""Samples at a passage's end among which its quietest place is looked for."""
WINDOW = RATE // 5
"""Samples of a place: a pause between two words is no shorter."""


class Passages:
    """16-bit mono sound at RATE, of a sound file of any kind that can be read.

    `minutes`: how long the whole may be. Raises Unsupported for what cannot be read, BadRequest for a broken file, TooLarge
    for a long one; all of them when the file is opened, as far as it can be told then.
    """

    def __init__(self, data: bytes, mime: str, *, minutes: float) -> None:
        self._minutes = minutes
        self._held = bytearray()
        self._over = False
        self._samples = 0
        plain = wav.plain(data) if wav.is_wav(data) else None
        if plain is not None:
            self._check(len(plain) / 2 / RATE)
            self._pieces: Iterator[bytes] = iter((plain,))
        elif wav.is_wav(data):
            self._check(wav.duration(data, len(data)) / 1000)
            self._pieces = (
                recordings.pieces(data, mime)
                if available()
                else (from_float32(piece) for piece in wav.pieces(data))
            )
        else:
            self._check(recordings.duration(data, mime))
            self._pieces = recordings.pieces(data, mime)
        self._fill()

    @property
    def seconds(self) -> float:
        """How much was given so far."""
        return self._samples / RATE

    def next(self) -> bytes:
        """The next passage; empty when there is none. Raises as the opening."""
        self._fill()
        size = len(self._held) if self._over and len(self._held) <= 2 * LONGEST else 2 * self._end()
        passage = bytes(self._held[:size])
        del self._held[:size]
        self._samples += size // 2
        self._check(self.seconds)
        return passage

    def _fill(self) -> None:
        while not self._over and len(self._held) <= 2 * LONGEST:
            piece = next(self._pieces, None)
            if piece is None:
                self._over = True
            else:
                self._held += piece

    def _end(self) -> int:
        """The sample in the middle of the quietest window before LONGEST."""
        first = LONGEST - SEARCHED
        values = array("h", bytes(self._held[2 * first : 2 * LONGEST]))
        if sys.byteorder == "big":
            values.byteswap()
        places = range(0, SEARCHED - WINDOW + 1, WINDOW // 2)
        quietest = min(places, key=lambda at: sum(map(abs, values[at : at + WINDOW])))
        return first + quietest + WINDOW // 2

    def _check(self, seconds: float) -> None:
        # What a file claims of its length may be a frame more than it is.
        if seconds > self._minutes * 60 + 1:
            raise TooLarge(
                f"The recording is longer than {self._minutes:g} minutes; the setting limits.audio_minutes raises the limit.",
                code="sound_too_long",
                param="file",
            )
