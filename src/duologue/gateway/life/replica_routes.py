"""The part of `/api/admin` about a model on several servers: takes one of them out of service and back in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from duologue.gateway.auth.middleware import admin

if TYPE_CHECKING:
    from duologue.gateway.life.service import LifeService

ReplicaUrl = Annotated[
    str, Query(max_length=2000, description="The address of the server, as the worker's `replicas` have it.")
]


def router(life: LifeService) -> APIRouter:
    """The routes."""
    routes = APIRouter(
        tags=["operations"], prefix="/api/admin/workers/{name:path}/replicas", dependencies=[Depends(admin)]
    )

    async def change(name: str, request: Request, url: str, drained: bool) -> dict[str, Any]:
        await life.pool_of(name).drain_replica(name, url, drained)
        user = str(request.scope.get("state", {}).get("user", "local"))
        life.record(user, "replica.drain" if drained else "replica.resume", url)
        return life.view()

    @routes.post("/drain", summary="Drain one server of a model", status_code=202)
    async def drain(name: str, request: Request, url: ReplicaUrl) -> dict[str, Any]:
        """One of several servers with the same model gets no new requests; what runs there goes on, and the others take over."""
        return await change(name, request, url, True)

    @routes.delete("/drain", summary="Let a drained server of a model work again")
    async def undo(name: str, request: Request, url: ReplicaUrl) -> dict[str, Any]:
        """Ends the drain of a server."""
        return await change(name, request, url, False)

    return routes
