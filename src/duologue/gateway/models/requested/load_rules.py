"""Who may have a model loaded by naming it, and which models make room for it.

Pure. `inline_loads` asks here and acts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from duologue.config.sections.loading import ADMINS, EVERYONE, OFF


def may_load(allowed: Sequence[str], *, user: str, name: str, is_admin: bool) -> bool:
    """Whether this user may. `allowed` is the setting `loading.by_request`: words, and names or ids of users."""
    if OFF in allowed:
        return False
    return (
        EVERYONE in allowed
        or (ADMINS in allowed and is_admin)
        or bool({user, name} & set(allowed) - {OFF, EVERYONE, ADMINS})
    )


class RemovableModel(Struct, frozen=True):
    """A model in memory: the bytes that unloading it gives back, whether something runs on it or waits for it, and when it was last used
    (seconds, any origin)."""

    name: str
    size: int
    busy: bool
    used: float


class Room(Struct, frozen=True):
    """What to do about `missing` bytes: `unload` these models, and then, or if there are none, load if `enough`; else `wait` until others
    are idle, or give up."""

    unload: tuple[str, ...] = ()
    enough: bool = False
    wait: bool = False


def make_room(missing: int, loaded: Iterable[RemovableModel]) -> Room:
    """Which of the models that requests had loaded make room, the least recently used first and no more than needed. Nothing is unloaded
    where that would not be enough: a model that is unloaded for nothing is missed later."""
    if missing <= 0:
        return Room(enough=True)
    loaded = sorted(loaded, key=lambda model: model.used)
    unload: list[str] = []
    for model in loaded:
        if missing > 0 and not model.busy:
            unload.append(model.name)
            missing -= model.size
    if missing <= 0:
        return Room(tuple(unload), enough=True)
    return Room(wait=missing <= sum(model.size for model in loaded if model.busy))
