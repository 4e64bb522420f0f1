"""The conversations API as one router: every route of `/api` that is about conversations, runs, files and tools.

Owns which routers there are. `mcp` and its kind are loaded with the service, never by this file alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter

from duologue.conversations.api import conversations, events, files, import_export, messages, runs, user_data

if TYPE_CHECKING:
    from duologue.conversations.service import Service


def router(service: Service) -> APIRouter:
    """Every route, over an opened service."""
    from duologue.tools import routes as tool_routes

    every = APIRouter()
    for part in (conversations, messages, runs, user_data, import_export):
        every.include_router(part.router(service))
    every.include_router(events.router(service.feed))
    every.include_router(files.router(service.blobs, limit=service.limits.blob_mb * 2**20))
    if service.toolbox is not None:
        every.include_router(tool_routes.router(service.toolbox, service.keep))
    return every
