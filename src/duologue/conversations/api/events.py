"""`/api/events`: changes of a user's list of conversations, for every tab and device.

Owns this route; `list_feed.py` numbers and remembers the events.
"""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request
from starlette.responses import Response

from duologue.conversations.list_feed import Feed
from duologue.http.event_log import event_response
from duologue.http.json_api import user_of
from duologue.http.openapi import documented
from duologue.values.runs import ListEvent


def router(feed: Feed) -> APIRouter:
    """The endpoint."""
    routes = APIRouter(prefix="/api", tags=["conversations"])

    @routes.get(
        "/events",
        summary="Changes of the list of conversations",
        openapi_extra=documented(
            answers=ListEvent,
            media="text/event-stream",
            says="Events, each with its number as `id`",
            query={"after": "the number of the last event that was seen, as `Last-Event-ID` is"},
        ),
    )
    async def follow_list(request: Request) -> Response:
        """From now on, or after the event named by `Last-Event-ID`; `reset` when events since then are missing."""
        return event_response(request, partial(feed.events, user_of(request)), feed.number)

    return routes
