"""Exclusive use of the port and the data folder, and who has them if they are taken.

`server` and `duologue doctor` call this. The lock on the data folder is a file lock, so it ends with the process, even by SIGKILL.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from duologue.errors import StartFailed

LOCK = "server.lock"


@contextmanager
def data_folder(folder: Path, url: str, process: int | None = None) -> Iterator[None]:
    """Lock `folder` for this process; `process` is the one to stop, if it is another. Raises StartFailed naming the process that has it, or why it cannot be used."""
    try:
        # It has people's conversations: no other account of this machine may read it.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = (folder / LOCK).open("a+")
    except OSError as error:
        raise StartFailed(
            f"The data folder {folder} cannot be written: {error.strerror}. Set DUOLOGUE_DATA (or --data) to "
            "a folder that you own."
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StartFailed(_held(folder, file.name)) from None
        except OSError as error:
            raise StartFailed(
                f"The data folder {folder} cannot be locked: {error.strerror}. Set DUOLOGUE_DATA (or --data) to a "
                "folder on a disk of this machine."
            ) from error
        file.truncate(0)
        file.write(json.dumps({"process": process or os.getpid(), "url": url}))
        file.flush()
        yield


def _held(folder: Path, lock: str) -> str:
    try:
        holder = json.loads(Path(lock).read_text())
        who = f"process {holder['process']}, at {holder['url']}"
    except (OSError, ValueError, KeyError):
        who = "another process"
    return (
        f"The data folder {folder} is in use by a Duologue server: {who}. Stop that one, or start this one with "
        "another --data (DUOLOGUE_DATA)."
    )


def port(host: str, number: int, setting: str = "") -> socket.socket:
    """A socket listening on `host`:`number`. `setting`: what chooses the port, where it is not the server's main one. Raises StartFailed
    naming the process that has the port, or the problem with the host."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise StartFailed(
            f"The address {host!r} is not an address of this machine: {error.strerror}."
        ) from error
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
        bound.listen(2048)
    except OSError as error:
        bound.close()
        raise StartFailed(_taken(host, number, error, setting)) from error
    return bound


def _taken(host: str, number: int, error: OSError, setting: str) -> str:
    if error.errno == errno.EADDRINUSE:
        process = holder(number)
        who = f" by process {process[0]} ({process[1]})" if process else ""
        if setting:
            return (
                f"Port {number} is in use{who}. Stop it, or choose another port with the setting {setting}."
            )
        return (
            f"Port {number} is in use{who}. Stop it, or choose another port: PORT={number + 1} make serve, or "
            f"duologue serve --port {number + 1}."
        )
    if error.errno == errno.EACCES:
        return f"Port {number} requires root privileges. Choose a port above 1023."
    return f"Cannot listen on {host}:{number}: {error.strerror}."


def holder(number: int) -> tuple[int, str] | None:
    """The process (id and command) that listens on this TCP port; None if unknown, as on systems other than Linux. Of a parent
    and a child with the same socket it is the parent, which would start the child again."""
    inodes = _listening_inodes(number)
    if not inodes:
        return None
    found: dict[int, tuple[int, str]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        if inodes.intersection(_open_files(process)):
            with suppress(OSError):  # it may end meanwhile
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ")
                parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
                found[int(process.name)] = parent, command.decode(errors="replace").strip()[:120]
    return next(((id, command) for id, (parent, command) in found.items() if parent not in found), None)


def _open_files(process: Path) -> Iterator[str]:
    """The open files of a process; none for another user's process or one that has ended."""
    with suppress(OSError):
        for descriptor in (process / "fd").iterdir():
            with suppress(OSError):
                yield os.readlink(descriptor)


def _listening_inodes(number: int) -> set[str]:
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            rows = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            fields = row.split()
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == number:
                inodes.add(f"socket:[{fields[9]}]")
    return inodes
