"""The processes of a server, read from /proc: which of them serves, what they hold, what they were at their worst.

A `Watch` samples them in a thread of its own, because the event loop of the attackers is busy. Bytes and seconds.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from time import monotonic
from typing import NamedTuple

PAGE = os.sysconf("SC_PAGE_SIZE")
SAMPLE_SECONDS = 0.03
MEGABYTE = 2**20


class Process(NamedTuple):
    """One process; its number and start time name it for good."""

    pid: int
    started: int
    parent: int
    name: str


class Held(NamedTuple):
    """What the processes that stay hold at a quiet moment."""

    processes: int
    files: int
    memory: int


def family(root: int) -> list[Process]:
    """A process, its children, theirs, and so on."""
    children: dict[int, list[Process]] = {}
    top: list[Process] = []
    for folder in Path("/proc").glob("[0-9]*"):
        process = read(int(folder.name))
        if process is None:
            continue
        children.setdefault(process.parent, []).append(process)
        if process.pid == root:
            top.append(process)
    for member in top:
        top += children.get(member.pid, [])
    return top


def read(pid: int) -> Process | None:
    """The process of this number; None if it has ended or is only waiting to be collected."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    name = text.partition("(")[2].rpartition(")")[0]
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else Process(pid, int(fields[19]), int(fields[1]), name)


def resident(pid: int) -> int:
    """Resident bytes; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def open_files(pid: int) -> int:
    """Open file descriptors; 0 if it has ended."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def listener(root: int, port: int) -> Process | None:
    """The process below `root` that listens on this port: the gateway, whether a parent watches it or not.

    A watching parent may hold the socket too, so the youngest generation that does is meant, forks of it excepted.
    """
    sockets = listening_sockets(port)
    holders = [process for process in family(root) if sockets & set(socket_inodes(process.pid))]
    if not holders:
        return None
    pids = {process.pid for process in holders}
    if root in pids and len(holders) > 1:
        # The watching parent holds the socket for the gateway it starts; the gateway is its eldest child.
        below = [process for process in holders if process.parent == root]
        return min(below, key=lambda process: process.started) if below else holders[0]
    return min(holders, key=lambda process: process.started)


def listening_sockets(port: int) -> set[str]:
    """The inodes of the sockets that listen on this port."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                found.add(fields[9])
    return found


def socket_inodes(pid: int) -> list[str]:
    """The inodes of the sockets a process has open."""
    found = []
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            target = os.readlink(f"/proc/{pid}/fd/{name}")
            if target.startswith("socket:["):
                found.append(target[8:-1])
    except OSError:
        pass
    return found


def held(root: int) -> Held:
    """What the whole family holds now."""
    processes = family(root)
    return Held(
        len(processes),
        sum(open_files(process.pid) for process in processes),
        sum(resident(process.pid) for process in processes),
    )


class Watch:
    """Peaks of memory, sampled: of the gateway, of any worker, of any other process (decoder children), and of all at
    one moment. It also notices when the gateway is replaced or gone."""

    def __init__(self, root: int, port: int, workers: set[int]) -> None:
        self._root, self._port, self._workers = root, port, workers
        self.gateway = listener(root, port)
        self.peak_gateway = self.peak_worker = self.peak_child = self.peak_together = 0
        self.gone_after: float | None = None
        """Seconds from the beginning until the gateway that was there first had ended."""
        self._over = threading.Event()
        self._began = monotonic()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        members: list[Process] = []
        count = 0
        while not self._over.wait(SAMPLE_SECONDS):
            if count % 3 == 0:
                members = family(self._root)
            count += 1
            self._sample(members)

    def _sample(self, members: list[Process]) -> None:
        together = 0
        for process in members:
            size = resident(process.pid)
            together += size
            if self.gateway is not None and process.pid == self.gateway.pid:
                self.peak_gateway = max(self.peak_gateway, size)
            elif process.pid in self._workers:
                self.peak_worker = max(self.peak_worker, size)
            elif process.pid != self._root:
                self.peak_child = max(self.peak_child, size)
        self.peak_together = max(self.peak_together, together)
        if self.gateway is not None and self.gone_after is None:
            now = read(self.gateway.pid)
            if now is None or now.started != self.gateway.started:
                self.gone_after = monotonic() - self._began

    def stop(self) -> None:
        self._over.set()
        self._thread.join()
