"""Which model goes to which graphics card, and how many workers a model gets. Pure: memory of cards and models in, devices out.

Used by `gateway/workers/load_specs.py` before the workers start; `engines/hardware.py` lists the cards. A model that fits on one card
is not spread over several: every layer boundary between cards costs time, and a card that is shared slows all that use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

AUTO, CPU = "auto", "cpu"


class Card(Struct, frozen=True):
    """A graphics card: its number in the engine's list, its name, and its free memory in bytes."""

    number: int
    name: str
    free: int
    library_name: str = ""
    """What the engine's library calls it, where that differs."""

    @property
    def device(self) -> str:
        """Its name in the settings."""
        return f"cuda:{self.number}"


class PlacedModel(Struct, frozen=True):
    """`device`: "auto" leaves it to the engine, which divides the model. `reason`: a sentence why no card was found, or ""."""

    name: str
    device: str
    reason: str = ""


class ModelToPlace(Struct, frozen=True):
    """`needed`: bytes of the weights and what comes with them; `device`: "auto", or the one that the settings name."""

    name: str
    needed: int
    device: str = AUTO


def place(models: Sequence[ModelToPlace], cards: Sequence[Card]) -> tuple[PlacedModel, ...]:
    """The device of each model, in their order. Devices of the settings are kept and their memory counted; of the others the largest
    goes first, to the card with the most memory left. With fewer than two cards there is nothing to choose."""
    if len(cards) < 2:
        return tuple(PlacedModel(model.name, model.device) for model in models)
    left = {card.device: card.free for card in cards}
    for model in models:
        if model.device in left:
            left[model.device] -= model.needed
    placed = {
        number: PlacedModel(model.name, model.device)
        for number, model in enumerate(models)
        if model.device != AUTO
    }
    free = (number for number in range(len(models)) if number not in placed)
    for number in sorted(free, key=lambda number: -models[number].needed):
        model = models[number]
        device = max(left, key=lambda device: left[device])
        if left[device] >= model.needed:
            left[device] -= model.needed
            placed[number] = PlacedModel(model.name, device)
        else:
            placed[number] = PlacedModel(model.name, AUTO, _too_large(model, left))
    return tuple(placed[number] for number in range(len(models)))


def devices_of_copies(copies: int | Literal["all"], device: str, cards: Sequence[Card]) -> tuple[str, ...]:
    """The device of each worker of a model: `all` is one worker a card, and one alone where there is no card or the settings name
    the device."""
    if copies == "all":
        return tuple(card.device for card in cards) if cards and device == AUTO else (device,)
    return (device,) * copies


def _too_large(model: ModelToPlace, left: dict[str, int]) -> str:
    rooms = ", ".join(f"{max(0, free) / 1e9:.1f} GB on {device}" for device, free in left.items())
    return (
        f"{model.name} needs {model.needed / 1e9:.1f} GB, which no card alone has left ({rooms}). It is divided among the cards and the "
        "processor, which is slower. A smaller model or a smaller --context would fit."
    )
