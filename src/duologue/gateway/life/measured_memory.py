"""What a worker needs and what is free where it runs, measured now. Blocks; called off the event loop.

`service` passes it to the rolling restart and the scaler, which decide by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from duologue.gateway.life.replacement import WorkerMemory
from duologue.gateway.workers.process_facts import resident_bytes
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.models.fit import Hardware, memory_needed

ProbeHardware = Callable[[Path, Iterable[int]], tuple[Hardware, str]]


def measure(
    status: WorkerStatus, processes: Iterable[int], probe: ProbeHardware | None, folder: Path
) -> WorkerMemory:
    """The memory that one more worker like this one needs. `processes`: those of all workers; `folder`: that of the models."""
    by_model = memory_needed(status.card.size) if status.card is not None and status.card.size else 0
    if probe is None:
        return WorkerMemory(by_model, 0, None)
    hardware, _ = probe(folder, processes)
    on_card = status.runs_on.startswith("cuda") or status.gpu is not None
    # What a process has in the memory of the machine says little of what its model has on the card.
    by_process = 0 if on_card or not by_model else resident_bytes(status.process)
    return WorkerMemory(by_model, by_process, hardware.card_memory if on_card else hardware.memory)
