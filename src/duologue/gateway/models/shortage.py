"""The memory that a model lacks, and the refusal to load it. Used by the loader and by what makes room for a load."""

from __future__ import annotations

from msgspec import Struct

from duologue.errors import Problem
from duologue.models.hub.repository import gigabytes


class Shortage(Struct, frozen=True):
    """The memory that a model needs and what is free, in bytes; both 0 where nobody knows."""

    name: str
    needed: int = 0
    free: int = 0

    @property
    def missing(self) -> int:
        return max(0, self.needed - self.free)


def require_room(short: Shortage) -> None:
    """Raises Problem `not_enough_memory`."""
    if short.missing:
        raise Problem(
            f"{short.name} needs about {gigabytes(short.needed)} of memory, but only {gigabytes(short.free)} are free. Unload another "
            "model, choose a smaller one or a shorter context, or load it anyway with `force`.",
            code="not_enough_memory",
            status=409,
        )
