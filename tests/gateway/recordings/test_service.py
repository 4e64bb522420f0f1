"""The recordings of a server: who may make them, how many, and what becomes of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.support.store_fixtures import Clock, clock, memory
from tests.support.user_files import recording_folder

from duologue.config.sections.recordings import RecordingSettings
from duologue.errors import Forbidden, NotFound, TooLarge, Unavailable
from duologue.gateway.recordings.recording_files import ENTRIES, PEAKS, RecordingFiles
from duologue.gateway.recordings.service import DAY_MS, RecordingService
from duologue.store.database import Database
from duologue.store.sound.recordings import RecordingRows
from duologue.values import call_events
from duologue.values.recordings import StoredRecording

pytest.importorskip("av", reason="PyAV is not installed: calls are not recorded")

__all__ = ["clock", "memory"]
pytestmark = pytest.mark.anyio

Open = Callable[..., AbstractAsyncContextManager[RecordingService]]


@pytest.fixture
def rows(memory: Database, clock: Clock) -> RecordingRows:
    return RecordingRows(memory, clock)


@pytest.fixture
def opened(rows: RecordingRows, tmp_path: Path) -> Open:
    @asynccontextmanager
    async def opening(**settings: Any) -> AsyncIterator[RecordingService]:
        service = RecordingService(
            RecordingSettings(**settings),
            recording_folder(tmp_path),
            is_temporary=lambda conversation: conversation == "temp",
        )
        async with anyio.create_task_group() as tasks:
            await tasks.start(service.run, rows)
            yield service
            tasks.cancel_scope.cancel()

    return opening


async def a_recording(service: RecordingService, user: str = "anna") -> str:
    """One that has ended."""
    recorder = await service.start(user, "call", conversation="c1", marks=True)
    recorder.server_sent([call_events.UserSaid(0, 1, "About boats")])
    for _ in range(50):
        recorder.client_sent(call_events.MicrophoneAudio(bytes(640)))
    recorder.close()
    with anyio.fail_after(60):
        await recorder.written.wait()
    return recorder.id


async def test_a_recording_is_listed_with_what_it_is(opened: Open):
    async with opened() as service:
        id = await a_recording(service)
        [row] = await service.list("anna")
        assert (row.id, row.kind, row.title, row.conversation, row.ended) == (
            id,
            "call",
            "About boats",
            "c1",
            "ended",
        )
        assert (row.duration, row.size) == (1000, service.archive.local(id).size())
        assert len(id) == 32


async def test_nobody_else_has_it(opened: Open):
    async with opened() as service:
        id = await a_recording(service)
        assert await service.list("ben") == []
        with pytest.raises(NotFound):
            await service.get("ben", id)
        with pytest.raises(NotFound):
            await service.delete("ben", id)
        assert await service.list("anna")


async def test_of_a_chat_all_is_recorded_that_was_sent(opened: Open):
    async with opened() as service:
        recorder = await service.start("anna", "chat", marks=False, at_once=True)
        recorder.server_sent(
            [call_events.ReplyAudioStarted(0, 1), call_events.ReplyAudio(0, 1, bytes(96_000))]
        )
        recorder.close()
        with anyio.fail_after(60):
            await recorder.written.wait()
        assert recorder.duration >= 2000


async def test_a_deleted_recording_is_gone_with_its_files(opened: Open):
    async with opened() as service:
        id = await a_recording(service)
        await service.delete("anna", id)
        assert await service.list("anna") == []
        assert not service.archive.local(id).folder.exists()


async def test_one_that_runs_is_ended_and_deleted(opened: Open):
    ends: list[str] = []
    async with opened() as service:
        recorder = await service.start("anna", "call", marks=True, on_end=ends.append)
        await service.delete("anna", recorder.id)
        assert ends == ["stopped"]
    assert not service.archive.local(recorder.id).folder.exists()


async def test_the_operator_may_forbid_it(opened: Open):
    async with opened(enabled=False) as service:
        assert not service.allowed
        with pytest.raises(Forbidden, match=r"recordings\.enabled"):
            await service.start("anna", "call", marks=True)


async def test_a_temporary_chat_is_not_recorded(opened: Open):
    async with opened() as service:
        with pytest.raises(Forbidden, match="temporary"):
            await service.start("anna", "call", conversation="temp", marks=True)


async def test_at_its_limit_nothing_more_is_recorded_until_something_is_deleted(
    opened: Open, rows: RecordingRows
):
    async with opened(user_gb=1) as service:
        await rows.add(StoredRecording("big", "anna", "call", size=2**30, ended="ended"))
        with pytest.raises(TooLarge, match=r"1 GB.*recordings\.user_gb"):
            await service.start("anna", "call", marks=True)
        (await service.start("ben", "call", marks=True)).close()
        await service.delete("anna", "big")
        (await service.start("anna", "call", marks=True)).close()


async def test_everybody_together_has_a_limit_too(opened: Open, rows: RecordingRows):
    async with opened(user_gb=1, total_gb=1) as service:
        await rows.add(StoredRecording("big", "anna", "call", size=2**30, ended="ended"))
        with pytest.raises(TooLarge, match=r"recordings\.total_gb"):
            await service.start("ben", "call", marks=True)


async def test_a_recording_ends_where_its_owner_has_no_more_room(
    opened: Open, rows: RecordingRows, monkeypatch
):
    from duologue.gateway.recordings import service as module
    from duologue.gateway.recordings import writer

    monkeypatch.setattr(writer, "INTERVAL", 0.0)
    monkeypatch.setattr(module, "SAVE_EVERY", 1)
    ended = anyio.Event()
    async with opened(user_gb=1) as service:
        recorder = await service.start("anna", "call", marks=True, on_end=lambda reason: ended.set())
        recorder.server_sent([call_events.State(0, "listening")])
        await rows.add(StoredRecording("big", "anna", "call", size=2**30, ended="ended"))
        with anyio.fail_after(60):
            await ended.wait()
        assert recorder.ended == "full"


async def test_old_ones_are_deleted(opened: Open, rows: RecordingRows, clock: Clock):
    async with opened(keep_days=2) as service:
        old = await a_recording(service)
        clock.forward(DAY_MS)
        young = await a_recording(service)
        clock.forward(DAY_MS + 1)
        await service.remove_old()
        assert [row.id for row in await service.list("anna")] == [young]
        assert not service.archive.local(old).folder.exists()


async def test_what_the_end_of_the_server_cut_off_has_an_end_and_can_be_played(
    opened: Open, rows: RecordingRows, tmp_path: Path
):
    await rows.add(StoredRecording("lost", "anna", "call"))
    files = RecordingFiles(tmp_path / "lost")
    files.create()
    files.append(
        {
            PEAKS: bytes(2 * 60),
            ENTRIES: b'{"at":1,"type":"said","turn":1,"text":"About boats","typed":false}\n{"at":2,"ty',
        }
    )
    async with opened() as service:
        row = await service.get("anna", "lost")
        assert (row.ended, row.duration, row.title, row.size) == ("cut", 3000, "About boats", files.size())


async def test_files_that_belong_to_no_recording_are_removed(opened: Open, tmp_path: Path):
    RecordingFiles(tmp_path / "orphan").create()
    async with opened() as service:
        assert not service.archive.local("orphan").folder.exists()


async def test_before_the_server_has_started_nothing_is_recorded(tmp_path: Path):
    service = RecordingService(RecordingSettings(), recording_folder(tmp_path))
    with pytest.raises(Unavailable):
        await service.start("anna", "call", marks=True)
    with pytest.raises(Unavailable):
        await service.list("anna")
