"""Messages between a recogniser and its ears, on their way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.engines.sphinx.confidence import HeardWord
from duologue.engines.sphinx.ipc import (
    Answer,
    BeginUtterance,
    DecodeAudio,
    DecodingFailed,
    End,
    Incoming,
    Question,
    Ready,
    Started,
    Understood,
    Words,
    packed,
)

WORD = HeardWord("tea", 3, 17, 0.9, -12.5, -0.2)


def taken(incoming: Incoming) -> list:
    found = []
    while (message := incoming.take()) is not None:
        found.append(message)
    return found


@pytest.mark.parametrize(
    ("message", "union"),
    [
        (BeginUtterance(-21.5), Question),
        (DecodeAudio(b"\x01\x00\xff\x7f"), Question),
        (End(), Question),
        (Words("Tell me"), Answer),
        (Understood((WORD, WORD), 0.75), Answer),
        (DecodingFailed("It broke.", "engine_failed"), Answer),
        (Ready(), Started),
        (DecodingFailed("It is not installed.", "engine_missing"), Started),
    ],
)
def test_a_message_comes_as_it_was_sent(message, union):
    incoming = Incoming(union)
    incoming.add(packed(message))
    assert taken(incoming) == [message]


@given(st.lists(st.binary(max_size=300), max_size=5), st.lists(st.integers(1, 50)))
def test_it_does_not_matter_where_the_bytes_are_cut(sounds, cuts):
    messages = [DecodeAudio(sound) for sound in sounds]
    data = b"".join(map(packed, messages))
    incoming, found = Incoming(Question), []
    for cut in cuts:
        incoming.add(data[:cut])
        data = data[cut:]
        found += taken(incoming)
    incoming.add(data)
    assert found + taken(incoming) == messages


def test_half_a_message_is_none():
    incoming = Incoming(Question)
    for byte in packed(BeginUtterance(1.0))[:-1]:
        incoming.add(bytes([byte]))
        assert incoming.take() is None
