"""The encoding of messages between a worker and its processes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from duologue.engines.message_stream import MessageReader, pack


class Sound(Struct, tag="sound"):
    data: bytes


def take_all(reader: MessageReader[Any]) -> list[Any]:
    messages = []
    while (message := reader.take()) is not None:
        messages.append(message)
    return messages


@given(st.lists(st.binary(max_size=300), max_size=5), st.lists(st.integers(1, 50)))
def test_it_does_not_matter_where_the_bytes_are_cut(sounds: list[bytes], cuts: list[int]) -> None:
    messages = [Sound(sound) for sound in sounds]
    data = b"".join(map(pack, messages))
    reader: MessageReader[Sound] = MessageReader(Sound)
    received: list[Sound] = []
    for cut in cuts:
        reader.add(data[:cut])
        data = data[cut:]
        received += take_all(reader)
    reader.add(data)
    assert received + take_all(reader) == messages


def test_an_incomplete_message_is_none() -> None:
    reader: MessageReader[Sound] = MessageReader(Sound)
    for byte in pack(Sound(b"abc"))[:-1]:
        reader.add(bytes([byte]))
        assert reader.take() is None


def test_a_message_that_is_too_long_is_refused_before_it_has_come() -> None:
    reader: MessageReader[Sound] = MessageReader(Sound, limit=1000)
    reader.add(pack(Sound(bytes(2000)))[:10])
    with pytest.raises(ValueError, match="bytes"):
        reader.take()
