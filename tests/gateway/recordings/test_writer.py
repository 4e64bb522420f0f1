"""A recording on its way to the disk: written as it goes, ended with a reason where the disk gives out."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from duologue.gateway.recordings import writer as module
from duologue.gateway.recordings.recorder import Recorder
from duologue.gateway.recordings.recording_document import entries_of
from duologue.gateway.recordings.recording_files import ENTRIES, FRAMES, PEAKS, SOUND, RecordingFiles
from duologue.gateway.recordings.writer import RecordingWriter
from duologue.values import call_events
from duologue.values.messages import ImagePart

pytest.importorskip("av", reason="PyAV is not installed: calls are not recorded")

pytestmark = pytest.mark.anyio


async def on(size: int) -> str:
    return ""


class Recording:
    def __init__(self, folder: Path, *, progress=on) -> None:
        self.files = RecordingFiles(folder / "r1")
        self.files.create()
        self.at = 0.0
        self.ends: list[str] = []
        self.recorder = Recorder("r1", marks=True, now=lambda: self.at, on_end=self.ends.append, at_once=True)
        self.writer = RecordingWriter(self.recorder, self.files, progress)

    def speak(self, seconds: int, value: int = 5000) -> None:
        frame = value.to_bytes(2, "little") * 320
        for _ in range(50 * seconds):
            self.at += 0.02
            self.recorder.client_sent(call_events.MicrophoneAudio(frame))


async def test_everything_is_in_its_file(tmp_path):
    recording = Recording(tmp_path)
    recording.speak(2)
    recording.recorder.saw(ImagePart(b"picture"))
    recording.recorder.server_sent([call_events.UserSaid(0, 1, "Hello")])
    recording.speak(2)
    recording.recorder.close()
    assert await recording.writer.run() == "ended"
    files = recording.files
    assert [entry["type"] for entry in entries_of(files.read(ENTRIES))] == ["frame", "said"]
    assert (files.read(FRAMES), len(files.read(PEAKS)), files.duration()) == (b"picture", 160, 4000)
    assert files.read(SOUND).startswith(b"OggS")
    assert recording.writer.size == files.size()


async def test_it_is_written_while_it_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "INTERVAL", 0.0)
    written = anyio.Event()

    async def progress(size: int) -> str:
        if size:
            written.set()
        return ""

    recording = Recording(tmp_path, progress=progress)
    recording.speak(10)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recording.writer.run)
        with anyio.fail_after(60):
            await written.wait()
        assert recording.files.duration() >= 6900
        recording.recorder.close()


async def test_there_may_be_no_more_room_for_it(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "INTERVAL", 0.0)

    async def full(size: int) -> str:
        return "full"

    recording = Recording(tmp_path, progress=full)
    recording.speak(10)
    assert await recording.writer.run() == "full"
    assert recording.ends == ["full"]
    assert recording.files.duration() == 10_000


async def test_the_end_of_the_server_is_waited_for(tmp_path):
    recording = Recording(tmp_path)
    recording.speak(5)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recording.writer.run)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert recording.files.duration() == 5000
    assert recording.recorder.ended == "ended"


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this user may not mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


async def test_a_full_disk_ends_the_recording_which_stays_readable(small_disk, monkeypatch):
    monkeypatch.setattr(module, "INTERVAL", 0.0)
    recording = Recording(small_disk)
    recording.speak(4)
    recording.recorder.server_sent([call_events.UserSaid(0, 1, "Hello")])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recording.writer.run)
        with anyio.fail_after(60):
            while not recording.files.size():
                await anyio.lowlevel.checkpoint()
        recording.recorder.saw(ImagePart(bytes(100_000)))
    assert recording.ends == ["disk_full"]
    assert recording.recorder.ended == "disk_full"
    assert [entry["type"] for entry in entries_of(recording.files.read(ENTRIES))] == ["said"]
    assert recording.files.read(FRAMES) == b""
    assert recording.files.read(SOUND).startswith(b"OggS")


async def test_whatever_else_fails_ends_it_too(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "INTERVAL", 0.0)

    def broken(*args: object) -> None:
        raise ValueError("no codec")

    monkeypatch.setattr(module, "CallSoundEncoder", broken)
    recording = Recording(tmp_path)
    recording.speak(5)
    assert await recording.writer.run() == "failed"
    assert recording.ends == ["failed"]
