"""`duologue clip`: a video of a face that says a text, or moves its lips to a recording, made by a running server.

The progress goes to standard error. Ctrl-C stops the work on the server too.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import anyio
from msgspec import Struct

from duologue.cli.say import explained
from duologue.client.http import Client
from duologue.errors import BadRequest, Problem

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

POLL = 0.25
"""Seconds between two looks at the progress."""
STEPS = {
    "waiting": "Waiting",
    "speaking": "Speaking",
    "preparing": "Preparing",
    "drawing": "Drawing",
    "ready": "Done",
}


class ClipWish(Struct, frozen=True):
    """What is asked for. `recording` None: `text` is said."""

    out: Path
    text: str = ""
    recording: Path | None = None
    avatar: str = ""
    voice: str = ""
    speed: float = 1.0
    language: str = ""

    def body(self) -> dict[str, Any]:
        fields = {"text": self.text, "voice": self.voice, "speed": self.speed, "language": self.language}
        return {name: value for name, value in fields.items() if value}


def make_clip(wish: ClipWish, server: Client, asides: TextIO) -> None:
    """Make the clip and write its file. Raises Problem; when no server answers, one that says how to start it."""
    if wish.out.is_dir() or not wish.out.absolute().parent.is_dir():
        raise BadRequest(f"{wish.out} is not a file that can be written.", param="out")
    anyio.run(_make, wish, _read(wish.recording), server, asides)


def _read(recording: Path | None) -> bytes:
    try:
        return b"" if recording is None else recording.read_bytes()
    except OSError as error:
        raise BadRequest(f"{recording} cannot be read: {error.strerror or error}.", param="audio") from None


async def _make(wish: ClipWish, recording: bytes, server: Client, asides: TextIO) -> None:
    async with explained(server), server:
        avatar = wish.avatar or await _first_avatar(server)
        place = f"/api/avatars/{avatar}/clips"
        if wish.recording is None:
            row = await server.api("POST", place, wish.body())
        else:
            row = await server.send_file(place, recording, wish.recording.name, language=wish.language)
        clip = f"{place}/{row['id']}"
        try:
            with ClipDisplay(asides) as display:
                while row["state"] not in ("ready", "failed"):
                    display.show(row)
                    await anyio.sleep(POLL)
                    row = await server.api("GET", clip)
                if row["state"] == "failed":
                    raise Problem(str(row["message"]), code=str(row["code"]))
                display.show(row)
            data = await server.fetch(f"{clip}/file")
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(5):
                await _forget(server, clip)
    try:
        wish.out.write_bytes(data)
    except OSError as error:
        raise BadRequest(f"{wish.out} cannot be written: {error.strerror or error}.", param="out") from None
    asides.write(f"{wish.out}: {len(data) / 1e6:.1f} MB\n")


async def _first_avatar(server: Client) -> str:
    rows = (await server.api("GET", "/api/avatars"))["avatars"]
    return str(rows[0]["id"])


async def _forget(server: Client, clip: str) -> None:
    """The server need not keep it, or go on with it."""
    with suppress(Problem):
        await server.api("DELETE", clip)


class ClipDisplay:
    """The progress: a bar on a terminal, elsewhere a line for each step."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._step = ""
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> ClipDisplay:
        if self._stream.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

            columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
            self._bar = Progress(*columns, console=Console(file=self._stream, markup=False))
            self._task = self._bar.add_task(STEPS["waiting"], total=1.0)
            self._bar.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, row: dict[str, Any]) -> None:
        """The state of the clip now."""
        step = STEPS.get(str(row["state"]), "")
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=step, completed=float(row["progress"]))
        elif step != self._step:
            self._stream.write(f"{step}\n")
            self._stream.flush()
        self._step = step
