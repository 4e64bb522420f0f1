"""What this machine can lend an engine: processor cores and memory.

Reads what the operating system says, within the limits of a container. Knows no engine.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

CGROUP = Path("/sys/fs/cgroup")
MEMINFO = Path("/proc/meminfo")
CPUS = Path("/sys/devices/system/cpu")


class MachineLimits(Struct, frozen=True):
    """`cores`: physical cores this process may use. `memory`: bytes that are free for it. `gpus`: their number."""

    cores: int
    memory: int
    gpus: int = 0


def this_machine(
    gpus: int = 0, *, cgroup: Path = CGROUP, meminfo: Path = MEMINFO, cpus: Path = CPUS
) -> MachineLimits:
    """The machine this process runs on."""
    return MachineLimits(_cores(cgroup, cpus), _memory(cgroup, meminfo), gpus)


def _cores(cgroup: Path, cpus: Path) -> int:
    usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    # Two threads of one core share its arithmetic; a second one only costs.
    siblings = {_read(cpus / f"cpu{cpu}" / "topology" / "thread_siblings_list") or str(cpu) for cpu in usable}
    cores = len(siblings)
    quota, _, period = _read(cgroup / "cpu.max").partition(" ")
    if quota.isdigit() and period.isdigit() and int(period):
        cores = min(cores, max(1, int(quota) // int(period)))
    return max(1, cores)


def _memory(cgroup: Path, meminfo: Path) -> int:
    free = 0
    for line in _read(meminfo).splitlines():
        if line.startswith("MemAvailable:"):
            free = int(line.split()[1]) * 1024
    if not free and hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    limit, used = _read(cgroup / "memory.max"), _read(cgroup / "memory.current")
    if limit.isdigit() and used.isdigit():
        free = min(free, max(0, int(limit) - int(used)))
    return free


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
