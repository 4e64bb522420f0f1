"""`/api/gateways`, for admins: the gateways of this database."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from msgspec import to_builtins

from duologue.gateway.auth.middleware import admin
from duologue.gateway.cluster.membership import Membership


def router(membership: Membership) -> APIRouter:
    """The route."""
    routes = APIRouter(tags=["operations"], prefix="/api", dependencies=[Depends(admin)])

    @routes.get("/gateways", summary="The gateways of this database")
    async def list_gateways() -> dict[str, Any]:
        """As of the last look, a third of `cluster.lease_s` ago at most; the oldest first, with those that died in the last hour.
        `id` is the process, `instance` its data folder, `own` marks the one that answers. Times are milliseconds of the database's
        clock, 0 on SQLite, where there is one gateway."""
        own = membership.id
        return {"gateways": [to_builtins(entry) | {"own": entry.id == own} for entry in membership.entries]}

    return routes
