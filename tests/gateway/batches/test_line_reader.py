"""The lines of an input, however long they are and however the file ends."""

from pathlib import Path

import pytest

from duologue.errors import NotFound
from duologue.gateway.batches.line_reader import BLOCK, InputLine, read_lines

pytestmark = pytest.mark.anyio


async def lines(path: Path, limit: int = 10) -> list[tuple[int, bytes | None]]:
    return [(line.number, line.data) async for block in read_lines(path, limit) for line in block]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n \n\r\n", []),
        (b"a\nb", [(1, b"a"), (2, b"b")]),
        (b"a\r\n\n b \n", [(1, b"a"), (3, b"b")]),
        (b"\xef\xbb\xbfa\n", [(1, b"a")]),
        (b"0123456789\n0123456789\r\n", [(1, b"0123456789"), (2, b"0123456789")]),
        (b"0123456789a\nb\n", [(1, None), (2, b"b")]),
        (b"0123456789a", [(1, None)]),
        (b"x" * 200_000 + b"\nb\n" + b"x" * 200_000, [(1, None), (2, b"b"), (3, None)]),
    ],
    ids=lambda value: repr(value)[:30],
)
async def test_lines_have_numbers_and_those_that_are_too_long_no_data(tmp_path, data, expected):
    path = tmp_path / "in"
    path.write_bytes(data)
    assert await lines(path) == expected


async def test_a_few_are_in_memory_at_a_time(tmp_path):
    path, line = tmp_path / "in", b"x" * 1000
    path.write_bytes((line + b"\n") * 5000)
    sizes = []
    async for block in read_lines(path, 2000):
        assert all(entry == InputLine(entry.number, line) for entry in block)
        sizes.append(len(block))
    assert sum(sizes) == 5000
    assert max(sizes) <= BLOCK // 1000 + 1


async def test_a_file_that_is_gone_is_not_found(tmp_path):
    with pytest.raises(NotFound):
        await lines(tmp_path / "nothing")
