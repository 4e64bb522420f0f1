"""Which models fit a machine, and which of them to propose.

Used before a download, by `duologue setup`, the models commands and the models page. Rules of thumb; how an engine then
divides the memory is its own plan. Pure: sizes and a machine in, a verdict out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from duologue.models.gguf.projector import projector_memory
from duologue.models.recommended import MILLION, Recommended

Fit = Literal["card", "good", "slow", "memory", "disk"]
"""`card`: fits on the graphics card. `good`: fits in memory, and is fast enough. `slow`: runs, but slowly.
`memory`, `disk`: too large for it."""

SPARE_MEMORY = 600 * MILLION
"""Bytes in addition to the weights: buffers, a short context, the server itself."""
SPARE_DISK = 500 * MILLION
"""Bytes a download leaves free: a full disk breaks more than the download."""
PER_CORE = 1_100 * MILLION
"""Parameters for each core: at four bits a token then takes an ordinary desktop some tenths of a second."""


class Hardware(Struct, frozen=True):
    """What this machine has for a model, in bytes: free memory, free disk where models are stored, and free memory of the
    graphics cards the engine can use."""

    cores: int
    memory: int
    disk: int
    card_memory: int = 0


def memory_needed(size: int, projector: int = 0) -> int:
    """Bytes of memory for a model whose file has `size` bytes, and whose projector's has `projector`."""
    return size + size // 10 + projector_memory(projector) + SPARE_MEMORY


def fit(size: int, active_share: float, parameters: int, hardware: Hardware, projector: int = 0) -> Fit:
    """How a model of `size` bytes fits, of whose `parameters` a token uses `active_share` (0 to 1), with a projector of `projector`
    bytes."""
    needed = memory_needed(size, projector)
    if needed > hardware.memory + hardware.card_memory:
        return "memory"
    if size + projector + SPARE_DISK > hardware.disk:
        return "disk"
    if needed <= hardware.card_memory:
        return "card"
    if needed > hardware.memory or parameters * active_share > PER_CORE * hardware.cores:
        return "slow"
    return "good"


def fit_of(model: Recommended, hardware: Hardware) -> Fit:
    """How a recommended model fits, with its projector."""
    share = model.active_parameters / model.parameters
    return fit(model.size, share, model.parameters, hardware, model.projector_size)


def recommend(models: Iterable[Recommended], hardware: Hardware) -> Recommended | None:
    """The model to propose: the largest first choice that runs well, else the smallest that runs at all, else none."""
    choices = [(fit_of(model, hardware), model) for model in models if model.first_choice]
    good = [model for verdict, model in choices if verdict in ("card", "good")]
    if good:
        return max(good, key=lambda model: model.parameters)
    slow = [model for verdict, model in choices if verdict == "slow"]
    return min(slow, key=lambda model: model.active_parameters, default=None)
