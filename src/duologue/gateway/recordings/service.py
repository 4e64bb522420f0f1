"""The recordings of this server: begun, written, listed, deleted, and removed when they are old.

Owns who may record, how much, and what becomes of recordings that the end of the server cut off. Calls reach it through
`gateway/calls/observer`; the routes are in `recording_routes`.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
import anyio.abc
from msgspec.structs import replace

from duologue.config.sections.recordings import RecordingSettings
from duologue.errors import Forbidden, Problem, TooLarge, Unavailable, Unsupported
from duologue.gateway.recordings.recorder import Recorder
from duologue.gateway.recordings.recording_archive import RecordingArchive
from duologue.gateway.recordings.recording_document import entries_of
from duologue.gateway.recordings.recording_files import ENTRIES, RecordingFiles
from duologue.gateway.recordings.writer import RecordingWriter
from duologue.values.recordings import RecordingEnd, RecordingKind, StoredRecording

if TYPE_CHECKING:
    from duologue.store.sound.recordings import RecordingRows
from duologue.media import call_sound
from duologue.threads import disk_io

if TYPE_CHECKING:
    from duologue.store.sound.recordings import RecordingRows

log = logging.getLogger(__name__)

GIGABYTE = 2**30
DAY_MS = 24 * 3_600_000
ROUND_S = 600.0
"""Seconds between two rounds of the retention."""
SAVE_EVERY = 10
"""Pieces between two updates of the row."""


class RecordingService:
    """`run` serves until cancelled; before that nothing can be recorded."""

    def __init__(
        self,
        settings: RecordingSettings,
        archive: RecordingArchive,
        *,
        is_temporary: Callable[[str], bool] = lambda conversation: False,
        now: Callable[[], float] = anyio.current_time,
    ) -> None:
        self._settings, self.archive = settings, archive
        self._is_temporary, self._now = is_temporary, now
        self._rows: RecordingRows | None = None
        self._tasks: anyio.abc.TaskGroup | None = None
        self._running: dict[str, tuple[StoredRecording, Recorder]] = {}

    @property
    def allowed(self) -> bool:
        """Whether this server can record."""
        return self._settings.enabled and call_sound.available()

    @property
    def keep_days(self) -> float:
        return self._settings.keep_days

    @property
    def user_bytes(self) -> int:
        """The most that a user's recordings may take."""
        return round(self._settings.user_gb * GIGABYTE)

    @property
    def rows(self) -> RecordingRows:
        if self._rows is None:
            raise Unavailable("The server is starting. Try again in a moment.")
        return self._rows

    async def run(
        self, rows: RecordingRows, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Serve until cancelled; recordings that run then are ended."""
        self._rows = rows
        await self._recover()
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            task_status.started()
            while True:
                await self.remove_old()
                await self._settle()
                await anyio.sleep(ROUND_S)

    # ---- recording

    async def start(
        self,
        user: str,
        kind: RecordingKind,
        *,
        conversation: str = "",
        marks: bool,
        at_once: bool = False,
        on_end: Callable[[str], None] = lambda reason: None,
    ) -> Recorder:
        """Begin a recording, `at_once` or with the first thing the server sends. `on_end` is told if it ends before its call. Raises Problem where it may not or cannot be."""
        self._check(conversation)
        if full := await self._full(user):
            raise TooLarge(
                f"The recordings take {full[0]:g} GB, the most allowed (setting {full[1]}). Delete some first.",
                code="recordings_full",
            )
        # Nobody guesses 24 random bytes, and the id is no key either: the owner is checked all the same.
        row = await self.rows.add(
            StoredRecording(secrets.token_urlsafe(24), user, kind, conversation=conversation)
        )
        files = self.archive.local(row.id)
        recorder = Recorder(
            row.id, marks=marks, now=self._now, on_end=on_end, at_once=at_once, chat=kind == "chat"
        )
        # Before its folder is there: a folder of none that runs is taken for one that was left behind.
        self._running[row.id] = (row, recorder)
        try:
            await disk_io(files.create)
        except OSError as error:
            del self._running[row.id]
            await self.rows.delete(row.id)
            raise Unavailable(
                f"The folder of the recordings cannot be written: {error.strerror or error}.",
                code="storage_unavailable",
            ) from None
        assert self._tasks is not None
        self._tasks.start_soon(self._write, row, recorder, files)
        return recorder

    def _check(self, conversation: str) -> None:
        if not self._settings.enabled:
            raise Forbidden(
                "Recording is switched off on this server (setting recordings.enabled).",
                code="recording_forbidden",
            )
        if conversation and self._is_temporary(conversation):
            raise Forbidden(
                "A temporary chat keeps nothing, so its calls are not recorded.", code="recording_forbidden"
            )
        if not call_sound.available():
            raise Unsupported(
                "Recording needs one more package on the server: pip install 'duologue[voice]'.",
                code="recording_unavailable",
            )
        if self._tasks is None:
            raise Unavailable("The server is starting. Try again in a moment.")

    async def _full(self, user: str) -> tuple[float, str] | None:
        """The limit that is reached, in gigabytes, and its setting; None while there is room."""
        for used, most, setting in (
            (await self.rows.usage(user), self._settings.user_gb, "recordings.user_gb"),
            (await self.rows.usage(), self._settings.total_gb, "recordings.total_gb"),
        ):
            if used >= most * GIGABYTE:
                return most, setting
        return None

    async def _write(self, row: StoredRecording, recorder: Recorder, files: RecordingFiles) -> None:
        rounds = 0

        async def progress(size: int) -> RecordingEnd:
            nonlocal rounds
            rounds += 1
            if rounds % SAVE_EVERY:
                return ""
            await self._save(row, recorder, size)
            try:
                return "full" if await self._full(row.user) else ""
            except Problem:
                return ""

        writer = RecordingWriter(recorder, files, progress)
        try:
            await writer.run()
        finally:
            self._running.pop(row.id, None)
            with anyio.CancelScope(shield=True):
                await self._save(row, recorder, writer.size)
            recorder.written.set()
        await self.archive.settle([row.id])

    async def _save(self, row: StoredRecording, recorder: Recorder, size: int) -> None:
        """A database that does not answer is no reason to lose the recording: its files tell the rest."""
        try:
            await self.rows.save(
                replace(
                    row,
                    title=recorder.title,
                    duration=recorder.duration,
                    size=size,
                    frames=recorder.frames,
                    ended=recorder.ended,
                )
            )
        except Problem as problem:
            log.warning("recording %s is not up to date: %s", row.id, problem.message)

    # ---- what there is

    async def list(self, user: str) -> list[StoredRecording]:
        """This user's, the newest first."""
        return await self.rows.of(user)

    async def get(self, user: str, id: str) -> StoredRecording:
        """Raises NotFound, also for another user's."""
        return await self.rows.get(user, id)

    async def delete(self, user: str, id: str) -> None:
        """Delete a recording with its files; one that runs is ended. Raises NotFound, Unavailable."""
        row = await self.rows.get(user, id)
        if row.id in self._running:
            self._running[row.id][1].stop("stopped")
        await self._remove(row.id)

    async def _remove(self, id: str) -> None:
        await self.rows.delete(id)
        await self.archive.delete(id)

    # ---- what becomes of them

    async def remove_old(self) -> None:
        """Delete what is older than the settings allow. Failures are logged and tried again in the next round."""
        try:
            for row in await self.rows.expired(round(self._settings.keep_days * DAY_MS)):
                await self._remove(row.id)
                log.info("recording %s was deleted after %g days", row.id, self._settings.keep_days)
        except Problem as problem:
            log.warning("a round over the recordings was put off: %s", problem.message)

    async def _settle(self) -> None:
        """Keep those that ended while that could not be done, and remove files that no row names any more."""
        try:
            # Listed before the rows are read: a recording may just begin.
            here = [id for id in await self.archive.here() if id not in self._running]
            known = await self.rows.ids()
        except (Problem, OSError) as error:
            log.warning("the folder of recordings was not looked through: %s", error)
            return
        for id in here:
            if id not in known:
                await self.archive.delete(id)
        await self.archive.settle([id for id in here if id in known])

    async def _recover(self) -> None:
        """Recordings that the end of the server cut off have an end now; files that no row names are removed."""
        try:
            here = set(await self.archive.here())
            for row in await self.rows.running():
                if self.archive.is_shared and row.id not in here:
                    continue  # it runs at another gateway
                files = self.archive.local(row.id)
                entries = entries_of(await disk_io(files.read, ENTRIES))
                await self.rows.save(
                    replace(
                        row,
                        title=row.title or _first_words(entries),
                        duration=await disk_io(files.duration),
                        size=await disk_io(files.size),
                        frames=sum(entry["type"] == "frame" for entry in entries),
                        ended="cut",
                    )
                )
        except (Problem, OSError) as error:
            log.warning("the recordings of the last run were not looked at: %s", error)
        await self._settle()


def _first_words(entries: list[dict[str, object]]) -> str:
    said = next((str(entry["text"]) for entry in entries if entry["type"] == "said"), "")
    return " ".join(said.split())[:80]
