"""The bodies of OpenAI's Conversations API, and its objects. Used by `gateway.responses.conversation_routes`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from duologue.wire.responses.item_bodies import Items
from duologue.wire.responses.response_body import Metadata
from duologue.wire.validation import Body

MOST_AT_ONCE = 20
"""Items that one request may add, as at OpenAI."""


class ConversationCreateBody(Body):
    items: Annotated[Items, Field(max_length=MOST_AT_ONCE)] = Field(default=[])
    metadata: Metadata = Field(default={})


class ConversationUpdateBody(Body):
    metadata: Metadata = Field(default={})


class ConversationItemsBody(Body):
    items: Annotated[Items, Field(min_length=1, max_length=MOST_AT_ONCE)]


def conversation_object(id: str, created: int, metadata: Mapping[str, str]) -> dict[str, Any]:
    """A conversation; `created` in seconds."""
    return {"id": id, "object": "conversation", "created_at": created, "metadata": dict(metadata)}


def deleted_object(id: str, kind: str) -> dict[str, Any]:
    """What the deletion of an object is answered with."""
    return {"id": id, "object": kind, "deleted": True}
