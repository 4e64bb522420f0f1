"""How much storage a user's files may take."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from tests.support.kept_files import Kept, kept, pieces

from duologue.conversations.files.quota import StorageQuota, StorageUse
from duologue.errors import Busy, TooLarge

pytestmark = pytest.mark.anyio


@pytest.fixture
async def place(tmp_path: Path, anyio_backend: str) -> AsyncIterator[Kept]:
    async with kept(tmp_path / "blobs", quota=(1000, 100)) as place:
        yield place


async def test_files_fit_until_the_quota_is_full_and_the_refusal_has_the_figures(place: Kept) -> None:
    await place.blobs.keep("ada", b"a" * 600)
    with pytest.raises(TooLarge) as refused:
        await place.blobs.keep("ada", pieces(b"b" * 401), name="large.txt")
    assert (refused.value.code, refused.value.status) == ("storage_full", 413)
    for figure in ("600 bytes", "1 kB", "401 bytes", "limits.storage_gb"):
        assert figure in refused.value.message
    assert len(place.files()) == 1  # nothing is left of the one that was refused
    await place.blobs.keep("ada", b"c" * 400)


async def test_a_file_that_the_user_has_already_needs_no_room(place: Kept) -> None:
    await place.blobs.keep("ada", b"a" * 1000)
    await place.blobs.keep("ada", pieces(b"a" * 1000), name="again.txt")


async def test_a_file_of_several_users_counts_for_each(place: Kept) -> None:
    await place.blobs.keep("ada", b"a" * 1000)
    await place.blobs.keep("ben", b"a" * 1000)
    with pytest.raises(TooLarge):
        await place.blobs.keep("ben", b"b")


async def test_temporary_chats_have_a_quota_of_their_own(place: Kept) -> None:
    await place.blobs.keep("ada", b"a" * 1000)
    await place.blobs.keep("ada", b"b" * 100, temporary=True)
    with pytest.raises(TooLarge, match="temporary_mb"):
        await place.blobs.keep("ada", b"c", temporary=True)


async def test_files_that_arrive_together_do_not_pass_together(place: Kept) -> None:
    await place.blobs.keep("ada", b"z" * 500)
    kept_files = []

    async def keep(letter: bytes) -> None:
        with suppress(TooLarge):
            kept_files.append(await place.blobs.keep("ada", letter * 300))

    async with anyio.create_task_group() as tasks:
        for letter in (b"a", b"b", b"c"):
            tasks.start_soon(keep, letter)
    assert len(kept_files) <= 1
    await place.blobs.keep("ada", b"d" * 200)


async def test_uploads_that_are_still_arriving_do_not_fill_the_disk(place: Kept) -> None:
    go_on = anyio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield b"a" * 600
        await go_on.wait()
        yield b"a"

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(place.blobs.keep, "ada", slow())
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(Busy) as refused:
            await place.blobs.keep("ada", pieces(b"b" * 401))
        assert refused.value.code == "too_much_in_flight"
        await place.blobs.keep("ben", pieces(b"b" * 401))
        go_on.set()
    await place.blobs.keep("ada", pieces(b"b" * 399))


async def test_what_a_user_has_is_told(place: Kept) -> None:
    quota = StorageQuota(place.durable.blobs, place.temporary.blobs, limit=1000, temporary_limit=100)
    await place.blobs.keep("ada", b"a" * 600)
    await place.blobs.keep("ada", b"b" * 60, temporary=True)
    assert await quota.use("ada") == StorageUse(600, 1000, 60, 100)
    assert await quota.use("ben") == StorageUse(0, 1000, 0, 100)
