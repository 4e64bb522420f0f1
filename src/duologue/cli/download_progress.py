"""How far a download is, on a terminal as a bar, elsewhere as a line for every tenth.

Owns what is drawn. Is told numbers of bytes and asks nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TextIO

from duologue.models.hub.download import Watch
from duologue.models.hub.repository import gigabytes

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Display(Watch, Protocol):
    """A watch that can also be told a line to show."""

    def say(self, line: str) -> None: ...


def watch_on(stream: TextIO) -> Display:
    """What shows a download on `stream`."""
    return Bar(stream) if stream.isatty() else Lines(stream)


class Lines:
    """A line when it begins and one for every further tenth: for logs and pipes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._label = ""
        self._total = self._done = self._tenths = 0

    def begin(self, label: str, total: int, done: int) -> None:
        if label != self._label and total:
            self.say(f"{label}: {gigabytes(total)}")
            self._label = label
        self._total, self._done = total, done
        self._tenths = self._tenth()

    def kept(self, count: int) -> None:
        self.advance(count)

    def advance(self, count: int) -> None:
        self._done += count
        tenths = self._tenth()
        if tenths > self._tenths:
            self.say(f"{self._label}: {tenths * 10} % of {gigabytes(self._total)}")
        elif count < 0:
            self.say(f"{self._label}: from the beginning again")
        self._tenths = tenths

    def end(self) -> None:
        self._label = ""

    def say(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()

    def _tenth(self) -> int:
        return self._done * 10 // self._total if self._total else 0


class Bar:
    """One bar that moves: how much, how fast, how long still."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def begin(self, label: str, total: int, done: int) -> None:
        bar = self._bar = self._bar or _bar(self._stream)
        if self._task is not None:
            bar.remove_task(self._task)
        self._task = bar.add_task(label, total=total or None, completed=done)
        bar.start()

    def kept(self, count: int) -> None:
        self.advance(count)

    def advance(self, count: int) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task, count)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._task = None

    def say(self, line: str) -> None:
        if self._bar is not None:
            # Above the bar, which is drawn again below.
            self._bar.console.print(line, highlight=False, soft_wrap=True)
        else:
            self._stream.write(line + "\n")
            self._stream.flush()


def _bar(stream: TextIO) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    # The label comes from a server: it is text, not markup.
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(compact=True),
        console=Console(file=stream, markup=False),
    )
