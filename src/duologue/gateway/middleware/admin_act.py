"""Marks a request as the act of an admin, which the audit log records: pure, over the request's state.

The guards of `gateway/auth` mark it, routes add what they know, and `gateway/audit` reads both.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

MARK = "admin_act"
"""The name in the state of a request. Routes outside this room, such as those of tool servers, are known by their path instead."""
READING = frozenset({"GET", "HEAD", "OPTIONS"})


def mark(scope: MutableMapping[str, Any]) -> None:
    """Call this an act of an admin, if it changes anything. Nothing that only reads is one."""
    if scope["method"] not in READING:
        scope["state"].setdefault(MARK, {})


def note(scope: MutableMapping[str, Any], *, target: str = "", **details: Any) -> None:
    """Add what the request itself does not say, such as the id of what was made. Never a secret."""
    known = scope["state"].setdefault(MARK, {})
    known.update(details)
    if target:
        known["target"] = target


def noted(scope: MutableMapping[str, Any]) -> dict[str, Any] | None:
    """What was noted; None if the request is no act of an admin."""
    known: dict[str, Any] | None = scope.get("state", {}).get(MARK)
    return known
