"""Uploads on disk while they are read, and gone afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.support.thread_gate import crowded_disk

from duologue.conversations.files.spool import PIECE, UPLOADS_PER_USER, Spool
from duologue.errors import Busy, TooLarge, Unavailable

pytestmark = pytest.mark.anyio


async def chunks(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_an_upload_is_a_file_until_the_context_is_left(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "incoming")
    async with spool.received("ada", chunks(b"ab", b"c" * PIECE, b"d"), 64, "limits.import_mb") as path:
        assert path.read_bytes() == b"ab" + b"c" * PIECE + b"d"
    assert names(tmp_path / "incoming") == []


async def test_an_upload_over_the_limit_is_refused_by_the_setting_and_leaves_nothing(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    with pytest.raises(TooLarge, match=r"limits\.import_mb"):
        async with spool.received("ada", chunks(bytes(2**20), b"1"), 1, "limits.import_mb"):
            pass
    assert names(tmp_path) == []


async def test_a_user_has_two_uploads_on_the_disk_at_a_time(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    for _ in range(2):  # uploads that ended leave the room they took
        async with AsyncExitStack() as stack:
            for user in ["ada"] * UPLOADS_PER_USER + ["ben"]:
                await stack.enter_async_context(spool.received(user, chunks(b"a"), 1, "x"))
            with pytest.raises(Busy) as met:
                async with spool.received("ada", chunks(b"a"), 1, "x"):
                    pass
            assert (met.value.code, met.value.status) == ("import_running", 429)
            assert len(names(tmp_path)) == UPLOADS_PER_USER + 1
    assert names(tmp_path) == []


async def test_an_upload_that_ends_while_the_disk_is_busy_leaves_nothing(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    for _ in range(UPLOADS_PER_USER + 1):  # a place that is not given back would be missed by the last one
        async with crowded_disk() as crowd, spool.received("ada", chunks(b"a"), 1, "x"):
            await crowd()
        assert names(tmp_path) == []


async def test_an_upload_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"abc"
        raise ConnectionError

    spool = Spool(tmp_path)
    with pytest.raises(Unavailable):
        async with spool.received("ada", broken(), 1, "limits.import_mb"):
            pass
    assert names(tmp_path) == []


async def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "incoming").write_text("a file, not a folder")
    spool = Spool(tmp_path / "incoming")
    with pytest.raises(Unavailable, match="incoming cannot be used") as raised:
        async with spool.received("ada", chunks(b"abc"), 1, "limits.import_mb"):
            pass
    assert raised.value.code == "storage_unavailable"


async def test_what_a_killed_server_left_is_removed_by_the_next(tmp_path: Path) -> None:
    (tmp_path / "remains").write_bytes(b"abc")
    await Spool(tmp_path).sweep()
    assert names(tmp_path) == []
