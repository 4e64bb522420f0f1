"""`/api/admin`, for admins: the metrics of the last hour, and restarting a worker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from msgspec import to_builtins

from duologue.errors import NotFound
from duologue.gateway.admin.metrics_history import STEP, MetricsHistory
from duologue.gateway.auth.middleware import admin
from duologue.gateway.scheduling.pool import Pool


def router(
    pools: Sequence[Pool],
    history: MetricsHistory,
    now: Callable[[], float],
    restarted: Callable[[Iterable[str]], Awaitable[None]],
) -> APIRouter:
    """The routes, over the workers of these pools. `now` gives Unix seconds; `restarted` hears which workers are restarted, and so drained
    no longer."""
    routes = APIRouter(tags=["operations"], prefix="/api/admin", dependencies=[Depends(admin)])

    @routes.get("/figures", summary="The metrics of the last hour")
    async def last_hour(
        since: Annotated[float, Query(description="Unix seconds: only samples that ended later.")] = 0.0,
    ) -> dict[str, Any]:
        """Samples of five seconds, the oldest first. Spreads are in milliseconds, null if nothing was measured."""
        return {"now": now(), "step": int(STEP), "samples": to_builtins(history.since(since))}

    @routes.post("/workers/{name:path}/restart", summary="Restart a worker", status_code=202)
    async def restart(name: str) -> dict[str, str]:
        """Ends its process and starts it again at once. Its running replies end with `worker_restarted`; waiting requests keep
        their place. This ends a drain of the worker, at all servers of the database."""
        pool = next((pool for pool in pools if name in pool.workers), None)
        if pool is None:
            known = ", ".join(worker for pool in pools for worker in pool.workers) or "none"
            raise NotFound(
                f"There is no worker {name[:100]!r}. Known: {known}.",
                code="worker_not_found",
                param="name",
            )
        pool.restart(name)
        await restarted([name])
        return {"worker": name}

    return routes
