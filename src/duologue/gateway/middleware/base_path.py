"""The base path: the prefix that a proxy, or the operator, put before every URL of this server.

One decision, `strip_base_path`, made for every request by the proxy middleware. Redirects are relative, so that they also work
behind a proxy that strips a prefix without saying so.
"""

from __future__ import annotations

from msgspec import Struct


class Inside(Struct, frozen=True):
    """The request is for this server: its path without the prefix, and the prefix as the client sees it ("" or "/x")."""

    path: str
    base: str


class Elsewhere(Struct, frozen=True):
    """The path is close to the base: redirect to `location`, relative to the requested path."""

    location: str
    browsers_only: bool = False
    """Redirect only requests for HTML; other clients get an error, which shows them that their URL is wrong."""


class Outside(Struct, frozen=True):
    """The path is not under the base."""


Place = Inside | Elsewhere | Outside


def strip_base_path(path: str, base: str = "", prefix: str = "") -> Place:
    """Where `path` is for a server under `base` ("" or "/x", "/x/y"). `prefix`: what a proxy says it stripped from the path.

    A proxy may keep the base, or strip it and say so; both give the same result. If it says that it stripped the base and
    the path still begins with it, the path counts.
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
        return Elsewhere(base[1:] + "/", browsers_only=True)
    return Outside()
