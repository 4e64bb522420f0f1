"""The ids of tool calls: Anthropic's begin with `toolu_`, those of our engines do not. Used by `conversation` and `block_sequence`."""

from __future__ import annotations

PREFIX = "toolu_"


def outer_id(id: str) -> str:
    """The id as clients see it."""
    return id if id.startswith(PREFIX) else PREFIX + id


def inner_id(id: str) -> str:
    """The id as the model wrote it."""
    return id.removeprefix(PREFIX)
