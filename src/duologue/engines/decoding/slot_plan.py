"""How much memory a model gets, decided before it is loaded: its weights, and a cache for each slot. Pure.

Called by the engines on transformers. The library loads first and fails later, in the middle of somebody's reply; a plan that does not fit is refused
here with what would help.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.errors import StartFailed
from duologue.models.hub.repository import gigabytes

DEFAULT_CONTEXT = 16_384
LEAST_CONTEXT = 2_048
WORKING = 1.1
"""What loading and computing take besides the weights, as a factor of them."""
TINY = 200_000_000
"""Bytes of weights up to which one thread is best."""
SMALL, MEDIUM = 4_000_000_000, 16_000_000_000
"""Bytes of weights up to which there are four slots, and two."""


class ModelSize(Struct, frozen=True):
    """`weights`: bytes of the weights as they will be in memory; `token`: bytes of keys, values and trace for one token; `trained`: the
    context that the model was made for."""

    weights: int
    token: int
    trained: int


class SlotPlan(Struct, frozen=True):
    """`context`: tokens of one chat."""

    slots: int
    context: int
    warnings: tuple[str, ...] = ()


def plan_memory(
    name: str,
    size: ModelSize,
    free: int,
    *,
    slots: int | None,
    context: int | None,
    place: str,
    others: int = 0,
) -> SlotPlan:
    """The plan for `free` bytes on the device that `place` names; `others`: caches beside those of the slots. Raises StartFailed where the weights do not fit, or a context that
    was asked for."""
    needed = int(size.weights * WORKING)
    if needed > free:
        raise StartFailed(
            f"{name} needs about {gigabytes(needed)}, but {place} has {gigabytes(free)} free. Load it with quantisation (int8 or 4-bit), "
            "choose a smaller model, or another device.",
            code="not_enough_memory",
            param="model",
        )
    places = slots or _slots(size.weights)
    room = (free - needed) // max(1, size.token * (places + others))
    wanted = min(context or DEFAULT_CONTEXT, size.trained)
    warnings: tuple[str, ...] = ()
    if context is not None and context > size.trained:
        warnings = (f"A context of {context} tokens was requested, but {name} was made for {size.trained}.",)
    if room >= wanted:
        return SlotPlan(places, wanted, warnings)
    if room < min(LEAST_CONTEXT, wanted):
        raise StartFailed(
            f"Beside its weights {name} has room for {room} tokens in each of {places} chats on {place}, which is too little. Load it with fewer "
            "slots or with quantisation.",
            code="not_enough_memory",
            param="slots",
        )
    fitting = 1 << (room.bit_length() - 1) if room < DEFAULT_CONTEXT else room
    return SlotPlan(
        places,
        min(fitting, wanted),
        (
            *warnings,
            f"Memory is short, so each of {places} chats has {min(fitting, wanted)} tokens of context instead of {wanted}. Fewer slots or "
            "quantisation leave more.",
        ),
    )


def thread_count(weights: int, cores: int, asked: int | None) -> int:
    """Threads of the arithmetic on a processor with so many cores. Those of a small model wait for each other longer than they compute, the
    longer the busier the machine is; of a large one, one core stays free for the rest of the server."""
    return asked or (1 if weights <= TINY else max(1, cores - 1))


def _slots(weights: int) -> int:
    if weights <= SMALL:
        return 4
    return 2 if weights <= MEDIUM else 1
