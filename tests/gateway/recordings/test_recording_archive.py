"""Recordings of gateways that share their files: written here while they run, kept where all find them afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.file_stores import storages

from duologue.errors import Unavailable
from duologue.gateway.recordings.recording_archive import RecordingArchive
from duologue.gateway.recordings.recording_files import ENTRIES, SOUND
from duologue.storage.opening import recording_store

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["shared", "s3"])
def two(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[RecordingArchive, RecordingArchive]]:
    with storages(request.param, tmp_path, gateways=2) as both:
        here, there = (
            RecordingArchive(tmp_path / f"recordings-{number}", recording_store(storage))
            for number, storage in enumerate(both)
        )
        yield here, there


def recorded(archive: RecordingArchive, id: str) -> None:
    files = archive.local(id)
    files.create()
    files.append({SOUND: b"OggS and sound", ENTRIES: b'{"type":"said"}\n'})


async def test_one_that_has_ended_is_found_at_every_gateway(
    two: tuple[RecordingArchive, RecordingArchive],
) -> None:
    here, there = two
    recorded(here, "one")
    assert await here.read("one", SOUND, 0, 4) == b"OggS"
    assert await there.read("one", SOUND) == b"", "it runs at the other gateway"
    await here.settle(["one"])
    assert await here.here() == []
    for archive in two:
        assert await archive.read("one", SOUND, 5, 3) == b"and"
        assert (await archive.sound("one")).read_bytes() == b"OggS and sound"
        assert await archive.read("one", "frames.bin") == b""
    await there.delete("one")
    assert await here.read("one", ENTRIES) == b""


async def test_one_that_cannot_be_kept_stays_here_and_is_kept_later(
    two: tuple[RecordingArchive, RecordingArchive], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = two
    recorded(here, "one")

    async def refused(name: str, file: Path) -> None:
        raise Unavailable("The server does not answer.")

    with monkeypatch.context() as patched:
        patched.setattr(here._files, "put", refused)
        await here.settle(["one"])
    assert await here.here() == ["one"]
    assert await here.read("one", SOUND) == b"OggS and sound"
    await here.settle(["one"])
    assert await there.read("one", SOUND) == b"OggS and sound"
