"""The messages between the recogniser and its decoder processes, and their encoding on a socket.

Used by `decoder_pool` on one side and `decoder_process` on the other. A message is its length in four bytes, then msgpack.
Each request gets exactly one response. Pure.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from duologue.engines.sphinx.confidence import DecodedWord


class BeginUtterance(Struct, frozen=True, tag="begin"):
    """Begin an utterance of a speaker who is `level` dBFS loud. Answered by PartialWords, as DecodeAudio is."""

    level: float


class DecodeAudio(Struct, frozen=True, tag="audio"):
    """The next sound of the utterance: 16-bit mono, 16 kHz."""

    pcm: bytes


class EndUtterance(Struct, frozen=True, tag="end"):
    """The utterance is over. Answered by FinalWords."""


class PartialWords(Struct, frozen=True, tag="partial"):
    """The words so far."""

    text: str


class FinalWords(Struct, frozen=True, tag="final"):
    """The words of the utterance, and the confidence, from 0 to 1."""

    words: tuple[DecodedWord, ...]
    confidence: float


class DecodingFailed(Struct, frozen=True, tag="failed"):
    """Decoding, or loading, failed: the sentence and the code of the Problem."""

    message: str
    code: str


class Ready(Struct, frozen=True, tag="ready"):
    """Sent first, once: the process has loaded its models, or a decoder is ready for its utterance."""


DecoderRequest = BeginUtterance | DecodeAudio | EndUtterance
DecoderResponse = PartialWords | FinalWords | DecodingFailed
StartupMessage = Ready | DecodingFailed

M = TypeVar("M")

_LENGTH_BYTES = 4


def pack(message: DecoderRequest | DecoderResponse | StartupMessage) -> bytes:
    """A message as it is sent."""
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(_LENGTH_BYTES, "big") + body


class MessageReader(Generic[M]):
    """Messages of one union from bytes that are cut anywhere."""

    def __init__(self, union: object) -> None:
        self._decoder = msgspec.msgpack.Decoder(union)
        self._buffer = bytearray()

    def add(self, data: bytes) -> None:
        """The next bytes."""
        self._buffer += data

    def take(self) -> M | None:
        """The next message, or None while it is incomplete."""
        end = _LENGTH_BYTES + int.from_bytes(self._buffer[:_LENGTH_BYTES], "big")
        if len(self._buffer) < max(end, _LENGTH_BYTES):
            return None
        body = bytes(self._buffer[_LENGTH_BYTES:end])
        del self._buffer[:end]
        message: M = self._decoder.decode(body)
        return message
