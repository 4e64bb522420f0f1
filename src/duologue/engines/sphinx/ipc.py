"""What is said between a recogniser and the processes that decode for it, and how it goes over a pipe.

A message is four bytes of its length and then msgpack. Each that is asked is answered once. Pure; knows no process.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from duologue.engines.sphinx.confidence import HeardWord


class BeginUtterance(Struct, frozen=True, tag="begin"):
    """A new utterance of somebody who is `level` dBFS loud. Answered by Words, as all but End is."""

    level: float


class DecodeAudio(Struct, frozen=True, tag="hear"):
    """What was said next: 16-bit mono, 16 kHz."""

    pcm: bytes


class End(Struct, frozen=True, tag="end"):
    """That was all of it. Answered by Understood."""


class Words(Struct, frozen=True, tag="words"):
    """The words so far."""

    text: str


class Understood(Struct, frozen=True, tag="understood"):
    """What was said, and how surely, from 0 to 1."""

    words: tuple[HeardWord, ...]
    sure: float


class DecodingFailed(Struct, frozen=True, tag="failed"):
    """It does not go on: a sentence, and the code of the Problem it was."""

    message: str
    code: str


class Ready(Struct, frozen=True, tag="ready"):
    """Said first, once: the process knows its models and has ears to lend, or an ear listens."""


Question = BeginUtterance | DecodeAudio | End
Answer = Words | Understood | DecodingFailed
Started = Ready | DecodingFailed

M = TypeVar("M")

_HEAD = 4


def packed(message: Question | Answer | Started) -> bytes:
    """A message as it is sent."""
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(_HEAD, "big") + body


class Incoming(Generic[M]):
    """Messages of one union out of bytes that are cut anywhere."""

    def __init__(self, union: object) -> None:
        self._decoder = msgspec.msgpack.Decoder(union)
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        """The next bytes."""
        self._bytes += data

    def take(self) -> M | None:
        """The next message, or None while it is not whole."""
        end = _HEAD + int.from_bytes(self._bytes[:_HEAD], "big")
        if len(self._bytes) < max(end, _HEAD):
            return None
        body = bytes(self._bytes[_HEAD:end])
        del self._bytes[:end]
        message: M = self._decoder.decode(body)
        return message
