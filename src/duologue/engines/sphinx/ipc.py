"""The messages between the recogniser and its decoder processes.

Used by `decoder_pool` on one side and `decoder_process` on the other, as a stream of `message_stream`. Each request gets
exactly one response. Pure.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.engines.sphinx.confidence import DecodedWord


class BeginUtterance(Struct, frozen=True, tag="begin"):
    """Begin an utterance of a speaker who is `level` dBFS loud and may well say `words`. `spot`: listen for words that ask to stop
    too. Answered by PartialWords, as DecodeAudio is."""

    level: float
    words: tuple[str, ...] = ()
    spot: bool = False


class DecodeAudio(Struct, frozen=True, tag="audio"):
    """The next sound of the utterance: 16-bit mono, 16 kHz."""

    pcm: bytes


class EndUtterance(Struct, frozen=True, tag="end"):
    """The utterance is over. Answered by FinalWords."""


class PartialWords(Struct, frozen=True, tag="partial"):
    """The words so far."""

    text: str


class FinalWords(Struct, frozen=True, tag="final"):
    """The words of the utterance, the confidence, from 0 to 1, and the word spotted that asks to stop, or ""."""

    words: tuple[DecodedWord, ...]
    confidence: float
    stop_word: str = ""


class DecodingFailed(Struct, frozen=True, tag="failed"):
    """Decoding, or loading, failed: the sentence and the code of the Problem."""

    message: str
    code: str


class Ready(Struct, frozen=True, tag="ready"):
    """Sent first, once: the process has loaded its models, or a decoder is ready for its utterance."""


DecoderRequest = BeginUtterance | DecodeAudio | EndUtterance
DecoderResponse = PartialWords | FinalWords | DecodingFailed
StartupMessage = Ready | DecodingFailed
