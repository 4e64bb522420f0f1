"""How the server is: health, readiness, workers, queue, and what the page may offer.

Owns these views' field names. Knows the pool only to look at it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse

from duologue import __version__
from duologue.errors import Unavailable
from duologue.gateway.pool import Pool, WorkerView
from duologue.gateway.problems import problem_body
from duologue.gateway.queue import Task
from duologue.values.requests import ModelCard


def router(
    pool: Pool,
    *,
    build: str | None,
    auth_required: Callable[[], bool],
    metrics: Callable[[], str],
    limits: Mapping[str, int],
) -> APIRouter:
    """The routes under `/health`, `/ready`, `/status`, `/workers`, `/metrics`, `/api/queue`, `/api/capabilities`."""
    routes = APIRouter(tags=["operations"])

    @routes.get("/health", summary="Whether the gateway is alive")
    @routes.head("/health", include_in_schema=False)
    async def health() -> dict[str, Any]:
        """Whether the gateway itself is alive."""
        return {"status": "healthy", "version": __version__, "timestamp": time.time()}

    @routes.get("/ready", summary="Whether a chat would be answered")
    @routes.head("/ready", include_in_schema=False)
    async def ready(request: Request) -> JSONResponse:
        """200 once a chat with the default model would be answered, else 503 with the reason."""
        if pool.ready:
            return JSONResponse({"status": "ready"})
        state, detail = standing(pool)
        problem = Unavailable(detail, code=f"model_{state}")
        return JSONResponse(problem_body(problem, "/ready") | {"status": state}, 503)

    @routes.get("/status", summary="Workers, slots and seats, and what runs")
    async def status() -> dict[str, Any]:
        """Counts of workers, slots and seats, and what runs."""
        return overview(pool)

    @routes.get("/workers", summary="Every worker")
    async def workers() -> dict[str, Any]:
        """Every worker."""
        rows = [worker_row(pool, view) for view in pool.workers.values()]
        return {"total": len(rows), "workers": rows}

    @routes.get("/api/queue", summary="Who waits, and what runs")
    async def queue() -> dict[str, Any]:
        """Who waits, and what runs."""
        return waiting(pool)

    @routes.get(
        "/metrics", response_class=PlainTextResponse, summary="Counters and histograms for Prometheus"
    )
    async def prometheus() -> PlainTextResponse:
        """Counters and histograms, in Prometheus' text format."""
        return PlainTextResponse(metrics(), media_type="text/plain; version=0.0.4")

    @routes.get("/api/capabilities", summary="What this server can do")
    async def capabilities(request: Request) -> dict[str, Any]:
        """What this server can do, for the page."""
        state, detail = standing(pool)
        cards = pool.cards()
        person = request.scope.get("state", {})
        return {
            "version": __version__,
            "build": build,
            "state": state,
            "detail": detail,
            "default_model": cards[0].name if cards else None,
            "models": [model_row(card) for card in cards],
            "features": {"voice": False, "conversations": True},
            "auth": {
                "required": auth_required(),
                "user": person.get("user", "local"),
                "name": person.get("name", "local"),
                "role": person.get("role", "admin"),
            },
            "limits": dict(limits),
        }

    return routes


def standing(pool: Pool) -> tuple[str, str]:
    """The default model's state ("ready", "loading", "restarting" or "failed") and a sentence about it."""
    if pool.ready:
        return "ready", ""
    first = next(iter(pool.workers.values()), None)
    if first is None:
        return "failed", "No worker is configured."
    group = [view for view in pool.workers.values() if view.model == first.model]
    if all(view.state == "failed" for view in group):
        return "failed", first.detail
    if any(view.restarts for view in group):
        return "restarting", f"The worker of {first.model} ended unexpectedly and is being restarted."
    return "loading", f"The model {first.model} is loading."


def overview(pool: Pool) -> dict[str, Any]:
    """The body of `/status`."""
    queue, views = pool.queue, list(pool.workers.values())
    busy = [queue.busy(view.worker) for view in views]
    ready = [view.state == "ready" for view in views]
    return {
        "gateway_healthy": True,
        "total_workers": len(views),
        "idle_workers": sum(is_ready and not lent for is_ready, lent in zip(ready, busy, strict=True)),
        "busy_workers": sum(lent > 0 for lent in busy),
        "duplex_workers": 0,
        "loading_workers": sum(view.state == "loading" for view in views),
        "error_workers": sum(view.state == "failed" for view in views),
        "offline_workers": sum(view.state in ("offline", "stopping") for view in views),
        "slots_total": sum(queue.slots(view.worker) for view in views),
        "slots_busy": sum(busy),
        "seats_total": 0,
        "seats_busy": 0,
        "queue_length": len(queue.entries()),
        "max_queue_size": queue.limit,
        "restarts": sum(view.restarts for view in views),
        "running_tasks": running(pool),
    }


def waiting(pool: Pool) -> dict[str, Any]:
    """The body of `/api/queue`."""
    queue, at = pool.queue, pool.now()
    since = {entry.ticket: entry for entry in queue.entries()}
    return {
        "queue_length": len(since),
        "max_queue_size": queue.limit,
        "items": [
            {
                "ticket_id": place.ticket,
                "request_type": since[place.ticket].kind,
                "model": since[place.ticket].model,
                "position": place.position,
                "estimated_wait_s": place.wait,
                "eta_seconds": place.wait,
                "wait_elapsed_s": round(at - since[place.ticket].since, 3),
                "enqueued_at": time.time() - (at - since[place.ticket].since),
            }
            for place in queue.places(at)
        ],
        "running_tasks": running(pool),
    }


def running(pool: Pool) -> list[dict[str, Any]]:
    return [_task_row(task) for task in pool.queue.tasks(pool.now())]


def _task_row(task: Task) -> dict[str, Any]:
    return {
        "worker_id": task.worker,
        "ticket_id": task.ticket,
        "request_type": task.kind,
        "started_at": time.time() - task.elapsed,
        "elapsed_s": round(task.elapsed, 3),
        "estimated_remaining_s": round(task.remaining, 1),
    }


def worker_row(pool: Pool, view: WorkerView) -> dict[str, Any]:
    queue = pool.queue
    served, seconds = queue.totals(view.worker)
    own = [task for task in queue.tasks(pool.now()) if task.worker == view.worker]
    status = view.state
    if view.state == "ready":
        status = "busy_chat" if own else "idle"
    return {
        "worker_id": view.worker,
        "host": "127.0.0.1",
        "port": view.port,
        "process": view.process,
        "gpu_id": None,
        "device": view.device,
        "engine": view.engine,
        "model": view.card.name if view.card else view.model,
        "status": "error" if status == "failed" else status,
        "detail": view.detail,
        "slots_total": queue.slots(view.worker),
        "slots_busy": len(own),
        "restarts": view.restarts,
        "current_session_id": None,
        "total_requests": served,
        "avg_inference_time_ms": round(1000 * seconds / served, 1) if served else 0.0,
        "last_heartbeat": view.heard or None,
        "current_request_type": own[0].kind if own else None,
        "task_started_at": time.time() - own[0].elapsed if own else None,
    }


def model_row(card: ModelCard) -> dict[str, Any]:
    return {
        "name": card.name,
        "engine": card.engine,
        "context": card.context,
        "trained_context": card.trained_context,
        "slots": card.slots,
        "parameters": card.parameters,
        "size": card.size,
        "description": card.description,
        "bundled": card.bundled,
        "modalities": list(card.modalities),
        "verbs": list(card.verbs),
        "sampling": list(card.sampling),
        "warnings": list(card.warnings),
    }
