"""The GGUF format: what is read, and what a broken or hostile file is answered with."""

from __future__ import annotations

import io
import struct

import pytest

from duologue.models.gguf import reader
from duologue.models.gguf.reader import MAX_ARRAY, LongArray, Metadata, Unreadable, read_part

U32, U64, STRING, ARRAY = 4, 10, 8, 9


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def entry(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def array(kind: int, count: int, data: bytes) -> bytes:
    return struct.pack("<IQ", kind, count) + data


def tensor(name: str, dimensions: list[int], kind: int = 0, offset: int = 0) -> bytes:
    shape = struct.pack(f"<I{len(dimensions)}Q", len(dimensions), *dimensions)
    return text(name) + shape + struct.pack("<IQ", kind, offset)


def file(entries: list[bytes], tensors: list[bytes] | None = None, *, version: int = 3) -> bytes:
    tensors = tensors or []
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(entries))
    return head + b"".join(entries) + b"".join(tensors)


def read(content: bytes) -> tuple[Metadata, list, int]:
    return read_part(io.BytesIO(content), len(content))


def test_scalars_texts_and_arrays_are_read() -> None:
    metadata, _, _ = read(
        file(
            [
                entry("name", STRING, text("Mini")),
                entry("context", U32, struct.pack("<I", 512)),
                entry("add_bos", 7, b"\x01"),
                entry("heads", ARRAY, array(U32, 3, struct.pack("<3I", 4, 2, 4))),
            ]
        )
    )
    assert metadata.text("name") == "Mini"
    assert metadata.integer("context") == 512
    assert metadata.boolean("add_bos") is True
    assert metadata.per_block("heads", 3) == (4, 2, 4)
    assert metadata.per_block("context", 2) == (512, 512)


def test_a_value_of_another_type_counts_as_absent() -> None:
    metadata, _, _ = read(file([entry("x", 7, b"\x01"), entry("y", STRING, text("5"))]))
    assert metadata.integer("x", 9) == 9
    assert metadata.integer("y", 9) == 9
    assert metadata.text("x") == ""
    assert metadata.boolean("y") is None
    assert metadata.per_block("y", 2) == ()
    assert metadata.count("y") == 0


def test_token_texts_are_found_by_their_ids_wherever_these_stand() -> None:
    words = b"".join(text(word) for word in ("a", "b", "<end>", "d"))
    vocabulary = entry("tokenizer.ggml.tokens", ARRAY, array(STRING, 4, words))
    eos = entry("tokenizer.ggml.eos_token_id", U32, struct.pack("<I", 2))
    after = entry("after", U32, struct.pack("<I", 1))
    for entries in ([vocabulary, eos, after], [eos, vocabulary, after]):
        metadata, _, _ = read(file(entries))
        assert metadata.token("tokenizer.ggml.eos_token_id") == "<end>"
        assert metadata.token("tokenizer.ggml.bos_token_id") == ""
        assert metadata.integer("after") == 1


def test_a_token_id_beyond_the_vocabulary_has_no_text() -> None:
    vocabulary = entry("tokenizer.ggml.tokens", ARRAY, array(STRING, 1, text("a")))
    metadata, _, _ = read(
        file([vocabulary, entry("tokenizer.ggml.eos_token_id", U32, struct.pack("<I", 4_000_000_000))])
    )
    assert metadata.token("tokenizer.ggml.eos_token_id") == ""


def test_long_arrays_are_passed_over() -> None:
    scores = entry("scores", ARRAY, array(6, 100_000, bytes(400_000)))
    metadata, _, _ = read(file([scores, entry("after", U32, struct.pack("<I", 1))]))
    assert metadata.entries["scores"] == LongArray(100_000)
    assert metadata.integer("after") == 1


def test_tensors_know_their_elements_and_bytes() -> None:
    _, tensors, data = read(
        file([], [tensor("w", [256, 4], 12, 64), tensor("b", [], 0), tensor("new", [8], 777)])
    )
    assert [(info.name, info.elements, info.size, info.offset) for info in tensors] == [
        ("w", 1024, 4 * 144, 64),
        ("b", 1, 4, 0),
        ("new", 8, None, 0),
    ]
    assert data % 32 == 0


def test_weights_begin_at_the_files_own_alignment() -> None:
    _, _, data = read(file([entry("general.alignment", U32, struct.pack("<I", 4096))]))
    assert data == 4096


HEADER = 4 + 20 + (8 + 4 + 4 + 8 + 4) + (8 + 1 + 4 + 8 + 4 + 8)
"""Bytes of the small file below."""


@pytest.mark.parametrize("length", range(4, HEADER))
def test_a_file_cut_anywhere_in_its_header_is_truncated(length: int) -> None:
    content = file([entry("name", STRING, text("Mini"))], [tensor("w", [4])])
    assert len(content) == HEADER
    with pytest.raises(Unreadable) as caught:
        read(content[:length])
    assert caught.value.truncated


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04rest", "PyTorch checkpoint"),
        (b"version https://git-lfs.github.com/spec/v1", "git lfs pull"),
        (b"<!DOCTYPE html>", "web page"),
        (b"\x08\x00", "not a GGUF model"),
        (file([], version=1), "version 1"),
        (file([], version=4), "version 4"),
        (b"GGUF" + struct.pack(">I", 3) + bytes(16), "big-endian"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 0), "damaged"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), "damaged"),
        (file([entry("x", 99, b"")]), "unknown type"),
        (file([entry("x", ARRAY, array(99, 1, b""))]), "unknown type"),
        (file([entry("x", ARRAY, array(ARRAY, 1, array(U32, 1, bytes(4))))]), "unknown type"),
        (file([entry("x", ARRAY, array(U32, MAX_ARRAY + 1, b""))]), "damaged"),
        (file([entry("general.alignment", U32, bytes(4))]), "alignment"),
        (file([], [text("w") + struct.pack("<I", 4_000_000_000)]), "dimensions"),
        (file([text("k" * 5000) + bytes(16)]), "damaged"),
    ],
)
def test_what_cannot_be_read_says_why(content: bytes, sentence: str) -> None:
    with pytest.raises(Unreadable, match=sentence):
        read(content)


class Endless(io.BytesIO):
    """A header, then as many zero bytes as anybody reads: a sparse file of a terabyte."""

    def __init__(self, head: bytes) -> None:
        super().__init__(head)
        self.taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        self.taken += size
        return super().read(size).ljust(size, b"\0")


@pytest.mark.parametrize(
    "head",
    [
        file([text("x") + struct.pack("<I", ARRAY) + array(STRING, 15_000_000, b"")]),
        file([text("x") + struct.pack("<IQ", STRING, 1 << 33)]),
    ],
)
def test_a_terabyte_of_promises_costs_little(head: bytes) -> None:
    content = Endless(head)
    with pytest.raises(Unreadable):
        read_part(content, 1 << 40)
    assert content.taken < 100_000_000


def test_all_that_is_kept_of_a_file_together_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_KEPT", 1000)
    many = [entry(str(number), STRING, text("x" * 90)) for number in range(20)]
    with pytest.raises(Unreadable, match="description"):
        read(file(many))
