"""The memory that the server's processes and graphics cards use, for `/metrics`, where the system tells.

A process's memory is read from /proc when `/metrics` is asked for, which takes microseconds; other systems than Linux have no such
file, and no series. That of NVIDIA's cards is asked of `nvidia-smi` now and then, while a worker runs on one.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import anyio
from msgspec import Struct

from duologue import telemetry

log = logging.getLogger(__name__)

PROCESSES = Path("/proc")
GATEWAY = "gateway"
"""The label of this process; a worker's is its name."""
EVERY = 15.0
"""Seconds between two questions to the cards."""
PATIENCE = 10.0
"""Seconds that an answer may take; a driver that is stuck never gives one."""
MEBIBYTE = 1024 * 1024
QUERY = ("--query-gpu=index,memory.used,memory.total", "--format=csv,noheader,nounits")


class CardMemory(Struct, frozen=True):
    """Bytes of one card."""

    device: str
    used: int
    total: int


def process_memory(process: int, folder: Path = PROCESSES) -> int | None:
    """Bytes of memory that a process has in use; None where the system does not tell, or there is no such process."""
    try:
        pages = int((folder / str(process) / "statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def set_process_memory(workers: Mapping[str, int], folder: Path = PROCESSES) -> None:
    """Set the series of this process and of these workers' processes (0: it has none)."""
    gauge = telemetry.metrics().process_memory
    gauge.clear()
    for name, process in {GATEWAY: os.getpid(), **workers}.items():
        if process and (used := process_memory(process, folder)) is not None:
            gauge.labels(name).set(used)


def card_memory(answer: str) -> list[CardMemory]:
    """The cards in nvidia-smi's answer, a line each: `0, 1024, 81559`, in mebibytes. Lines without numbers are left out: a card
    may not tell."""
    cards = []
    for line in answer.splitlines():
        try:
            index, used, total = (int(field) for field in line.split(","))
        except ValueError:
            continue
        cards.append(CardMemory(f"cuda:{index}", used * MEBIBYTE, total * MEBIBYTE))
    return cards


async def watch_cards(devices: Callable[[], Iterable[str]], program: str = "nvidia-smi") -> None:
    """Set the series of the cards every few seconds while a worker runs on one of them (`devices`: what they run on), until cancelled.
    Returns where there is no such program."""
    if shutil.which(program) is None:
        return
    while True:
        if any(device.startswith("cuda") for device in devices()):
            _set_cards(await _ask(program))
        await anyio.sleep(EVERY)


async def _ask(program: str) -> list[CardMemory]:
    with anyio.move_on_after(PATIENCE):
        try:
            ended = await anyio.run_process([program, *QUERY], stderr=subprocess.DEVNULL, check=False)
        except OSError as error:
            log.debug("%s cannot be run: %s", program, error)
            return []
        return card_memory(ended.stdout.decode(errors="replace"))
    return []


def _set_cards(cards: Iterable[CardMemory]) -> None:
    gauge = telemetry.metrics().card_memory
    gauge.clear()
    for card in cards:
        gauge.labels(card.device, "used").set(card.used)
        gauge.labels(card.device, "total").set(card.total)
