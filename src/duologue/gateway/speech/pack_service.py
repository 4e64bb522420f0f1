"""The voice packs of a running server: downloaded, unpacked and put to use one at a time, with progress, without a restart.

`app` makes one. Owns the pack at work, what is said about it, and which pack is in use. A pack is remembered only once the
voice has been loaded with it. A pack that was not ready when the server ended is kept in a journal, and is resumed at the next start.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.abc
import msgspec
from msgspec import Struct

from duologue.config import Settings
from duologue.errors import Problem, Unavailable, Unsupported
from duologue.gateway.models.download_journal import PACKS_FILE, DownloadJournal, JournalEntry
from duologue.gateway.models.download_work import Work
from duologue.gateway.models.downloads import LOADS, DownloadError
from duologue.gateway.models.loader import ProbeHardware
from duologue.gateway.models.transfer_rate import TransferRate
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.voice_seats import NO_VOICE
from duologue.gateway.speech.pack_download import download_archive, missing_archives, unpack_archive
from duologue.gateway.speech.pack_rows import pack_files, pack_rows, packs_problem, settings_sentence
from duologue.gateway.speech.turn_end_download import download_turn_end
from duologue.gateway.speech.voice_switch import VoiceSwitch
from duologue.gateway.workers.load_specs import voice_load_spec
from duologue.http.event_log import EventLog, EventNumbers
from duologue.models import installed_packs
from duologue.models.fit import Hardware
from duologue.models.hub.resume import Stopped
from duologue.models.voice_packs import SpeechModelArchive, VoicePack, find_pack
from duologue.threads import ThreadLane, disk_io, hardware_io
from duologue.values.events import STOPPING

log = logging.getLogger(__name__)

UPDATE_EVERY = 0.25
"""Seconds between two updates of the progress."""
BUILT_IN = "built-in"
"""The name under which the engines of the settings are chosen again."""

State = Literal["downloading", "checking", "unpacking", "loading", "done", "failed", "stopped"]
OPEN = ("downloading", "checking", "unpacking", "loading")


class PackJob(Struct, frozen=True):
    """The pack at work, or the last one, as clients see it. Sizes in bytes, `rate` in bytes per second, `left` in seconds."""

    pack: str
    state: State
    total: int = 0
    done: int = 0
    rate: float = 0.0
    left: float | None = None
    error: DownloadError | None = None


class VoicePacks:
    """Everything about voice packs that may change while the server runs. `seats` None: the server has no voice."""

    def __init__(
        self,
        settings: Settings,
        seats: Pool | None,
        probe_hardware: ProbeHardware | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._data = settings.data
        self._probe_hardware = probe_hardware
        self._clock = clock
        self._switch = None if seats is None else VoiceSwitch(seats)
        self._lane = ThreadLane(1)
        self._tasks: anyio.abc.TaskGroup | None = None
        self._work: Work | None = None
        self._job: PackJob | None = None
        self._journal: DownloadJournal | None = DownloadJournal(self._data / PACKS_FILE)
        self._scope: anyio.CancelScope | None = None
        self.events: EventLog[Mapping[str, object]] = EventLog(
            EventNumbers(time.time_ns() // 1_000_000), reset=({"type": "packs"},)
        )

    # ---- views

    async def view(self) -> dict[str, Any]:
        """The packs, which is in use, and the one at work."""
        files = await disk_io(pack_files, self._data)
        chosen = await disk_io(installed_packs.chosen_pack, self._data)
        name = BUILT_IN if chosen is None else chosen.name
        problem = self._problem()
        return {
            "packs": pack_rows(files, name, await self._hardware()),
            "active": name,
            "settings": settings_sentence(self._settings.voice),
            "problem": None if problem is None else {"code": problem.code, "message": problem.message},
            "job": None if self._job is None else msgspec.to_builtins(self._job),
        }

    def _problem(self) -> Problem | None:
        """Why no pack can be used."""
        if self._switch is None:
            return Unsupported(NO_VOICE, code="voice_unavailable")
        return packs_problem(self._settings.voice)

    async def _hardware(self) -> Hardware | None:
        if self._probe_hardware is None:
            return None
        return (await hardware_io(self._probe_hardware, installed_packs.models_folder(self._data), ()))[0]

    # ---- commands

    def use(self, name: str) -> PackJob:
        """Download a pack if it is not there, and use it. Gives the job, which goes on by itself.

        Raises NotFound, Problem 409 `pack_running` and `pack_not_used`, Unsupported without a voice or its library, Unavailable.
        """
        return self._begin(name)

    def _begin(self, name: str, loads: int = 0) -> PackJob:
        """`loads`: how often loading the pack has begun at earlier starts of the server."""
        tasks, switch = self._running()
        if self._job is not None and self._job.state in OPEN:
            if self._job.pack == name:
                return self._job
            raise Problem(
                f"The voice pack {self._job.pack} is being installed. Wait until it is, or stop it.",
                code="pack_running",
                status=409,
            )
        pack = None if name == BUILT_IN else find_pack(name)
        problem = self._problem()
        if problem is not None and (pack is not None or problem.code != "engine_missing"):
            raise problem
        self._work = Work(name, name)
        self._publish(
            PackJob(name, "loading" if pack is None else "downloading", 0 if pack is None else pack.size)
        )
        tasks.start_soon(self._run, pack, switch, self._work, loads)
        assert self._job is not None
        return self._job

    async def stop(self) -> None:
        """Stop the pack at work; what was downloaded stays, and the next try resumes there."""
        if self._work is not None:
            self._work.stop()
        if self._scope is not None:
            self._scope.cancel()

    async def remove(self, name: str) -> int:
        """Delete the models of a pack, and what was downloaded of it: the bytes that were freed. One that is being installed is
        stopped instead, the change to the built-in engines too.

        Raises NotFound, Problem 409 `pack_in_use`.
        """
        job = self._job if self._job is not None and self._job.state in OPEN else None
        if job is not None and job.pack == name:
            await self.stop()
            return 0
        pack = find_pack(name)
        chosen = await disk_io(installed_packs.chosen_pack, self._data)
        if chosen == pack:
            raise Problem(
                f"The voice pack {name} is in use. Choose another one, or {BUILT_IN}, first.",
                code="pack_in_use",
                status=409,
            )
        needed = find_pack(job.pack).archives if job is not None and job.pack != BUILT_IN else ()
        keep = frozenset(archive.name for archive in needed)
        freed = await disk_io(installed_packs.remove_pack, pack, self._data, keep)
        self.events.publish({"type": "packs"})
        return freed

    # ---- the life of the service

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run installations until cancelled."""
        async with anyio.create_task_group() as tasks:
            if self._switch is not None:
                await tasks.start(self._switch.run)
            self._tasks = tasks
            task_status.started()
            await self._resume()
            await anyio.sleep_forever()

    async def _resume(self) -> None:
        """Go on with the pack that was not ready when the server ended."""
        for entry in await self._journal.read() if self._journal is not None else []:
            try:
                self._begin(entry.what, entry.loads)
            except Problem as problem:
                log.warning("the voice pack %s is not resumed: %s", entry.what, problem.message)
                await self._note(None)

    async def _note(self, pack: VoicePack | None, loads: int = 0) -> None:
        """Write the pack at work into the journal; None: there is none."""
        if self._journal is not None:
            await self._journal.write([] if pack is None else [JournalEntry(pack.name, True, loads=loads)])

    def pool_changed(self) -> None:
        """The status of a voice worker changed."""
        if self._switch is not None:
            self._switch.pool_changed()

    def close(self) -> None:
        """The server shuts down: end what is running. The journal stays as it is."""
        self._tasks, self._journal = None, None
        if self._work is not None:
            self._work.stop()
        self.events.close()

    def _running(self) -> tuple[anyio.abc.TaskGroup, VoiceSwitch]:
        if self._switch is None:
            raise Unsupported(NO_VOICE, code="voice_unavailable")
        if self._tasks is None:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
        return self._tasks, self._switch

    # ---- one pack

    async def _run(self, pack: VoicePack | None, switch: VoiceSwitch, work: Work, loads: int) -> None:
        """Install a pack and use it. Whatever goes wrong becomes the job's error."""
        name = BUILT_IN if pack is None else pack.name
        with anyio.CancelScope() as self._scope:
            try:
                if pack is not None:
                    await self._note(pack, loads)
                    await self._install(pack, work)
                    await self._note(pack, loads + 1)
                await self._load(pack, switch, loads)
            except Stopped:
                self._end(name, "stopped")
            except Problem as problem:
                log.warning("the voice pack %s could not be used: %s", name, problem.message)
                self._end(name, "failed", DownloadError.of(problem))
            except Exception:
                log.exception("the voice pack %s could not be used", name)
                self._end(
                    name,
                    "failed",
                    DownloadError(
                        Problem.code, "An error inside the server ended this. Its log has the details."
                    ),
                )
            else:
                self._end(name, "done")
        if self._scope.cancelled_caught:
            self._end(name, "stopped")
        await self._note(None)

    async def _install(self, pack: VoicePack, work: Work) -> None:
        missing = missing_archives(pack, self._data)
        work.total = sum(archive.size for archive in missing)
        for archive in missing:
            path = await self._fetch(pack, archive, work)
            self._publish(PackJob(pack.name, "unpacking", work.total, work.done))
            await unpack_archive(path, archive, self._data)
        if not self._settings.voice.turn_end.brought_by_packs:
            return
        try:
            await self._lane.run(self._download_turn_end, pack, work)
        except Problem as problem:
            log.warning("the turns of calls end by their words alone: %s", problem.message)

    def _download_turn_end(self, pack: VoicePack, work: Work) -> None:
        """The one part that a pack works without. Raises Problem, and Stopped."""
        if pack.turn_end is None or installed_packs.turn_end_file(pack, self._data) is not None:
            return
        from duologue.models.hub import http

        with http.connect(sleep=work.pause, notice=log.info) as connection:
            work.uses(connection)
            download_turn_end(connection, pack.turn_end, self._data, work)

    async def _fetch(self, pack: VoicePack, archive: SpeechModelArchive, work: Work) -> Path:
        """Download one archive in a thread, with its progress. Raises Problem, and Stopped."""
        path: Path | None = None
        # Kept and raised outside of the task group, which would wrap it.
        failure: Exception | None = None
        arrived = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, pack, work, arrived)
            try:
                path = await self._lane.run(self._download, archive, work)
            except Exception as error:  # noqa: BLE001 (raised below)
                failure = error
            arrived.set()
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure
        assert path is not None
        return path

    def _download(self, archive: SpeechModelArchive, work: Work) -> Path:
        # Imported by the first download, so that the server starts without loading an HTTP client.
        from duologue.models.hub import http

        with http.connect(sleep=work.pause, notice=log.info) as connection:
            work.uses(connection)
            return download_archive(
                connection, archive, self._data, work, releases=self._settings.voice.packs_url
            )

    async def _watch(self, pack: VoicePack, work: Work, arrived: anyio.Event) -> None:
        """Publish the progress. Ends with the download, or earlier when it is stopped; the thread must then stop too."""
        rate = TransferRate(work.done, self._clock())
        try:
            while True:
                await anyio.sleep(UPDATE_EVERY)
                at = self._clock()
                rate.update(work.done, at)
                left = rate.left(work.total, at)
                self._publish(
                    PackJob(
                        pack.name,
                        "checking" if work.checking else "downloading",
                        work.total,
                        work.done,
                        round(rate.rate(at)),
                        None if left is None else round(left, 1),
                    )
                )
        finally:
            if not arrived.is_set():
                work.stop()

    async def _load(self, pack: VoicePack | None, switch: VoiceSwitch, loads: int) -> None:
        """Have the voice loaded with the pack, and remember it."""
        name = BUILT_IN if pack is None else pack.name
        if loads >= LOADS:
            raise Problem(
                f"The server was stopped {loads} times while it loaded the voice pack {name}. It may need more memory "
                "than there is.",
                code="load_failed",
            )
        self._publish(PackJob(name, "loading"))
        load_spec = voice_load_spec(self._settings, pack)
        if load_spec is None:
            raise Unsupported(NO_VOICE, code="voice_unavailable")
        await switch.switch(load_spec)
        await disk_io(installed_packs.choose_pack, self._data, "" if pack is None else pack.name)

    def _end(self, name: str, state: State, error: DownloadError | None = None) -> None:
        before = self._job
        self._publish(
            PackJob(name, state, before.total if before else 0, before.done if before else 0, error=error)
        )
        self.events.publish({"type": "packs"})

    def _publish(self, job: PackJob) -> None:
        if job != self._job:
            self._job = job
            self.events.publish({"type": "pack", "job": msgspec.to_builtins(job)})
