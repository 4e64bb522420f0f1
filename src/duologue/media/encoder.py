"""Encoders of synthesised sound: 16-bit mono samples to a file of the requested format, while they arrive.

Used by the audio dialects. WAV and bare samples are encoded here, compressed formats by `recordings.Compressor`. `feed` and
`finish` block for about a hundredth of the sound's time: call them by `threads.encoding`.
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
    """Encodes sound in pieces."""

    def feed(self, pcm: bytes) -> bytes:
        """The bytes of the file that `pcm` completes; may be empty."""
        ...

    def finish(self) -> bytes:
        """The rest of the file. Nothing may follow."""
        ...


def make_encoder(kind: Kind, rate: int) -> AudioEncoder:
    """An encoder of this kind for sound at `rate` Hz. Raises Unsupported for a compressed one without PyAV."""
    if kind == "pcm":
        return _Plain(b"")
    if kind == "wav":
        return _Plain(wav_header(rate))
    return Compressor(kind, rate)


def encode_file(kind: Kind, pcm: bytes, rate: int) -> bytes:
    """A whole file at once; the header of a WAV file then has its length. Raises as `make_encoder`."""
    if kind == "wav":
        return wav_header(rate, len(pcm)) + pcm
    encoder = make_encoder(kind, rate)
    return encoder.feed(pcm) + encoder.finish()


class _Plain:
    """Samples unchanged, after a header."""

    def __init__(self, header: bytes) -> None:
        self._header = header

    def feed(self, pcm: bytes) -> bytes:
        header, self._header = self._header, b""
        return header + pcm

    def finish(self) -> bytes:
        return self.feed(b"")
