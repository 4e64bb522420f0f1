"""Progress of a download: a bar on a terminal, elsewhere a line for every ten percent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TextIO

from duologue.models.hub.download import Watch
from duologue.models.hub.repository import gigabytes

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Display(Watch, Protocol):
    """A watch that can also print a line."""

    def say(self, line: str) -> None: ...


def watch_on(stream: TextIO) -> Display:
    """The display that suits `stream`."""
    return Bar(stream) if stream.isatty() else Lines(stream)


class Lines:
    """A line at the start and one for every ten percent: for logs and pipes."""

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
            self.say(f"{self._label}: restarted from the beginning")
        self._tenths = tenths

    def end(self) -> None:
        self._label = ""

    def say(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()

    def _tenth(self) -> int:
        return self._done * 10 // self._total if self._total else 0


class Bar:
    """A bar with the amount, the speed and the time left."""

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
            # Rich prints it above the bar and redraws the bar.
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

    # The label comes from a server and must not be read as Rich markup.
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(compact=True),
        console=Console(file=stream, markup=False),
    )
