"""A long recording read in chunks, so that only a few minutes of it are in memory as samples at a time.

Used for transcriptions of files, by `read_chunks` in a decoder process. A chunk ends at the quietest place near its greatest
length, so that no word is cut.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator

from duologue.decoder.job import decoder_job
from duologue.errors import TooLarge
from duologue.media import recordings, sniff, wav
from duologue.resampler import available
from duologue.values.audio import from_float32

RATE = wav.RATE
LONGEST = 300 * RATE
"""Samples of a chunk: five minutes."""
SEARCHED = 10 * RATE
"""Samples at a chunk's end that are searched for the quietest place."""
WINDOW = RATE // 5
"""Samples of a place to cut: the shortest pause between two words."""


@decoder_job(seconds=60, cpu_seconds=900, memory_mb=1024, preload=("av", "PIL.Image"))
def read_chunks(data: bytes, minutes: float) -> Iterator[bytes]:
    """The chunks of a sound file, of at most so many minutes. Raises as AudioChunks."""
    chunks = AudioChunks(data, sniff.kind(data[: sniff.HEAD]), minutes=minutes)
    while chunk := chunks.next_chunk():
        yield chunk


class AudioChunks:
    """A sound file of any supported format as 16-bit mono at RATE.

    `minutes`: the longest that is accepted. Raises Unsupported for other formats, BadRequest for a broken file, TooLarge for
    a long one: at once, as far as the file's beginning tells, else when the chunk is read.
    """

    def __init__(self, data: bytes, mime: str, *, minutes: float) -> None:
        self._minutes = minutes
        self._buffer = bytearray()
        self._ended = False
        self._samples = 0
        plain = wav.read_unchanged(data) if wav.is_wav(data) else None
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
        """Seconds returned so far."""
        return self._samples / RATE

    def next_chunk(self) -> bytes:
        """The next chunk; empty at the end. Raises as the constructor."""
        self._fill()
        size = len(self._buffer) if self._ended and len(self._buffer) <= 2 * LONGEST else 2 * self._end()
        chunk = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._samples += size // 2
        self._check(self.seconds)
        return chunk

    def _fill(self) -> None:
        while not self._ended and len(self._buffer) <= 2 * LONGEST:
            piece = next(self._pieces, None)
            if piece is None:
                self._ended = True
            else:
                self._buffer += piece

    def _end(self) -> int:
        """The sample in the middle of the quietest window before LONGEST."""
        first = LONGEST - SEARCHED
        values = array("h", bytes(self._buffer[2 * first : 2 * LONGEST]))
        if sys.byteorder == "big":
            values.byteswap()
        places = range(0, SEARCHED - WINDOW + 1, WINDOW // 2)
        quietest = min(places, key=lambda at: sum(map(abs, values[at : at + WINDOW])))
        return first + quietest + WINDOW // 2

    def _check(self, seconds: float) -> None:
        # A file's header may claim a frame more than there is.
        if seconds > self._minutes * 60 + 1:
            raise TooLarge(
                f"The recording is longer than {self._minutes:g} minutes; the setting limits.audio_minutes raises the limit.",
                code="sound_too_long",
                param="file",
            )
