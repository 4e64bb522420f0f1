"""Responses and conversations of OpenAI's API as the database keeps them. Not the chats of the page."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

ItemSide = Literal["input", "output"]


class StoredItem(Struct, frozen=True):
    """An item with its id; `files` are the hashes of its media. `size`: of one that was read, how long it is as JSON."""

    id: str
    item: dict[str, Any]
    side: ItemSide = "input"
    files: tuple[str, ...] = ()
    size: int = 0


class ItemBounds(Struct, frozen=True):
    """How many items are read at a time at most, and of how many bytes together."""

    items: int
    size: int


class ItemPage(Struct, frozen=True):
    """Which items of a list are asked for: up to `limit` behind the one with the id `after`, or from the start where there is none."""

    limit: int
    after: str | None = None
    ascending: bool = False


class StoredResponse(Struct, frozen=True):
    """`response`: the object as clients get it, without its output, which is among the items. Times are milliseconds."""

    id: str
    user: str
    status: str
    response: dict[str, Any]
    previous: str | None = None
    conversation: str | None = None
    background: bool = False
    created: int = 0


class ApiConversation(Struct, frozen=True):
    """A conversation of the API; `created` in milliseconds."""

    id: str
    user: str
    metadata: dict[str, str] = {}
    created: int = 0
