"""Status routes: health, readiness, workers, the queue, and the capabilities that the page asks for at its start.

Owns the field names of these views. Reads the pools and changes nothing, except that a ticket can be cancelled.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse

from duologue import __version__
from duologue.errors import NotFound, Problem, Unavailable
from duologue.gateway.apps.modes import APPS, AppId
from duologue.gateway.middleware.proxy import base_of
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.queueing.queue_commands import Moved
from duologue.gateway.scheduling.queueing.slots import QueueEntry
from duologue.gateway.scheduling.scheduler import NO_MODEL, Task
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.http.error_responses import problem_body, problem_headers
from duologue.models.recommended import TITLES
from duologue.supervisor.link import GatewayRestarts
from duologue.values.requests import ModelCard

UNREACHABLE = "unreachable"
STATES = ("ready", "loading", UNREACHABLE, "offline", "stopping", "failed")
"""The states of a worker, the best first."""
DUPLEX = frozenset({"omni_duplex", "audio_duplex"})
"""The kinds of work that are duplex sessions."""
IN_DUPLEX, IN_CALL = "duplex_active", "busy_voice"
"""The statuses of a worker that serves duplex sessions, also paused ones in the seats of the voice, and of one that serves only other
work of the voice."""
PAUSED = "duplex_paused"
"""The status of a worker that a paused session has whole, because its model holds the call by itself."""
NO_CHAT_MODEL = (
    "No model that writes replies is loaded. Load one on the models page, or restart the server with one."
)
"""The sentence where there are only models that make vectors or scores."""
RESTING = {"state": "unloaded", "detail": "", "progress": None}
"""The state of a model that was unloaded because nobody used it: the next request loads it."""
BUILD_HEADER = "Duologue-Build"
"""The header in which a page sends its build."""


def router(
    pool: Pool,
    *,
    build: str | None,
    auth_required: Callable[[], bool],
    metrics: Callable[[], Awaitable[str]],
    limits: Mapping[str, int],
    speech: SpeechService | None = None,
    restarts: GatewayRestarts | None = None,
    features: Callable[[], Mapping[str, bool]] = dict,
    ui_defaults: Mapping[str, Any] = MappingProxyType({}),
    coming: Callable[[], Sequence[str]] = list,
    chosen: Callable[[], str] = str,
    aliases: Callable[[], Mapping[str, ModelCard]] = dict,
    apps: Callable[[AppId], bool] = lambda app: True,
    modes: Callable[[], Mapping[str, Any]] = dict,
    drain: Callable[[], Problem | None] = lambda: None,
    resting: Callable[[], Sequence[ModelCard]] = tuple,
    allows: Callable[[str], bool] = lambda model: True,
) -> APIRouter:
    """`/health`, `/ready`, `/status`, `/workers`, `/metrics`, `/api/queue`, `/api/capabilities`. `coming`: models still to be loaded at
    the start; `features`: what else users may do; `chosen`: the default model of an admin; `aliases`: other names of models; `apps`: whether a mode is switched on; `modes`: whether each can be used, and how; `drain`: what new work is
    refused with, if it is; `resting`: the models that were unloaded because nobody used them, the default first; `allows`: whether the key in use may
    use a model."""
    routes, voice = APIRouter(tags=["operations"]), speech or SpeechService(None)
    _add_health(routes)

    @routes.get("/ready", summary="Whether a chat can be answered")
    @routes.head("/ready", include_in_schema=False)
    async def ready(request: Request) -> JSONResponse:
        """200 if a chat with the default model can be answered, else 503 with the reason."""
        state, detail = model_state(pool, resting())
        refusal = drain()
        if state == "ready" and refusal is None:
            return JSONResponse({"status": "ready"})
        if refusal is not None:
            state = "draining"
        problem = refusal or Unavailable(detail, code=f"model_{state}")
        body = problem_body(problem, "/ready") | {"status": state}
        return JSONResponse(body, 503, headers=problem_headers(problem))

    @routes.get("/status", summary="Workers, slots, seats and running requests")
    async def status() -> dict[str, Any]:
        """Counts of workers, slots and seats, and the running requests."""
        return overview(pool, voice.seats, restarts)

    @routes.get("/workers", summary="Every worker")
    async def workers() -> dict[str, Any]:
        """Every worker."""
        rows = worker_rows(pool, voice.seats)
        return {"total": len(rows), "workers": rows}

    @routes.get(
        "/metrics", response_class=PlainTextResponse, summary="Counters and histograms for Prometheus"
    )
    async def prometheus() -> PlainTextResponse:
        """Counters and histograms, in Prometheus' text format."""
        return PlainTextResponse(await metrics(), media_type="text/plain; version=0.0.4")

    @routes.get("/api/capabilities", summary="What this server can do")
    async def capabilities(request: Request) -> dict[str, Any]:
        """What this server can do, for the page."""
        return {
            "version": __version__,
            "build": build,
            "outdated": is_outdated(request, build),
            "base_path": base_of(request.scope),
            **models_view(pool, chosen(), coming(), aliases(), resting(), allows),
            **_user_fields(request, auth_required(), {**voice.features(), **features()}),
            "apps": {app.id: apps(app.id) for app in APPS},
            "modes": dict(modes()),
            "voice": voice.view(),
            "limits": dict(limits),
            "ui": {"defaults": dict(ui_defaults)},
        }

    _add_queue(routes, pool, voice)
    return routes


def _add_health(routes: APIRouter) -> None:
    @routes.get("/health", summary="Whether the gateway is running")
    @routes.head("/health", include_in_schema=False)
    @routes.get("/v1/health", include_in_schema=False)  # as llama-server has it too
    async def health() -> dict[str, Any]:
        """Whether the gateway itself is running, with or without a model."""
        return {"status": "healthy", "version": __version__, "timestamp": time.time()}


def _add_queue(routes: APIRouter, pool: Pool, voice: SpeechService) -> None:
    @routes.get("/api/queue", summary="Waiting and running requests")
    async def queue() -> dict[str, Any]:
        """The waiting and the running requests."""
        return await waiting(pool, voice.seats)

    @routes.get("/api/queue/{ticket}", summary="One waiting request")
    async def ticket(ticket: str) -> dict[str, Any]:
        """The place of the request that waits with this ticket; `found` is false once it waits no longer."""
        return place_of(ticket, pool, voice.seats)

    @routes.delete("/api/queue/{ticket}", summary="Cancel a waiting request")
    async def cancel(ticket: str, request: Request) -> dict[str, Any]:
        """Ends the request that waits with this ticket with `cancelled`. For its owner and admins."""
        person = request.scope.get("state", {})
        user = None if person.get("role", "admin") == "admin" else str(person.get("user", "local"))
        pools = [pool] if voice.seats is None else [pool, voice.seats]
        if not any(each.cancel(ticket, user) for each in pools):
            raise NotFound(
                f"No request is waiting with the ticket {ticket[:64]!r}.",
                code="ticket_not_found",
                param="ticket",
            )
        return {"cancelled": ticket, "success": True}


def is_outdated(request: Request, build: str | None) -> bool:
    """Whether the request comes from a page of another build than this server's."""
    return build is not None and request.headers.get(BUILD_HEADER, build) != build


def _user_fields(request: Request, required: bool, voice: Mapping[str, bool]) -> dict[str, Any]:
    """The current user, and the features they may use."""
    person = request.scope.get("state", {})
    is_admin = person.get("role", "admin") == "admin"
    return {
        "features": {**voice, "conversations": True, "models": is_admin, "admin": is_admin},
        "auth": {
            "required": required,
            "user": person.get("user", "local"),
            "name": person.get("name", "local"),
            "role": person.get("role", "admin"),
            "keyed": bool(person.get("keyed")),
        },
    }


def model_state(pool: Pool, resting: Sequence[ModelCard] = ()) -> tuple[str, str]:
    """The default model's state ("ready", "loading", "restarting", "failed" or "empty") and a sentence about it. A model that rests is
    loaded by the next request."""
    if pool.ready or (resting and not pool.workers_of("")):
        return "ready", ""
    group = pool.workers_of("")
    if not group:
        return "empty", NO_MODEL
    first = group[0]
    if all(view.state == "failed" for view in group):
        return "failed", first.detail
    if any(view.restarts for view in group):
        return "restarting", f"The worker of {first.model} ended unexpectedly and is being restarted."
    return "loading", loading_message(first.model)


def loading_message(model: str) -> str:
    return f"The model {model} is loading."


def models_view(
    pool: Pool,
    default: str,
    coming: Sequence[str],
    aliases: Mapping[str, ModelCard],
    resting: Sequence[ModelCard] = (),
    allows: Callable[[str], bool] = lambda model: True,
) -> dict[str, Any]:
    """What the page knows of models: the state of the default one, every model that its key may use, and their aliases."""
    rows = model_rows(pool, default, coming)
    rows += [model_row(card) | RESTING for card in resting if card.chats]
    rows = [row for row in rows if allows(row["name"])]
    state, detail = model_state(pool, resting)
    if default in coming:
        state, detail = "loading", loading_message(default)
    if not rows:
        state, detail = "empty", NO_CHAT_MODEL if pool.cards() else NO_MODEL
    return {
        "state": state,
        "detail": detail,
        "default_model": rows[0]["name"] if rows else None,
        "models": rows,
        "titles": TITLES,
        "aliases": {alias: card.name for alias, card in aliases.items()},
    }


def model_rows(pool: Pool, default: str, coming: Sequence[str]) -> list[dict[str, Any]]:
    """Every model that chats, the default first: those of the pool, and those that the start of the server is still to load (`coming`), one of
    which may be the `default` that was chosen."""
    rows = [model_row(card) | card_state(pool, card) for card in pool.cards() if card.chats]
    known = {row["name"] for row in rows}
    unknown = {"state": "loading", "detail": "", "progress": None}
    rows += [model_row(ModelCard(name, "", 0)) | unknown for name in coming if name not in known]
    return sorted(rows, key=lambda row: row["name"] != default) if default in coming else rows


def card_state(pool: Pool, card: ModelCard) -> dict[str, Any]:
    """A model's state ("ready", "loading", "failed" or "offline"), a sentence about it, and how much of it is loaded (0 to 1,
    None if unknown): those of the best of its workers."""
    views = pool.workers_of(card.name)
    best = min(views, key=lambda view: STATES.index(view.state), default=None)
    if best is None:
        return {"state": "offline", "detail": "", "progress": None}
    state = "offline" if best.state in ("stopping", UNREACHABLE) else best.state
    return {"state": state, "detail": best.detail, "progress": best.progress}


def overview(pool: Pool, seats: Pool | None = None, gateway: GatewayRestarts | None = None) -> dict[str, Any]:
    """The body of `/status`. Its workers are the rows of `/workers`, each counted once; slots are those of the models, seats those of the
    voice (`seats`). `gateway` says how often the gateway fell, and how it did last."""
    gateway = gateway or GatewayRestarts()
    queue, views = pool.scheduler, list(pool.workers.values())
    statuses = [str(row["status"]) for row in worker_rows(pool, seats)]
    return {
        "gateway_healthy": True,
        "total_workers": len(statuses),
        "idle_workers": statuses.count("idle"),
        "busy_workers": sum(status.startswith("busy") for status in statuses),
        "duplex_workers": sum(status in (IN_DUPLEX, PAUSED) for status in statuses),
        "loading_workers": statuses.count("loading"),
        "error_workers": statuses.count("error"),
        "offline_workers": sum(statuses.count(status) for status in ("offline", "stopping", UNREACHABLE)),
        "slots_total": sum(queue.slots(view.worker) for view in views),
        "slots_busy": sum(queue.busy(view.worker) for view in views),
        "seats_total": 0 if seats is None else sum(seats.scheduler.slots(name) for name in seats.workers),
        "seats_busy": 0 if seats is None else sum(seats.scheduler.busy(name) for name in seats.workers),
        "queue_length": len(queue.entries()) + (0 if seats is None else len(seats.scheduler.entries())),
        "max_queue_size": queue.limit,
        "restarts": sum(view.restarts for view in views),
        "gateway_restarts": gateway.number,
        "gateway_last_end": gateway.reason or None,
        "gateway_last_end_at": gateway.at or None,
        "running_tasks": [*running(pool), *(running(seats) if seats is not None else ())],
    }


def _serving_duplex(seats: Pool) -> set[str]:
    return {task.worker for task in seats.scheduler.tasks(seats.now()) if task.kind in DUPLEX}


async def waiting(pool: Pool, seats: Pool | None = None) -> dict[str, Any]:
    """The body of `/api/queue`: the requests that wait for a slot, then those that wait for a seat."""
    pools = (pool,) if seats is None else (pool, seats)
    items = [item for each in pools for item in await _waiting(each)]
    return {
        "queue_length": len(items),
        "max_queue_size": pool.scheduler.limit,
        "items": items,
        "running_tasks": [task for each in pools for task in running(each)],
    }


def place_of(ticket: str, pool: Pool, seats: Pool | None = None) -> dict[str, Any]:
    """The body of `/api/queue/{ticket}`, with the fields of the MiniCPM-o demo."""
    for each in (pool,) if seats is None else (pool, seats):
        entry, place = each.scheduler.waiting(ticket), each.scheduler.place(ticket, each.now())
        if entry is not None and place is not None:
            return {"found": True, "ticket": _waiting_row(entry, place, each.now())}
    return {"found": False, "message": f"No request is waiting with the ticket {ticket[:64]!r}."}


async def _waiting(pool: Pool) -> list[dict[str, Any]]:
    places = await pool.places()
    # Some may have got their slots meanwhile.
    found = [(pool.scheduler.waiting(place.ticket), place) for place in places]
    return [_waiting_row(entry, place, pool.now()) for entry, place in found if entry is not None]


def _waiting_row(entry: QueueEntry, place: Moved, at: float) -> dict[str, Any]:
    return {
        "ticket_id": entry.ticket,
        "request_type": entry.kind,
        "session_id": None,
        "model": entry.model,
        "position": place.position,
        "estimated_wait_s": place.wait,
        "eta_seconds": place.wait,
        "wait_elapsed_s": round(at - entry.since, 3),
        "enqueued_at": time.time() - (at - entry.since),
    }


def running(pool: Pool) -> list[dict[str, Any]]:
    """One row a slot, but one for a session that has its worker whole."""
    tasks = pool.scheduler.tasks(pool.now())
    once = {task.ticket if task.kind in DUPLEX else number: task for number, task in enumerate(tasks)}
    return [_task_row(task) for task in once.values()]


def _task_row(task: Task) -> dict[str, Any]:
    return {
        "worker_id": task.worker,
        "ticket_id": task.ticket,
        "request_type": task.kind,
        "started_at": time.time() - task.elapsed,
        "elapsed_s": round(task.elapsed, 3),
        "estimated_remaining_s": round(task.remaining, 1),
    }


def worker_rows(pool: Pool, seats: Pool | None = None) -> list[dict[str, Any]]:
    """The rows of `/workers`: the models' workers, then that of the voice. Clients of duplex sessions read "idle" as: mine would begin at
    once. The models serve the sessions in the seats, so none of their workers is idle while every seat is taken."""
    rows = [worker_row(pool, view) for view in pool.workers.values()]
    if seats is None:
        return rows
    total = sum(seats.scheduler.slots(name) for name in seats.workers)
    if 0 < total <= sum(seats.scheduler.busy(name) for name in seats.workers):
        status = IN_DUPLEX if _serving_duplex(seats) else IN_CALL
        rows = [row | {"status": status} if row["status"] == "idle" else row for row in rows]
    return rows + [voice_row(seats, view) for view in seats.workers.values()]


def worker_row(pool: Pool, view: WorkerStatus) -> dict[str, Any]:
    queue = pool.scheduler
    served, seconds = queue.totals(view.worker)
    own = [task for task in queue.tasks(pool.now()) if task.worker == view.worker]
    status = view.state
    if view.state == "ready":
        status = "busy_chat" if own else "idle"
        if duplex := [task for task in own if task.kind in DUPLEX]:
            status = PAUSED if all(pool.is_paused(task.ticket) for task in duplex) else IN_DUPLEX
    return {
        "worker_id": view.worker,
        "host": view.machine or "127.0.0.1",
        "machine": view.machine,
        "unreachable_s": None
        if view.unreachable_since is None
        else round(pool.now() - view.unreachable_since, 1),
        "port": view.port,
        "process": view.process,
        "gpu_id": view.gpu,
        "device": view.runs_on,
        "engine": view.engine,
        "model": view.upstream or (view.card.name if view.card else view.model),
        "status": "error" if status == "failed" else status,
        "detail": view.detail,
        "progress": view.progress,
        "draining": view.draining,
        "retiring": view.retiring,
        "note": view.note,
        "last_end": view.ended or None,
        "slots_total": queue.slots(view.worker),
        "slots_busy": len(own),
        "seats_total": 0,
        "seats_busy": 0,
        "restarts": view.restarts,
        "replicas": [msgspec.to_builtins(replica) for replica in view.card.replicas] if view.card else [],
        "current_session_id": None,
        "total_requests": served,
        "avg_inference_time_ms": round(1000 * seconds / served, 1) if served else 0.0,
        "last_heartbeat": view.last_report or None,
        "current_request_type": own[0].kind if own else None,
        "task_started_at": time.time() - own[0].elapsed if own else None,
    }


def voice_row(seats: Pool, view: WorkerStatus) -> dict[str, Any]:
    """The row of the voice worker, which has seats instead of slots."""
    row = worker_row(seats, view)
    total, busy = row["slots_total"], row["slots_busy"]
    status = row["status"]
    if view.state == "ready" and busy:
        status = IN_DUPLEX if view.worker in _serving_duplex(seats) else IN_CALL
    failures = view.speech.failures if view.speech is not None else ()
    return row | {
        "status": status,
        "detail": row["detail"] or " ".join(failures),
        "slots_total": 0,
        "slots_busy": 0,
        "seats_total": total,
        "seats_busy": busy,
    }


def model_row(card: ModelCard) -> dict[str, Any]:
    return {
        "name": card.name,
        "title": TITLES.get(card.name, card.name),
        "engine": card.engine,
        "context": card.context,
        "trained_context": card.trained_context,
        "slots": card.slots,
        "parameters": card.parameters,
        "size": card.size,
        "description": card.description,
        "bundled": card.bundled,
        "modalities": list(card.modalities),
        "untold": list(card.untold),
        "outputs": list(card.outputs),
        "voices": list(card.voices),
        "clones": card.clones,
        "verbs": list(card.verbs),
        "sampling": list(card.sampling),
        "defaults": dict(card.defaults),
        "warnings": list(card.warnings),
        "upstream": card.upstream or None,
    }
