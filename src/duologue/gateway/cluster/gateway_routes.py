"""`/api/gateways`, for admins: the gateways of this database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends
from msgspec import to_builtins

from duologue.gateway.auth.middleware import admin
from duologue.gateway.cluster.membership import Membership
from duologue.values.cluster.gateway_entry import GatewayEntry

if TYPE_CHECKING:
    from duologue.store.cluster.gateway_rows import GatewayWork


def router(membership: Membership) -> APIRouter:
    """The route."""
    routes = APIRouter(tags=["operations"], prefix="/api", dependencies=[Depends(admin)])

    @routes.get("/gateways", summary="The gateways of this database")
    async def list_gateways() -> dict[str, Any]:
        """The oldest first, with those that died in the last hour. `id` is the process, `instance` its data folder, `own` marks the one
        that answers; `running` counts the replies of conversations that it is writing, and `heard_s` the seconds since it last renewed its
        lease, if its `cluster.lease_s` is that of this gateway. Times are milliseconds of the database's clock. On SQLite, where there is one gateway, times
        are 0, and `running` and `heard_s` null."""
        if membership.rows is None:
            work, entries = None, membership.entries
        else:
            # The time first: a lease that is renewed in between was heard just now.
            work, entries = await membership.rows.work(), await membership.rows.all()
        return {"gateways": [_told(entry, work, membership) for entry in entries]}

    return routes


def _told(entry: GatewayEntry, work: GatewayWork | None, membership: Membership) -> dict[str, Any]:
    told: dict[str, Any] = {**to_builtins(entry), "own": entry.id == membership.id}
    if work is None:
        return told | {"running": None, "heard_s": None}
    since = work.now / 1000 - (entry.lease_until / 1000 - membership.lease_s)
    return told | {"running": work.running.get(entry.id, 0), "heard_s": round(max(0.0, since), 1)}
