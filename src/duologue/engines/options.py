"""The options of a speech engine, checked before anything large is loaded.

Called by the `load` function of every recogniser and speaker. Owns the errors for misspelt options and wrong types, and
the parsing of device names.
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


def read_options(kind: type[T], options: Mapping[str, object], engine: str) -> T:
    """`options` as a `kind`; None leaves an option at its default. Raises StartFailed naming the option at fault."""
    known = kind.__struct_fields__
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            advice = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(known)}."
            raise StartFailed(f"The engine {engine} has no option {name!r}. {advice}", param=name)
    values = {name: value for name, value in options.items() if value is not None}
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise StartFailed(f"An option of the engine {engine} is wrong: {error}.") from None


def check_parallel(engine: str, parallel: int) -> None:
    """Raises StartFailed for a `parallel` below 1."""
    if parallel < 1:
        raise StartFailed(f"{engine}'s option 'parallel' must be at least 1.", param="parallel")


def parse_device(text: str) -> Device:
    """The device of a name: auto, cpu, cuda, cuda:1. Raises StartFailed for anything else."""
    match = _DEVICE.fullmatch(text.strip().lower() or "auto")
    if match is None:
        raise StartFailed(
            f"There is no device {text!r}; the devices are auto, cpu, cuda and cuda:1.", param="device"
        )
    kind, index = match.groups()
    return Device("cuda" if kind == "gpu" else kind, int(index or 0))
