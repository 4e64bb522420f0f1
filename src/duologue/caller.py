"""The key on whose behalf a task works: limits, usage and the shares of the queue are counted by it.

The authentication of a request sets it, and every task that the request starts inherits it, as with `telemetry.request_id`. Work that no
request started, such as a batch after a restart, has none, and is counted by its user.
"""

from __future__ import annotations

from contextvars import ContextVar

KEY_OF_SETTINGS = "settings"
"""Stands for the key in the settings, which has no row."""

key_id: ContextVar[str] = ContextVar("key_id", default="")
"""The id of the key; "" where the server needs none or no request asks."""


def share(user: str) -> str:
    """What a user's work is counted by: the key of the running task, or the user where there is none. A key's id never begins with "user:"."""
    return key_id.get() or f"user:{user}"
