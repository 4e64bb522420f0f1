"""What this machine has for a model: cores, free memory, free disk, and cards the engine can use.

Asks the operating system and the installed engine, and answers with numbers; which models they are enough for is
decided in `models.fit`. The engine is asked in this process by `probe_hardware`, in one of its own by a `HardwareProbe`.
"""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from duologue.engines.machine import CGROUP, this_machine
from duologue.models.fit import Hardware
from duologue.models.hub.repository import gigabytes

PROCESSES = Path("/proc")
LOOK_SECONDS = 20.0
"""Seconds the engine may take to say which cards it sees; a driver that hangs has none."""
SEEN_SECONDS = 5.0
"""Seconds for which what it said is believed."""
ASK_CARDS = "from duologue.engines.hardware import card_memory; print(card_memory())"


class HardwareProbe:
    """This machine, for a server that runs for long and never loads an engine: a process of its own asks that."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._card, self._seen = 0, float("-inf")

    def __call__(self, folder: Path, processes: Iterable[int] = ()) -> tuple[Hardware, str]:
        """The machine, and the same in a line for people. `processes` have models loaded: what they map of their files
        the system calls free, which it is not. Blocks, for up to some seconds."""
        if self._clock() - self._seen > SEEN_SECONDS:
            self._card, self._seen = _card_memory_apart(), self._clock()
        hardware = _hardware(folder, self._card, sum(map(mapped, processes)))
        return hardware, described(hardware, folder)


def probe_hardware(folder: Path) -> Hardware:
    """This machine; `folder` is where models are kept, there or not."""
    return _hardware(folder, card_memory())


def mapped(process: int, *, processes: Path = PROCESSES, cgroup: Path = CGROUP) -> int:
    """Bytes of files that a process has in memory, and that count as free all the same; 0 where nobody can say, and
    in a container with a limit, which counts them as used."""
    try:
        if (cgroup / "memory.max").is_file() and (cgroup / "memory.max").read_text().strip().isdigit():
            return 0
        lines = (processes / str(process) / "status").read_text().splitlines()
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("RssFile:")), 0)
    except (OSError, ValueError, IndexError):
        return 0


def _hardware(folder: Path, card: int, held: int = 0) -> Hardware:
    machine = this_machine()
    # On a Mac the card works in the processor's memory: what one takes the other has not.
    memory = max(0, machine.memory - held - (card if sys.platform == "darwin" else 0))
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    return Hardware(machine.cores, memory, shutil.disk_usage(there).free, card)


def described(hardware: Hardware, folder: Path) -> str:
    """The machine in one line for people."""
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


def _card_memory_apart() -> int:
    """`card_memory`, asked in another process: what breaks there breaks nothing here."""
    try:
        asked = subprocess.run(
            # -P: not from the folder the server was started in, where anything may lie.
            [sys.executable, "-P", "-c", ASK_CARDS],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LOOK_SECONDS,
            check=True,
        )
        return int(asked.stdout.split()[-1])
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return 0


def card_memory() -> int:
    """Free bytes on the graphics cards; 0 where the engine sees none. A card inside the processor does not count: it
    has no memory of its own and is no faster."""
    try:
        engine = importlib.import_module("xllamacpp")
        card = engine.ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_GPU
        return sum(device["memory_free"] for device in engine.get_device_info() if device["type"] == card)
    except Exception:  # noqa: BLE001 - a wheel or driver that does not fit this machine may fail in any way
        return 0
