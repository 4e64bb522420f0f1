"""Uploads in pieces: they go on where they broke off, end as ordinary files, and do not stay for ever."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from msgspec import Struct
from tests.support.kept_files import LIMIT, Kept, kept
from tests.support.sample_files import drawing, encoded

from duologue.conversations.files.partial_uploads import (
    ABANDONED_MS,
    IDLE_MS,
    UPLOADS_PER_USER,
    PartialUploads,
)
from duologue.conversations.files.quota import StorageQuota
from duologue.conversations.files.upload_pieces import FolderPieces
from duologue.errors import BadRequest, Busy, NotFound, Problem, TooLarge, Unavailable

pytestmark = pytest.mark.anyio

DATA = b"It rains. " * 100
ROOM = 50_000
"""Bytes of one user's files."""


class Bench(Struct):
    place: Kept
    folder: Path
    uploads: PartialUploads

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir()) if self.folder.is_dir() else []

    async def restarted(self) -> PartialUploads:
        """Those of a server that was killed and started again."""
        uploads = _uploads(self.place, self.folder)
        await uploads.load()
        return uploads


def _uploads(place: Kept, folder: Path) -> PartialUploads:
    quota = StorageQuota(place.durable.blobs, place.temporary.blobs, limit=ROOM, temporary_limit=ROOM)
    return PartialUploads(FolderPieces(folder), place.blobs, quota, limit=LIMIT, now=place.clock)


@pytest.fixture
async def bench(tmp_path: Path, anyio_backend: str) -> AsyncIterator[Bench]:
    async with kept(tmp_path / "blobs", quota=(ROOM, ROOM)) as place:
        yield Bench(place, tmp_path / "uploads", _uploads(place, tmp_path / "uploads"))


async def test_the_last_piece_makes_a_file_like_any_other(bench: Bench) -> None:
    picture = encoded(drawing())
    upload = await bench.uploads.begin("ada", "cat.png", "image/png", len(picture))
    assert await bench.uploads.add("ada", upload.id, 0, picture[:100]) is None
    blob = await bench.uploads.add("ada", upload.id, 100, picture[100:])
    assert blob is not None
    assert blob == await bench.place.blobs.keep("ada", picture, name="cat.png", mime="image/png")
    assert (blob.mime, blob.width) == ("image/png", 64)
    assert bench.names() == [f"{upload.id}.json"], "its bytes are only in the storage now"


async def test_a_piece_elsewhere_is_refused_with_the_place_to_go_on(bench: Bench) -> None:
    upload = await bench.uploads.begin("ada", "", "", len(DATA))
    await bench.uploads.add("ada", upload.id, 0, DATA[:10])
    for offset in (0, 9, 11):
        with pytest.raises(BadRequest) as refused:
            await bench.uploads.add("ada", upload.id, offset, DATA[10:20])
        assert (refused.value.code, refused.value.status) == ("upload_offset", 409)
        assert refused.value.values == {"offset": 10}
    blob = await bench.uploads.add("ada", upload.id, 10, DATA[10:])
    assert blob is not None
    assert await bench.place.blobs.read(blob.hash) == DATA


async def test_the_answer_of_a_complete_upload_can_be_asked_for_again_after_a_restart_too(
    bench: Bench,
) -> None:
    upload = await bench.uploads.begin("ada", "", "", len(DATA))
    blob = await bench.uploads.add("ada", upload.id, 0, DATA)
    assert blob is not None
    again = await bench.uploads.add("ada", upload.id, len(DATA), b"")
    assert again is not None
    later = await (await bench.restarted()).add("ada", upload.id, len(DATA), b"")
    assert later is not None
    assert blob.hash == again.hash == later.hash


async def test_two_requests_that_both_bring_the_end_store_one_file(bench: Bench) -> None:
    upload = await bench.uploads.begin("ada", "", "", len(DATA))
    hashes = []

    async def end() -> None:
        blob = await bench.uploads.add("ada", upload.id, 0, DATA)
        assert blob is not None
        hashes.append(blob.hash)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(end)
        tasks.start_soon(end)
    assert len(set(hashes)) == 1
    assert len(bench.place.files()) == 1


async def test_it_goes_on_after_a_restart(bench: Bench) -> None:
    upload = await bench.uploads.begin("ada", "notes.txt", "text/plain", len(DATA))
    await bench.uploads.add("ada", upload.id, 0, DATA[:300])
    (bench.folder / "stray.part").write_bytes(b"x")
    (bench.folder / "broken.json").write_bytes(b"{")
    (bench.folder / f"{upload.id}.new").write_bytes(b"{")
    after = await bench.restarted()
    assert bench.names() == [f"{upload.id}.json", f"{upload.id}.part"]
    found = await after.get("ada", upload.id)
    assert (found.offset, found.size, found.name) == (300, len(DATA), "notes.txt")
    blob = await after.add("ada", upload.id, 300, DATA[300:])
    assert blob is not None
    assert await bench.place.blobs.read(blob.hash) == DATA


async def test_it_is_nobody_else_s(bench: Bench) -> None:
    upload = await bench.uploads.begin("ada", "", "", len(DATA))
    for act in (
        lambda: bench.uploads.add("ben", upload.id, 0, DATA),
        lambda: bench.uploads.drop("ben", upload.id),
        lambda: bench.uploads.add("ada", "../../etc/passwd", 0, DATA),
    ):
        with pytest.raises(NotFound) as refused:
            await act()
        assert refused.value.code == "upload_not_found"
    assert (await bench.uploads.get("ada", upload.id)).offset == 0


async def test_what_is_too_large_is_refused_at_once(bench: Bench) -> None:
    with pytest.raises(TooLarge, match=r"limits\.blob_mb"):
        await bench.uploads.begin("ada", "", "", LIMIT + 1)
    with pytest.raises(TooLarge) as refused:
        await bench.uploads.begin("ada", "", "", ROOM + 1)
    assert refused.value.code == "storage_full"
    assert bench.names() == []
    upload = await bench.uploads.begin("ada", "", "", 10)
    with pytest.raises(TooLarge, match="10 bytes"):
        await bench.uploads.add("ada", upload.id, 0, DATA)
    assert (await bench.uploads.get("ada", upload.id)).offset == 0


async def test_a_file_that_does_not_fit_into_the_storage_leaves_nothing(bench: Bench) -> None:
    await bench.place.blobs.keep("ada", b"z" * (ROOM - 10))
    upload = await bench.uploads.begin("ada", "", "", len(DATA))
    with pytest.raises(TooLarge) as refused:
        await bench.uploads.add("ada", upload.id, 0, DATA)
    assert refused.value.code == "storage_full"
    assert bench.names() == []


async def test_a_passing_problem_at_the_end_loses_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(*_: object, **__: object) -> None:
        raise Busy("Too many files are being read.", code="files_busy")

    upload = await bench.uploads.begin("ada", "", "", len(DATA))
    with monkeypatch.context() as patched:
        patched.setattr(bench.place.blobs, "keep", busy)
        with pytest.raises(Busy):
            await bench.uploads.add("ada", upload.id, 0, DATA)
    assert await bench.uploads.add("ada", upload.id, len(DATA), b"") is not None


async def test_one_that_nobody_goes_on_with_is_removed(bench: Bench) -> None:
    left = await bench.uploads.begin("ada", "", "", len(DATA))
    await bench.uploads.add("ada", left.id, 0, DATA[:10])
    bench.place.clock.at += IDLE_MS // 2
    used = await bench.uploads.begin("ada", "", "", len(DATA))
    bench.place.clock.at += IDLE_MS // 2 + 1000
    with pytest.raises(NotFound):
        await bench.uploads.get("ada", left.id)
    assert (await (await bench.restarted()).get("ada", used.id)).size == len(DATA)
    assert bench.names() == [f"{used.id}.json", f"{used.id}.part"], "a start removes it too"
    assert await bench.uploads.collect() == 1
    await bench.uploads.drop("ada", used.id)
    assert bench.names() == []


async def test_uploads_of_a_user_are_counted_and_the_abandoned_ones_make_room(bench: Bench) -> None:
    first = await bench.uploads.begin("ada", "", "", 1)
    for _ in range(UPLOADS_PER_USER - 1):
        await bench.uploads.begin("ada", "", "", 1)
    with pytest.raises(Busy) as refused:
        await bench.uploads.begin("ada", "", "", 1)
    assert (refused.value.code, refused.value.status) == ("too_many_uploads", 429)
    await bench.uploads.begin("ben", "", "", 1)
    assert len(bench.names()) == 2 * (UPLOADS_PER_USER + 1)
    bench.place.clock.at += ABANDONED_MS + 1000
    await bench.uploads.begin("ada", "", "", 1)
    with pytest.raises(NotFound):
        await bench.uploads.get("ada", first.id)


async def test_unfinished_uploads_do_not_fill_the_disk(bench: Bench) -> None:
    await bench.uploads.begin("ada", "", "", ROOM - 100)
    with pytest.raises(Busy) as refused:
        await bench.uploads.begin("ada", "", "", 101)
    assert refused.value.code == "too_much_in_flight"
    await bench.uploads.begin("ada", "", "", 100)
    bench.place.clock.at += ABANDONED_MS + 1000
    await bench.uploads.begin("ada", "", "", ROOM)
    assert len(bench.names()) == 2


async def test_a_disk_that_cannot_be_written_says_so(bench: Bench) -> None:
    bench.folder.write_text("in the way")
    with pytest.raises(Unavailable) as refused:
        await bench.uploads.begin("ada", "", "", 1)
    assert refused.value.code == "storage_unavailable"
    bench.folder.unlink()
    upload = await bench.uploads.begin("ada", "", "", 2)
    (bench.folder / f"{upload.id}.part").unlink()
    with pytest.raises(Problem) as gone:
        await bench.uploads.add("ada", upload.id, 0, b"a")
    assert gone.value.code == "upload_not_found"
