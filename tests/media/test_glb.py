"""The container of a figure: cut off, wrong, or naming what lies outside it."""

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.vrm_file import glb

from duologue.errors import BadRequest, Problem, TooLarge
from duologue.media import glb as container
from duologue.media.glb import read_glb

PLAIN = {"asset": {"version": "2.0"}}


def code_of(data: bytes) -> str:
    with pytest.raises(Problem) as caught:
        read_glb(data)
    return caught.value.code


def test_the_document_and_the_bytes_are_read() -> None:
    document, content = read_glb(glb(PLAIN, b"\1\2\3\4"))
    assert (document, bytes(content)) == (PLAIN, b"\1\2\3\4")


def test_every_truncation_is_a_sentence() -> None:
    whole = glb(PLAIN, b"\1\2\3\4")
    for length in range(len(whole)):
        assert code_of(whole[:length]) == "avatar_unreadable"


@given(st.binary(max_size=60))
def test_any_bytes_are_a_sentence(rest: bytes) -> None:
    with pytest.raises(BadRequest):
        read_glb(b"glTF" + struct.pack("<II", 2, 12 + len(rest)) + rest)


def test_another_version_of_gltf_is_refused() -> None:
    assert code_of(b"glTF" + struct.pack("<II", 1, 12)) == "avatar_unreadable"


def test_a_second_chunk_of_bytes_is_refused() -> None:
    whole = glb(PLAIN, b"\1\2\3\4")
    more = whole + struct.pack("<I4s", 4, b"BIN\0") + b"\1\2\3\4"
    assert code_of(more[:8] + struct.pack("<I", len(more)) + more[12:]) == "avatar_unreadable"


@pytest.mark.parametrize(
    "uri", ["https://example.com/a.png", "file:///etc/passwd", "a.bin", "data:image/png;base64,AAAA"]
)
@pytest.mark.parametrize("place", ["buffers", "images", "extensions"])
def test_nothing_may_have_an_address(uri: str, place: str) -> None:
    held: object = {"VRM": {"deep": [{"uri": uri}]}} if place == "extensions" else [{"uri": uri}]
    assert code_of(glb(PLAIN | {place: held}, b"")) == "avatar_refers_outside"


def test_a_document_of_endless_levels_is_a_sentence() -> None:
    for depth in (container.DEPTH + 5, 100_000):
        text = b'{"a":' + b"[" * depth + b"]" * depth + b"}"
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", 0, b"BIN\0")
        whole = struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks
        assert code_of(whole) == "avatar_unreadable"


def test_a_document_larger_than_its_limit_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "JSON_BYTES", 100)
    with pytest.raises(TooLarge) as caught:
        read_glb(glb({"a": "b" * 200}, b""))
    assert caught.value.code == "avatar_too_large"


def test_a_document_that_is_no_object_is_a_sentence() -> None:
    text = json.dumps([1]).ljust(4).encode()
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", 0, b"BIN\0")
    assert code_of(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks) == "avatar_unreadable"
