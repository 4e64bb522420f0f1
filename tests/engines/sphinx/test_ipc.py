"""The encoding of messages."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.engines.sphinx.confidence import DecodedWord
from duologue.engines.sphinx.ipc import (
    BeginUtterance,
    DecodeAudio,
    DecoderRequest,
    DecoderResponse,
    DecodingFailed,
    EndUtterance,
    FinalWords,
    MessageReader,
    PartialWords,
    Ready,
    StartupMessage,
    pack,
)

WORD = DecodedWord("tea", 3, 17, 0.9, -12.5, -0.2)


def take_all(reader: MessageReader) -> list:
    messages = []
    while (message := reader.take()) is not None:
        messages.append(message)
    return messages


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
    assert take_all(reader) == [message]


@given(st.lists(st.binary(max_size=300), max_size=5), st.lists(st.integers(1, 50)))
def test_it_does_not_matter_where_the_bytes_are_cut(sounds, cuts):
    messages = [DecodeAudio(sound) for sound in sounds]
    data = b"".join(map(pack, messages))
    reader: MessageReader[DecoderRequest] = MessageReader(DecoderRequest)
    received: list[DecoderRequest] = []
    for cut in cuts:
        reader.add(data[:cut])
        data = data[cut:]
        received += take_all(reader)
    reader.add(data)
    assert received + take_all(reader) == messages


def test_an_incomplete_message_is_none():
    reader: MessageReader[DecoderRequest] = MessageReader(DecoderRequest)
    for byte in pack(BeginUtterance(1.0))[:-1]:
        reader.add(bytes([byte]))
        assert reader.take() is None
