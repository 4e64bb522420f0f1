"""The messages to a decoder and back."""

from typing import Any

import pytest

from duologue.engines.message_stream import MessageReader, pack
from duologue.engines.sphinx.confidence import DecodedWord
from duologue.engines.sphinx.ipc import (
    BeginUtterance,
    DecodeAudio,
    DecoderRequest,
    DecoderResponse,
    DecodingFailed,
    EndUtterance,
    FinalWords,
    PartialWords,
    Ready,
    StartupMessage,
)

WORD = DecodedWord("tea", 3, 17, 0.9, -12.5, -0.2)


@pytest.mark.parametrize(
    ("message", "union"),
    [
        (BeginUtterance(-21.5), DecoderRequest),
        (DecodeAudio(b"\x01\x00\xff\x7f"), DecoderRequest),
        (EndUtterance(), DecoderRequest),
        (PartialWords("Tell me"), DecoderResponse),
        (FinalWords((WORD, WORD), 0.75), DecoderResponse),
        (DecodingFailed("It broke.", "engine_failed"), DecoderResponse),
        (Ready(), StartupMessage),
        (DecodingFailed("It is not installed.", "engine_missing"), StartupMessage),
    ],
)
def test_a_message_comes_as_it_was_sent(message, union):
    reader: MessageReader[Any] = MessageReader(union)
    reader.add(pack(message))
    assert reader.take() == message
    assert reader.take() is None
