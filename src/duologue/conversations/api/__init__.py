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

    parts = [
        *(part.router(service) for part in (conversations, messages, runs, user_data, import_export)),
        events.router(service.feed),
        files.router(service.blobs, service.limits, service.resolve, service.hears),
        uploads.router(service.uploads),
    ]
    if service.toolbox is not None:
        parts.append(tool_routes.router(service.toolbox, service.keep))
    # One list without routers in it: FastAPI examines every route of an included router once more.
    return APIRouter(routes=[route for part in parts for route in part.routes])
