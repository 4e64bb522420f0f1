"""What the slots of a model have read, under which LoRA adapters: a prompt read under other scales is of no use.

Owned by `engine`. Pure.
"""

from __future__ import annotations

from duologue.engines.llama.prompt.prompt_steps import PromptMemory
from duologue.engines.llama.slot_adapters import SlotAdapters

MOST = 16
"""Combinations of scales whose prompts are remembered."""


class SlotMemory:
    """`room`: tokens that all prompts together may have; `loaded`: the scales that the adapters were loaded with."""

    def __init__(self, room: int, loaded: tuple[float, ...] = ()) -> None:
        self.adapters = SlotAdapters(loaded)
        self._room = room
        self._memories: dict[tuple[float, ...], PromptMemory] = {}

    def of(self, slot: int) -> PromptMemory:
        """The prompts that were read under the scales that the slot uses now."""
        scales = self.adapters.scales(slot)
        if (memory := self._memories.get(scales)) is None:
            # Replaced as a whole: several threads read it.
            kept = dict(list(self._memories.items())[1 - MOST :])
            memory = PromptMemory(self._room)
            self._memories = {**kept, scales: memory}
        return memory
