"""Which LoRA adapters each slot of a model adds, and how much of them.

Owned by `engine`. The library takes the scales with every request, and throws the slot's cache away where they have changed. Pure.
"""

from __future__ import annotations

from typing import Any


class SlotAdapters:
    """`loaded`: the scales that the adapters were loaded with; empty for a model without adapters."""

    def __init__(self, loaded: tuple[float, ...] = ()) -> None:
        self._loaded = loaded
        self._chosen: dict[int, tuple[float, ...]] = {}

    def choose(self, slot: int, scales: tuple[float, ...] | None) -> bool:
        """Use these scales in the slot, None: those of the start. Whether they are others than before."""
        before = self.scales(slot)
        self._chosen[slot] = self._loaded if scales is None else scales
        return self.scales(slot) != before

    def scales(self, slot: int) -> tuple[float, ...]:
        """The scales in use in a slot."""
        return self._chosen.get(slot, self._loaded)

    def fields(self, slot: int) -> dict[str, Any]:
        """The scales sent to the library with each request of the slot, for every adapter: one that is left out gets the scale 1."""
        if not self._loaded:
            return {}
        return {"lora": [{"id": id, "scale": scale} for id, scale in enumerate(self.scales(slot))]}
