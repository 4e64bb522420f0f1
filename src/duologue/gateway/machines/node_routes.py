"""The part of `/api/admin` about the nodes of the Ray cluster: what they have, what waits for room, and draining one before it goes."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter, Depends

from duologue.gateway.auth.middleware import admin
from duologue.gateway.machines.ray_places import RayPlaces


def router(places: RayPlaces, grace: float) -> APIRouter:
    """The routes. `grace`: seconds that what runs has to end."""
    routes = APIRouter(tags=["operations"], prefix="/api/admin", dependencies=[Depends(admin)])

    @routes.get("/nodes", summary="The nodes of the Ray cluster")
    async def nodes() -> dict[str, Any]:
        """The nodes that are alive, with their resources in total and free, and the workers on each; and the demand for which there is no
        room, as the cluster's autoscaler sees it."""
        connected = places.connected
        return {
            "cluster": None if connected is None else msgspec.to_builtins(connected),
            "nodes": [
                msgspec.to_builtins(node) | {"workers": places.workers_on(node.node)}
                for node in places.cluster.nodes
            ],
            "wanted": msgspec.to_builtins(places.cluster.wanted),
        }

    @routes.post("/nodes/{node}/drain", summary="Drain a node of the Ray cluster", status_code=202)
    async def drain(node: str) -> dict[str, Any]:
        """Places nothing new on this node, and moves its workers to others, one after another. Where there is room, a new worker is ready
        before the old one stops. It cannot be undone: the node leaves the cluster when it is empty. 404 `node_not_found`."""
        places.drain_node(node, grace)
        return await nodes()

    return routes
