"""What a child process may use, and which process the kernel ends first when memory runs out.

Processes that read what strangers sent call `limit_process` on themselves. The gateway calls `set_oom_score` for each process it
starts: a worker comes back within seconds, and a file's decoder is started anew, while with the gateway everybody's
connections would go. Linux has all of this; other systems have some of the limits and no such score.
"""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress
from pathlib import Path

WORKER = 500
"""A model's worker: large, and restarted with its model."""
TOOL = 600
"""A tool server that is a program."""
FORK_SERVER = 900
"""It forks the processes that read files; nothing is lost but the files being read."""
READER = 1000
"""Reads what a stranger sent: a file, or a chat template. Nothing is lost but one file or prompt."""


def set_oom_score(process: int, score: int, folder: Path = Path("/proc")) -> None:
    """Have the kernel choose `process` (its id) before others: -1000 never, 1000 first. Its children get the same. Does
    nothing if the system has no such score or the process has ended."""
    with suppress(OSError):
        (folder / str(process) / "oom_score_adj").write_text(str(score))


def limit_process(*, memory: int, cpu_seconds: int | None = None, open_files: int | None = None) -> None:
    """Bound this process and what it forks: `memory` bytes of address space and `cpu_seconds` more than it has used until
    now, and so many open files. It can write no file and dumps no core. Limits that the system does not have are left out."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    if open_files is not None:
        _limit(resource.RLIMIT_NOFILE, open_files)
    if cpu_seconds is not None:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        # SIGXCPU first, so that the end tells its reason: SIGKILL is also what the kernel sends when memory runs out.
        _limit(resource.RLIMIT_CPU, int(usage.ru_utime + usage.ru_stime) + cpu_seconds, 1)
    if (used := _address_space()) is not None:
        _limit(resource.RLIMIT_AS, used + memory)


def peak_memory(usage: resource.struct_rusage | None = None) -> int:
    """The most memory that a process had, in bytes: the one that `usage` is about, or this one."""
    usage = usage or resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_maxrss if sys.platform == "darwin" else usage.ru_maxrss * 1024


def inherited_environment() -> dict[str, str]:
    """The environment for a process that is started: without the operator's settings, keys and secrets."""
    return {name: value for name, value in os.environ.items() if not name.startswith("DUOLOGUE_")}


def _limit(what: int, value: int, slack: int = 0) -> None:
    """`slack`: so much higher is the hard limit."""
    most = resource.getrlimit(what)[1]
    hard = value + slack if most == resource.RLIM_INFINITY else min(value + slack, most)
    with suppress(ValueError, OSError):  # not every system has every limit
        resource.setrlimit(what, (min(value, hard), hard))


def _address_space() -> int | None:
    """Bytes of this process's address space; None where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        return None
    return pages * resource.getpagesize()
