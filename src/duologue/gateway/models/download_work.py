"""The work of one download: what its thread reports, and how it fetches the files from the hub.

`downloads` runs one after the other, each in a thread; `duologue.models.hub` finds and fetches the files.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from duologue.models.fit import Hardware
from duologue.models.hub import reference
from duologue.models.hub.resume import Stopped

if TYPE_CHECKING:
    from duologue.models.hub.http import HubConnection
    from duologue.models.hub.pull import DownloadPlan

log = logging.getLogger(__name__)

SLICE = 0.2
"""Seconds after which a pause between two attempts checks whether the download was stopped."""


class Work:
    """One download, shared by its thread, which reports, and the event loop, which reads and stops it. Each number is written by
    one side only, so no lock is needed. Fulfils `models.download.Watch`."""

    def __init__(self, what: str, name: str) -> None:
        self.what = what
        self.name = name
        self.total = 0
        self.checking = False
        self.stopped = False
        self._before = 0
        self._file = 0
        self._open: HubConnection | None = None

    @property
    def done(self) -> int:
        return self._before + self._file

    def stop(self) -> None:
        """From the event loop: stop as soon as possible."""
        self.stopped = True
        if self._open is not None:
            self._open.stop()

    # ---- from the thread

    def uses(self, opened: HubConnection) -> None:
        """The connection to close when this is stopped. Raises Stopped if it already was."""
        self._open = opened
        self._go_on()

    def ordered(self, name: str, total: int, there: int) -> None:
        """The model was found: its name, its size in bytes, and how many bytes of it are complete files here."""
        self.name, self.total, self._before = name, total, there
        self._go_on()

    def begin(self, label: str, total: int, done: int) -> None:
        self.total = max(self.total, total)
        self._file = done
        self._go_on()

    def kept(self, count: int) -> None:
        self.checking = True
        self._file += count
        self._go_on()

    def advance(self, count: int) -> None:
        self._file += count
        self.checking = 0 < self.total <= self.done
        self._go_on()

    def end(self) -> None:
        self._before, self._file = self._before + self._file, 0

    def pause(self, seconds: float) -> None:
        """Wait between two attempts, unless the download is stopped."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._go_on()
            time.sleep(min(SLICE, left))

    def _go_on(self) -> None:
        if self.stopped:
            raise Stopped


Fetch = Callable[[Work], None]
"""Does one download, in a thread. Raises Problem, or Stopped when the work was stopped."""


def hub_download(folder: Path, probe_hardware: Callable[[], Hardware]) -> Fetch:
    """Downloads into `folder` from the hub that HF_ENDPOINT names. `probe_hardware` measures this machine; it blocks."""

    def fetch(work: Work) -> None:
        # Imported by the first download, so that the server starts without loading an HTTP client.
        from duologue.models.hub import http, pull

        with http.connect(sleep=work.pause, notice=log.info) as opened:
            work.uses(opened)

            def planned(plan: DownloadPlan) -> None:
                whole = [folder / name for name, _ in plan.files]
                work.ordered(
                    plan.name, plan.size, sum(path.stat().st_size for path in whole if path.is_file())
                )

            model = reference.parse(work.what, opened.hub)
            there = pull.pull_model(opened, model, folder, probe_hardware, work, planned)
            if there.was_there:
                work.ordered(there.name, there.header.size, there.header.size)

    return fetch
