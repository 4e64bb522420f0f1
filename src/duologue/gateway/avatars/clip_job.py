"""One clip that is being made or was made: its state as clients see it, and the numbers of its changes. `clip_service.py` keeps them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Literal

import anyio
import msgspec
from msgspec import Struct

from duologue.errors import Problem
from duologue.http.sse import frame
from duologue.notifier import Notifier
from duologue.values.call_events import ClipProgress

ClipState = Literal["waiting", "speaking", "preparing", "drawing", "ready", "failed"]
BEGINS = {"speaking": 0.0, "preparing": 0.15, "drawing": 0.2, "ready": 1.0}
"""How much of all the work is done where a step begins."""
STEP = 0.01
"""The least progress that is told."""


class ClipRow(Struct, frozen=True):
    """A clip in JSON. `progress`: 0 to 1; `bytes`: of its file, once it is ready; `code` and `message`: why it failed."""

    id: str
    avatar: str
    state: ClipState
    progress: float
    bytes: int
    created: int
    code: str
    message: str


class ClipJob:
    """A clip of a user. `file`: where it lies; `scope`: leaving it cancels the work."""

    def __init__(self, id: str, user: str, avatar: str, file: Path, created: float) -> None:
        self.id, self.user, self.avatar, self.file, self.created = id, user, avatar, file, created
        self.scope = anyio.CancelScope()
        self.state: ClipState = "waiting"
        self.bytes = 0
        """Of the file so far."""
        self._progress = 0.0
        self._code = self._message = ""
        self._number = 0
        self._removed = False
        self._changed = Notifier()

    @property
    def ended(self) -> bool:
        return self.state in ("ready", "failed")

    def row(self) -> ClipRow:
        size = self.bytes if self.state == "ready" else 0
        return ClipRow(
            *(self.id, self.avatar, self.state, round(self._progress, 3), size),
            *(round(self.created), self._code, self._message),
        )

    def advance(self, progress: ClipProgress) -> None:
        """What the worker reports."""
        first = BEGINS[progress.step]
        last = min((at for at in BEGINS.values() if at > first), default=1.0)
        share = first + (last - first) * max(0.0, min(1.0, progress.share))
        if self.state != progress.step or share >= self._progress + STEP:
            self.state, self._progress = progress.step, max(self._progress, share)
            self._tell()

    def complete(self) -> None:
        self.state, self._progress = "ready", 1.0
        self._tell()

    def fail(self, problem: Problem) -> None:
        self.state, self._code, self._message = "failed", problem.code, problem.message
        self._tell()

    def remove(self) -> None:
        """Nobody can ask for it any more: cancel its work, end its streams."""
        self._removed = True
        self.scope.cancel()
        self._changed.notify()

    async def frames(self) -> AsyncGenerator[bytes]:
        """The row at each change, as server-sent events, until the clip has ended."""
        told = -1
        while not self._removed:
            if told != self._number:
                told = self._number
                yield frame(told, msgspec.json.encode(self.row()))
                if self.ended:
                    return
                continue
            await self._changed.wait()

    def _tell(self) -> None:
        self._number += 1
        self._changed.notify()
