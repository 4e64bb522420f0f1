"""What this machine has for a model: processor cores, free memory, free disk, and the graphics cards the engine can use.

Reads what the operating system reports, within the limits of a container, and asks the installed engine about cards.
Engines size their threads and caches by `machine_limits`; the command line and the models page show `probe_hardware` and
`HardwareProbe`. Which models fit is decided in `models.fit`.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from duologue.models.fit import Hardware
from duologue.models.hub.repository import gigabytes
from duologue.models.placement import Card

CGROUP = Path("/sys/fs/cgroup")
MEMINFO = Path("/proc/meminfo")
CPUS = Path("/sys/devices/system/cpu")
PROCESSES = Path("/proc")
CARD_TIMEOUT = 20.0
"""Seconds the engine may take to list its cards; a driver that hangs counts as no card."""
CARD_TTL = 5.0
"""Seconds for which a reading of the cards is reused."""
CARDS_COMMAND = "import msgspec; from duologue.engines.llama.library import list_cards; print(msgspec.json.encode(list_cards()).decode())"
CARD_COMMAND = "from duologue.engines.hardware import card_memory; print(card_memory())"


class MachineLimits(Struct, frozen=True):
    """`cores`: physical cores this process may use. `memory`: bytes that are free for it. `gpus`: their number."""

    cores: int
    memory: int
    gpus: int = 0


def machine_limits(
    gpus: int = 0, *, cgroup: Path = CGROUP, meminfo: Path = MEMINFO, cpus: Path = CPUS
) -> MachineLimits:
    """The limits of the machine or container this process runs in."""
    return MachineLimits(_cores(cgroup, cpus), _memory(cgroup, meminfo), gpus)


class HardwareProbe:
    """The machine's hardware for a long-running server that must not load an engine itself.

    The cards are listed by a process of its own: a broken driver then takes down that process and not the server, and
    the engine's library never stays in the gateway's memory.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._card, self._read_at = 0, float("-inf")

    def __call__(self, folder: Path, processes: Iterable[int] = ()) -> tuple[Hardware, str]:
        """The hardware, and the same as a line for people. `folder` is where models are stored; `processes` are those
        that have models loaded. Blocks, for up to some seconds."""
        if self._clock() - self._read_at > CARD_TTL:
            self._card, self._read_at = _card_memory_in_subprocess(), self._clock()
        # A worker maps its model file; the system reports those pages as available although they are in use.
        hardware = _hardware(folder, self._card, sum(map(mapped_bytes, processes)))
        return hardware, describe(hardware, folder)


def probe_hardware(folder: Path) -> Hardware:
    """This machine's hardware; `folder` is where models are stored and need not exist. Loads the engine's library."""
    return _hardware(folder, card_memory())


def describe(hardware: Hardware, folder: Path) -> str:
    """The hardware in one line for people."""
    cores = f"{hardware.cores} core{'s' if hardware.cores != 1 else ''}"
    card = (
        f"{gigabytes(hardware.card_memory)} free on the graphics card"
        if hardware.card_memory
        else "no graphics card the engine can use"
    )
    return (
        f"{cores}, {gigabytes(hardware.memory)} of memory free, {card}, "
        f"{gigabytes(hardware.disk)} of disk free for {folder}"
    )


def mapped_bytes(process: int, *, processes: Path = PROCESSES, cgroup: Path = CGROUP) -> int:
    """Bytes of mapped files that a process has in memory and that the system still reports as free.

    0 where /proc does not say, and in a container with a memory limit, whose accounting counts them as used.
    """
    try:
        if (cgroup / "memory.max").is_file() and (cgroup / "memory.max").read_text().strip().isdigit():
            return 0
        lines = (processes / str(process) / "status").read_text().splitlines()
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("RssFile:")), 0)
    except (OSError, ValueError, IndexError):
        return 0


def list_cards() -> tuple[Card, ...]:
    """The graphics cards that the default engine can use, listed by a process of its own; none where that fails. Blocks, for up to
    some seconds."""
    try:
        return msgspec.json.decode(_last_line(CARDS_COMMAND), type=tuple[Card, ...])
    except (msgspec.DecodeError, IndexError, OSError, subprocess.SubprocessError):
        return ()


def card_memory() -> int:
    """Free bytes on the graphics cards; 0 where the engine sees none. An integrated GPU does not count: it has no memory
    of its own and is no faster."""
    try:
        engine = importlib.import_module("xllamacpp")
        gpu = engine.ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_GPU
        return sum(device["memory_free"] for device in engine.get_device_info() if device["type"] == gpu)
    except Exception:  # noqa: BLE001 - a wheel or driver that does not fit this machine may fail in any way
        return 0


def _last_line(command: str) -> bytes:
    """What Python prints last for this command. Raises OSError, subprocess.SubprocessError, IndexError."""
    process = subprocess.run(
        # -P: do not import from the folder the server was started in, which may hold anything.
        [sys.executable, "-P", "-c", command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=CARD_TIMEOUT,
        check=True,
    )
    # Drivers print lines of their own first.
    return process.stdout.strip().splitlines()[-1]


def _card_memory_in_subprocess() -> int:
    try:
        return int(_last_line(CARD_COMMAND))
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return 0


def _hardware(folder: Path, card: int, mapped: int = 0) -> Hardware:
    machine = machine_limits()
    # On a Mac the card shares the processor's memory: what one takes the other does not have.
    memory = max(0, machine.memory - mapped - (card if sys.platform == "darwin" else 0))
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    return Hardware(machine.cores, memory, shutil.disk_usage(existing).free, card)


def _cores(cgroup: Path, cpus: Path) -> int:
    usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    # Two hardware threads of one core share its arithmetic units; a second one only costs.
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
        # No /proc/meminfo (macOS): half of what is installed is a guess at what is free.
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
