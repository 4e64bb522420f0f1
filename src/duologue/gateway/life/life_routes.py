"""The part of `/api/admin` about the life of the server and its workers: drain, undo, rolling restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Body, Depends, Request

from duologue.errors import Problem
from duologue.gateway.auth.middleware import admin

if TYPE_CHECKING:
    from duologue.gateway.life.service import LifeService


def router(life: LifeService) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["operations"], prefix="/api/admin", dependencies=[Depends(admin)])

    def record(request: Request, act: str, target: str) -> None:
        life.record(str(request.scope.get("state", {}).get("user", "local")), act, target)

    @routes.get("/life", summary="What drains, restarts and is scaled")
    async def view() -> dict[str, Any]:
        """Whether the server drains and what still runs, the state of every worker, the rolling restart, and the models that get workers by
        their queues."""
        return life.view()

    @routes.post("/drain", summary="Drain the server", status_code=202)
    async def drain(request: Request) -> dict[str, Any]:
        """Takes no new work from now on: requests are refused with `server_draining`, and `/ready` says 503. What runs goes on;
        `running` says how much that is. The server stays up, until it is stopped or this is undone."""
        life.drain.begin("admin")
        record(request, "server.drain", "server")
        return life.view()

    @routes.delete("/drain", summary="Take new work again")
    async def undo_drain(request: Request) -> dict[str, Any]:
        """Ends a drain. 409 `server_draining` for a server that is stopping."""
        if not life.drain.undo():
            raise Problem(
                "The server is stopping, which cannot be undone.", code="server_draining", status=409
            )
        record(request, "server.resume", "server")
        return life.view()

    @routes.post("/workers/{name:path}/drain", summary="Drain a worker", status_code=202)
    async def drain_worker(name: str, request: Request) -> dict[str, Any]:
        """Nothing new begins on this worker; what runs on it goes on. The other workers of its model take over; without one, its
        requests are refused. One of another machine is drained at all servers of the database."""
        life.pool_of(name)
        await life.worker_drains.drain(name)
        record(request, "worker.drain", name)
        return life.view()

    @routes.delete("/workers/{name:path}/drain", summary="Let a drained worker work again")
    async def undo_worker(name: str, request: Request) -> dict[str, Any]:
        """Ends the drain of a worker. 409 `worker_retiring` for one that is being unloaded."""
        life.pool_of(name)
        await life.worker_drains.resume(name)
        record(request, "worker.resume", name)
        return life.view()

    @routes.post("/restart", summary="Replace every worker, one after another", status_code=202)
    async def restart(
        request: Request,
        workers: Annotated[
            list[str] | None, Body(embed=True, description="Their names; without it all workers.")
        ] = None,
    ) -> dict[str, Any]:
        """A rolling restart: where memory permits, a new worker is ready before the old one goes; otherwise a worker ends what it runs, at
        most for the grace, and starts again while requests wait. `GET /api/admin/life` says how far it is. 409 `restart_running`."""
        names = [name for pool in life.pools for name in pool.workers]
        for name in workers or ():
            life.pool_of(name)
        life.restart.start(workers or names)
        # A worker that was restarted works again.
        await life.worker_drains.forget(workers or names)
        record(request, "workers.restart", ", ".join(workers or names))
        return life.view()

    return routes
