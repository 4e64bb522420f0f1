"""Sound on its way out: 16-bit mono samples made into a file of the kind that was asked for, while they come.

Owns WAV and bare samples; what is compressed is `recordings.Compressor`'s. Knows no voice and no dialect. `feed` and
`finish` block for about a hundredth of the sound's time: call them in `media.decoding`.
"""

from __future__ import annotations

from typing import Literal, Protocol

from duologue.media.recordings import Compressor
from duologue.values.audio import wav_header

Kind = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]

TYPES: dict[str, str] = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": "audio/pcm",
}
"""Media types, by kind."""


class AudioEncoder(Protocol):
    """Makes a file of what it is fed, in pieces."""

    def feed(self, pcm: bytes) -> bytes:
        """The bytes of the file that `pcm` completes; may be empty."""
        ...

    def finish(self) -> bytes:
        """The rest of the file. Nothing may follow."""
        ...


def encoder(kind: Kind, rate: int) -> AudioEncoder:
    """An encoder of this kind for sound at `rate` Hz. Raises Unsupported for a compressed one without PyAV."""
    if kind == "pcm":
        return _Plain(b"")
    if kind == "wav":
        return _Plain(wav_header(rate))
    return Compressor(kind, rate)


def whole(kind: Kind, pcm: bytes, rate: int) -> bytes:
    """A whole file at once; a WAV file then knows its length. Raises as `encoder`."""
    if kind == "wav":
        return wav_header(rate, len(pcm)) + pcm
    made = encoder(kind, rate)
    return made.feed(pcm) + made.finish()


class _Plain:
    """Samples as they are, after a header."""

    def __init__(self, header: bytes) -> None:
        self._header = header

    def feed(self, pcm: bytes) -> bytes:
        header, self._header = self._header, b""
        return header + pcm

    def finish(self) -> bytes:
        return self.feed(b"")
