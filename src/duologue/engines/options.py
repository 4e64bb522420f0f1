"""The options of an engine of speech: what a person set, checked before anything large is loaded.

Owns the sentences for what is misspelt or of a wrong type, and the reading of a device's name. Knows no engine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

import msgspec
from msgspec import Struct

from duologue.errors import StartFailed

T = TypeVar("T", bound=Struct)

_DEVICE = re.compile(r"(auto|cpu|cuda|gpu)(?::(\d{1,3}))?")


class Device(Struct, frozen=True):
    """Where a model runs: `kind` is auto, cpu or cuda; `index` which of several cards."""

    kind: str = "auto"
    index: int = 0

    @property
    def name(self) -> str:
        """As most libraries write it."""
        return f"{self.kind}:{self.index}" if self.kind == "cuda" else self.kind


def read(kind: type[T], options: Mapping[str, object], engine: str) -> T:
    """`options` as a `kind`. What is None is left at its default. Raises StartFailed, naming the option that was meant."""
    known = kind.__struct_fields__
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            meant = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(known)}."
            raise StartFailed(f"The engine {engine} has no option {name!r}. {meant}", param=name)
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise StartFailed(f"An option of the engine {engine} is wrong: {error}.") from None


def device_of(text: str) -> Device:
    """What a device's name means: auto, cpu, cuda, cuda:1. Raises StartFailed for anything else."""
    found = _DEVICE.fullmatch(text.strip().lower() or "auto")
    if found is None:
        raise StartFailed(
            f"There is no device {text!r}; auto, cpu, cuda and cuda:1 are names of devices.", param="device"
        )
    kind, index = found.groups()
    return Device("cuda" if kind == "gpu" else kind, int(index or 0))
