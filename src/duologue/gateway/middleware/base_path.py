"""Where under a name the server answers: the path that a proxy, or the operator, put before every address of ours.

One decision, in `strip_base_path`. Knows no endpoint and no header. Locations are relative, so that they lead home also behind a
proxy that takes away a prefix nobody told us of.
"""

from __future__ import annotations

from msgspec import Struct


class Inside(Struct, frozen=True):
    """Ours: the address without what stands before it, and what does, as the client sees it ("" or "/x")."""

    path: str
    base: str


class Elsewhere(Struct, frozen=True):
    """Not the address itself, but near it: where to go instead, relative to what was asked for."""

    location: str
    only_for_browsers: bool = False
    """Whether a program that asks for it is rather told that it is wrong."""


class Outside(Struct, frozen=True):
    """Not ours."""


Place = Inside | Elsewhere | Outside


def strip_base_path(path: str, base: str = "", prefix: str = "") -> Place:
    """What the address `path` is for a server under `base` ("" or "/x", "/x/y"). `prefix`: what a proxy says it took away
    from the front of the address.

    A proxy may keep the base or take it away and say so; both end at the same place. Where one says that it took the
    base and the address has it still, it did not.
    """
    if not base:
        return Inside(path, prefix)
    if path.startswith(f"{base}/"):
        return Inside(path[len(base) :], prefix if prefix.endswith(base) else prefix + base)
    if path == base:
        return Elsewhere(base.rpartition("/")[2] + "/")
    if prefix.endswith(base):
        return Inside(path, prefix)
    if path == "/":
        return Elsewhere(base[1:] + "/", only_for_browsers=True)
    return Outside()
