"""The drawn looks by name. Used by the gateway, which gives them to the page, and by the video engine `portrait`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from duologue.faces.look import Look
from duologue.faces.looks.mira import mira
from duologue.faces.looks.orbit import orbit
from duologue.faces.looks.rowan import rowan
from duologue.faces.looks.theo import theo

_DRAWN: Mapping[str, Callable[[], Look]] = {"mira": mira, "theo": theo, "rowan": rowan, "orbit": orbit}
LOOKS = tuple(_DRAWN)
"""Their names. The first one is the default."""


class LookCatalogue(Mapping[str, Look]):
    """The looks by name, the default first. Each is drawn when it is asked for, and then kept."""

    def __getitem__(self, name: str) -> Look:
        return look(name)

    def __iter__(self) -> Iterator[str]:
        return iter(LOOKS)

    def __len__(self) -> int:
        return len(LOOKS)


@cache
def look(name: str) -> Look:
    """The look of this name, drawn once. Raises KeyError."""
    return _DRAWN[name]()
