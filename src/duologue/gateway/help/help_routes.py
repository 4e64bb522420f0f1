"""`/api/help`: questions about Duologue, answered from its documentation."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from msgspec import to_builtins

from duologue.gateway.help.search import HelpSearch
from duologue.threads import ThreadLane


def router(search: HelpSearch) -> APIRouter:
    """The route, for every user."""
    routes = APIRouter(prefix="/api/help", tags=["help"])
    lane = ThreadLane(1, waiting=64, patience=30.0)

    @routes.get("", summary="Search the documentation")
    async def find(
        q: Annotated[str, Query(max_length=300, description="A question, or words of one.")] = "",
    ) -> dict[str, Any]:
        """Sections of the documentation, the best first, each with its page, title and text in Markdown."""
        return {"query": q, "sections": to_builtins(await lane.run(search.find, q))}

    return routes
