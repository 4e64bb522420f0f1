"""Names of devices, and the refusal of one that is not there. Pure.

Every engine that can run on a graphics card parses its option `device` here, and passes the cards that its own library sees.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from duologue.errors import StartFailed
from duologue.models.hub.repository import gigabytes
from duologue.models.placement import Card

_DEVICE = re.compile(r"(auto|cpu|cuda|gpu)(?::(\d{1,3}))?")


class Device(Struct, frozen=True):
    """Where a model runs: `kind` is auto, cpu or cuda; `index` which of several cards."""

    kind: str = "auto"
    index: int = 0

    @property
    def name(self) -> str:
        """As most libraries write it."""
        return f"{self.kind}:{self.index}" if self.kind == "cuda" else self.kind


def parse_device(text: str) -> Device:
    """The device of a name: auto, cpu, cuda, cuda:1. Raises StartFailed for anything else."""
    match = _DEVICE.fullmatch(text.strip().lower() or "auto")
    if match is None:
        raise StartFailed(
            f"There is no device {text!r}; the devices are auto, cpu, cuda and cuda:1.", param="device"
        )
    kind, index = match.groups()
    return Device("cuda" if kind == "gpu" else kind, int(index or 0))


def require_card(device: Device, cards: Sequence[Card], setting: str = "device") -> None:
    """Raises StartFailed, with the devices that are there, where `device` is a card that is not among `cards`. `setting` is the one
    that named it."""
    if device.kind != "cuda" or any(card.number == device.index for card in cards):
        return
    raise StartFailed(
        f"There is no device {device.name} that this engine can use. It has: {describe_devices(cards)}. Correct the setting {setting}"
        + (
            "."
            if cards
            else ", or install a build of the engine for the card (docs/running.md, Graphics cards)."
        ),
        param=setting,
    )


def describe_devices(cards: Sequence[Card]) -> str:
    """The devices of a machine in one line: cpu, then its cards."""
    return ", ".join(("cpu", *map(_described, cards)))


def numbered_cards(count: int) -> tuple[Card, ...]:
    """Cards of which a library tells nothing but how many there are."""
    return tuple(Card(number, "", 0) for number in range(count))


def _described(card: Card) -> str:
    return f"{card.device} ({card.name}, {gigabytes(card.free)} free)" if card.name else card.device
