"""Copies of objects on the disk: fetched once, bounded, and never taken from under who is about to read."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest
from tests.support.store_fixtures import START

from duologue.errors import Unavailable
from duologue.storage.local_copies import HELD_S, LocalCopies

pytestmark = pytest.mark.anyio

NOW = START / 1000


def content(data: bytes, asked: list[bytes]) -> Callable[[], AsyncIterator[bytes]]:
    async def pieces() -> AsyncIterator[bytes]:
        asked.append(data)
        for at in range(0, len(data), 3):
            await anyio.lowlevel.checkpoint()
            yield data[at : at + 3]

    return pieces


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_copy_is_fetched_once_however_many_ask(tmp_path: Path) -> None:
    copies, asked = LocalCopies(tmp_path / "copies"), list[bytes]()
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(copies.get, "ab/abc", content(b"some words", asked))
    assert (await copies.get("ab/abc", content(b"", asked))).read_bytes() == b"some words"
    assert asked == [b"some words"]


async def test_one_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"so"
        raise Unavailable("The server is gone.")

    copies = LocalCopies(tmp_path)
    with pytest.raises(Unavailable):
        await copies.get("a", broken)
    assert names(tmp_path) == []
    assert (await copies.get("a", content(b"again", []))).read_bytes() == b"again"


async def test_the_oldest_make_room_once_nobody_can_still_be_reading_them(tmp_path: Path) -> None:
    now = NOW
    copies = LocalCopies(tmp_path, most=10, clock=lambda: now)
    for name in ("a", "b", "c"):
        await copies.get(name, content(b"12345", []))
        now += 1
    assert len(names(tmp_path)) == 3, "each was asked for a moment ago"
    now += HELD_S
    await copies.get("b", content(b"", []))
    await copies.get("d", content(b"12345", []))
    assert names(tmp_path) == ["b", "d"]


async def test_what_a_killed_server_was_fetching_goes(tmp_path: Path) -> None:
    (tmp_path / "of-old.part").write_bytes(b"half")
    os.utime(tmp_path / "of-old.part", (NOW, NOW))
    await LocalCopies(tmp_path, clock=lambda: NOW + HELD_S + 1).trim()
    assert names(tmp_path) == []
