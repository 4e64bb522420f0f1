"""Files written by hand to hurt, by the parser they are meant for. `BOMBS` has them all: (kind, name, how to make it)."""

from __future__ import annotations

from collections.abc import Callable

from attack.bombs.archives import ARCHIVES
from attack.bombs.drawings import DRAWINGS
from attack.bombs.papers import PAPERS
from attack.bombs.pictures import PICTURES
from attack.bombs.sounds import SOUNDS

BOMBS: list[tuple[str, str, Callable[[], bytes]]] = [
    (kind, name, make)
    for kind, table in (
        ("svg", DRAWINGS),
        ("png", PICTURES),
        ("pdf", PAPERS),
        ("zip", ARCHIVES),
        ("wav", SOUNDS),
    )
    for name, make in table.items()
]
