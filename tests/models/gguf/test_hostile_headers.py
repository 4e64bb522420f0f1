"""Thousands of damaged headers: mutations of a small real file. Each is read, or refused with a sentence, and none
takes more memory than a header may."""

from __future__ import annotations

import random
import struct
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue.errors import Problem
from duologue.models.gguf.header import read
from duologue.models.gguf.reader import MAX_KEPT

MUTATIONS = 3000
NUMBERS = (0, 1, 2**31 - 1, 2**32 - 1, 2**32, 2**60, 2**63 - 1, 2**63, 2**64 - 1, 65_535, 65_537, 16_000_001)
HEAD = 24


@pytest.fixture(scope="module")
def header(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A real header with the beginning of its weights."""
    path = write_tiny_model(tmp_path_factory.mktemp("tiny") / "tiny.gguf", TinyModel())
    return path.read_bytes()[:12_000]


def mutated(data: bytes, chance: random.Random) -> bytes:
    """`data` with one to four changes, such as a fuzzer makes them."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(changed)) if chance.random() < 0.7 else chance.randrange(4, HEAD)
        place = min(place, len(changed) - 1)  # an earlier change may have cut it
        match chance.randrange(6):
            case 0:
                changed[place] ^= 1 << chance.randrange(8)
            case 1:
                changed[place : place + 8] = struct.pack("<Q", chance.choice(NUMBERS))
            case 2:
                changed[place : place + 4] = struct.pack("<I", chance.choice(NUMBERS) & 0xFFFFFFFF)
            case 3:
                del changed[place : place + chance.randrange(1, 64)]
            case 4:
                start = chance.randrange(len(changed))
                changed[place:place] = changed[start : start + chance.randrange(1, 512)]
            case 5:
                changed = changed[: max(HEAD, place)]
    return bytes(changed)


def attempt(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with suppress(Problem):
        read(path)


def test_a_damaged_header_is_read_or_refused(header, tmp_path) -> None:
    chance = random.Random(20)
    for number in range(MUTATIONS):
        data = mutated(header, chance)
        try:
            attempt(tmp_path / "m.gguf", data)
        except Exception as error:
            raise AssertionError(f"mutation {number}") from error


def array(key: bytes, kind: int, count: int, data: bytes) -> bytes:
    return struct.pack("<Q", len(key)) + key + struct.pack("<IIQ", 9, kind, count) + data


@pytest.mark.parametrize(("kind", "size"), [(0, 1), (7, 1), (10, 8), (12, 8)])
def test_arrays_take_no_more_memory_than_a_header_may(kind, size, tmp_path) -> None:
    one = array(b"%08d", kind, 4096, bytes(4096 * size))
    entries = b"".join(one.replace(b"%08d", b"%08d" % number, 1) for number in range(MAX_KEPT // 4096 // 8))
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, MAX_KEPT // 4096 // 8)
    (tmp_path / "m.gguf").write_bytes(head + entries)
    del entries
    tracemalloc.start()
    try:
        with pytest.raises(Problem):
            read(tmp_path / "m.gguf")
        assert tracemalloc.get_traced_memory()[1] < 2 * MAX_KEPT
    finally:
        tracemalloc.stop()
