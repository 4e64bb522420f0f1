"""What this machine has for a model: cores, free memory, free disk, and cards the engine can use.

Asks the operating system and the installed engine, and answers with numbers; which models they are enough for is
decided in `models.fit`.
"""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path

from duologue.engines.machine import this_machine
from duologue.models.fit import Hardware
from duologue.models.listing import gigabytes


def look(folder: Path) -> Hardware:
    """This machine; `folder` is where models are kept, there or not."""
    machine = this_machine()
    card = _card_memory()
    # On a Mac the card works in the processor's memory: what one takes the other has not.
    memory = max(0, machine.memory - card) if sys.platform == "darwin" else machine.memory
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


def _card_memory() -> int:
    """Free bytes on the graphics cards; 0 where the engine sees none. A card inside the processor does not count: it
    has no memory of its own and is no faster."""
    try:
        engine = importlib.import_module("xllamacpp")
        card = engine.ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_GPU
        return sum(device["memory_free"] for device in engine.get_device_info() if device["type"] == card)
    except Exception:  # noqa: BLE001 - a wheel or driver that does not fit this machine may fail in any way
        return 0
