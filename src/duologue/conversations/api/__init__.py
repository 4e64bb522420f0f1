"""The conversations API as one router: every `/api` route for conversations, runs, files and tools.

Mounted by `gateway/app.py`. The routes of tools are imported with the service, because they load the MCP SDK.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter

from duologue.conversations.api import (
    conversations,
    events,
    files,
    import_export,
    messages,
    runs,
    uploads,
    user_data,
)

if TYPE_CHECKING:
    from duologue.conversations.service import Service


def router(service: Service) -> APIRouter:
    """Every route, over an opened service."""
    from duologue.tools import routes as tool_routes

    routes = APIRouter()
    for part in (conversations, messages, runs, user_data, import_export):
        routes.include_router(part.router(service))
    routes.include_router(events.router(service.feed))
    routes.include_router(files.router(service.blobs, service.limits, service.resolve, service.hears))
    routes.include_router(uploads.router(service.uploads))
    if service.toolbox is not None:
        routes.include_router(tool_routes.router(service.toolbox, service.keep))
    return routes
