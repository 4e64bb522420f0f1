"""Clips that people have made of avatars: each is drawn in a seat of the voice worker and kept as a file for an hour.

Owns who may have how many, the files in `clips` of the data folder, and their end. They do not outlive the server. Used by `clip_routes`.
"""

from __future__ import annotations

import logging
import secrets
import shutil
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import anyio
from anyio.abc import TaskGroup, TaskStatus

from duologue import caller
from duologue.errors import Busy, EngineFailed, NotFound, Problem, TooLarge, Unavailable
from duologue.gateway.avatars.clip_job import ClipJob
from duologue.gateway.avatars.library import AvatarLibrary
from duologue.gateway.speech.service import SpeechService
from duologue.threads import disk_cleanup, disk_io
from duologue.values.avatars import AvatarSource, ClipRequest
from duologue.values.call_events import ClipProgress
from duologue.values.speech import SpeechRequest
from duologue.wire.validation_errors import shortened

log = logging.getLogger(__name__)

KEPT_S = 3600.0
"""Seconds that a clip is kept after it was asked for."""
KEPT = 20
"""Clips of one user; a further one replaces the oldest that has ended."""
RUNNING = 4
"""Clips of one user that wait or are being made."""
LARGEST = 256 * 2**20
"""Bytes of one clip, more than ten minutes take."""
TOTAL = 4 * 2**30
"""Bytes of all clips; a further one replaces the oldest."""
SWEEP_S = 60.0
ID_BYTES = 16
PRIVATE = 0o700


class ClipService:
    """`folder`: where the files are; whatever lies in it at the start is removed. `allowed`: a context for the work of a user, begun with
    a key, that ends it with AccessRevoked once it may not go on."""

    def __init__(
        self,
        speech: SpeechService,
        avatars: AvatarLibrary,
        folder: Path,
        *,
        clock: Callable[[], float] = time.time,
        allowed: Callable[[str, str], AbstractContextManager[None]] = lambda user, key: nullcontext(),
    ) -> None:
        self._allowed = allowed
        self._speech, self._avatars, self._folder, self._clock = speech, avatars, folder, clock
        self.mark = ""
        """How the ids of its clips begin: other gateways know by it whose they are."""
        self._jobs: dict[str, ClipJob] = {}
        self._tasks: TaskGroup | None = None

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Make clips, and remove old ones."""
        await disk_io(_emptied, self._folder)
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            task_status.started()
            while True:
                await anyio.sleep(SWEEP_S)
                await self.sweep()

    async def create(
        self, user: str, avatar: str, speech: SpeechRequest, pcm: bytes = b"", request_id: str = ""
    ) -> ClipJob:
        """Begin a clip of an avatar that says the text of `speech`, or moves its lips to `pcm` (16-bit mono, 24 kHz). Raises Problem where
        that is known to be impossible, and Busy where the user has too many."""
        if self._tasks is None:
            raise Unavailable("The server is starting. Try again in a moment.")
        source = await self._avatars.source(avatar, user)
        self._speech.require_video(source.kind, recorded=bool(pcm))
        if not pcm:
            speech, _ = await self._speech.choose_voice(speech, user)
        await self._make_room(user)
        id = self.mark + secrets.token_hex(ID_BYTES)
        job = ClipJob(id, user, avatar, self._folder / f"{id}.mp4", self._clock())
        self._jobs[id] = job
        self._tasks.start_soon(self._make, job, source, speech, pcm, request_id)
        return job

    def get(self, user: str, avatar: str, id: str) -> ClipJob:
        """A clip of this user. Raises NotFound: to everybody else it does not exist."""
        job = self._jobs.get(id)
        if job is None or job.user != user or job.avatar != avatar:
            raise NotFound(
                f"There is no clip {shortened(id)!r}, or no more: clips are kept for an hour.",
                code="clip_not_found",
                param="clip",
            )
        return job

    def ready(self, user: str, avatar: str, id: str) -> ClipJob:
        """The same of a clip whose file can be fetched. Raises Busy while it is being made, and the Problem it failed with."""
        job = self.get(user, avatar, id)
        row = job.row()
        if row.state == "failed":
            raise NotFound(f"This clip could not be made: {row.message}", code="clip_failed")
        if row.state != "ready":
            raise Busy(
                "This clip is still being made; ask for its progress.", code="clip_running", status=409
            )
        return job

    async def delete(self, user: str, avatar: str, id: str) -> None:
        """Remove a clip, or stop making it. Raises NotFound."""
        await self._remove(self.get(user, avatar, id))

    async def sweep(self) -> None:
        """Remove what is too old."""
        oldest = self._clock() - KEPT_S
        for job in [job for job in self._jobs.values() if job.created < oldest]:
            await self._remove(job)

    async def _make_room(self, user: str) -> None:
        own = [job for job in self._jobs.values() if job.user == user]
        if sum(not job.ended for job in own) >= RUNNING:
            raise Busy(
                f"You are having {RUNNING} clips made, the most allowed at a time. Wait for one of them, or stop it.",
                code="clips_full",
            )
        while len(own) >= KEPT:
            await self._remove(own.pop(0))
        while sum(job.bytes for job in self._jobs.values()) > TOTAL:
            ended = next((job for job in self._jobs.values() if job.ended), None)
            if ended is None:
                raise Busy(
                    "Clips take all the space they may at the moment. Try again later.", code="clips_full"
                )
            await self._remove(ended)

    async def _remove(self, job: ClipJob) -> None:
        self._jobs.pop(job.id, None)
        job.remove()
        await disk_cleanup(_unlinked, job.file)

    async def _make(
        self, job: ClipJob, source: AvatarSource, speech: SpeechRequest, pcm: bytes, request_id: str
    ) -> None:
        with job.scope:
            try:
                # The task has the key of the request that it was started by.
                with self._allowed(job.user, caller.key_id.get()):
                    await self._film(job, ClipRequest(source, speech, pcm), request_id)
                job.complete()
            except Problem as problem:
                job.fail(problem)
            except Exception:
                log.exception("a clip failed")
                job.fail(EngineFailed("The clip could not be made. The server's log has the reason."))
        if job.state != "ready":
            with anyio.CancelScope(shield=True):
                await disk_cleanup(_unlinked, job.file)

    async def _film(self, job: ClipJob, request: ClipRequest, request_id: str) -> None:
        async with self._speech.film(request, request_id, user=job.user) as events:
            async for event in events:
                if isinstance(event, ClipProgress):
                    job.advance(event)
                    continue
                job.bytes += len(event.data)
                if job.bytes > LARGEST:
                    raise TooLarge(
                        "The clip became too large. Make several of shorter texts.", code="clip_too_long"
                    )
                await disk_io(_appended, job.file, event.data)


def _emptied(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)


def _appended(file: Path, data: bytes) -> None:
    with file.open("ab") as opened:
        opened.write(data)


def _unlinked(file: Path) -> None:
    file.unlink(missing_ok=True)
