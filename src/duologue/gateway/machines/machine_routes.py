"""`GET /api/machines`: the machines whose workers have joined, for admins.

The answer: `{"join": bool, "lease_s": s, "protocol": int, "oldest_protocol": int, "gateway": id, "address": where
workers reach this server, empty if the settings do not say, "fingerprint": of the certificate that they pin, empty without TLS, "machines": [MACHINE, ...]}`. A MACHINE is
`{"machine": name, "devices": [{"name", "description", "memory", "free"}, ...], "workers": [WORKER, ...]}`, with memory in bytes, 0 where it is
not known; this machine is the first one, with an empty name. A WORKER is `{"worker": name in /workers, "state", "reach": "local" | "joined" |
"unreachable" | "gone", "model", "engine", "device", "slots", "busy", "draining", "restarts", "version", "protocol", "placed", "joined", "seen",
"lease_left", "detail"}`: `joined` and `seen` in seconds since 1970, 0 for a worker of this machine; `lease_left` the seconds that one out of
reach has left, null for others. One that has gone stays in the list for an hour, with `detail` saying why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter, Depends
from msgspec import to_builtins

from duologue import __version__
from duologue.gateway.auth.middleware import admin
from duologue.gateway.machines.join_service import JoinService
from duologue.gateway.machines.join_table import JoinRow
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.threads import disk_io
from duologue.wire.machines.join_protocol import OLDEST_PROTOCOL
from duologue.wire.worker_protocol import PROTOCOL


def router(
    service: JoinService,
    pools: Sequence[Pool],
    *,
    join: bool,
    lease_s: float,
    address: str = "",
    fingerprint: Callable[[], str] = str,
) -> APIRouter:
    """The route. `address`: where workers reach this server, as the settings say; `fingerprint` may read files."""
    routes = APIRouter(tags=["admin"], prefix="/api", dependencies=[Depends(admin)])

    @routes.get("/machines", summary="Machines and their workers")
    async def machines() -> dict[str, Any]:
        """This machine, then those whose workers have joined, with their devices. `reach` of a worker: `local`, `joined`, `unreachable` for
        `lease_left` more seconds, or `gone` within the last hour."""
        return {
            "join": join,
            "lease_s": lease_s,
            "protocol": PROTOCOL,
            "oldest_protocol": OLDEST_PROTOCOL,
            "gateway": service.gateway,
            "address": address,
            "fingerprint": await disk_io(fingerprint),
            "machines": [_this_machine(pools), *_other_machines(service, pools)],
        }

    return routes


def _this_machine(pools: Sequence[Pool]) -> dict[str, Any]:
    workers = [
        _row(status, pool, reach="local", version=__version__, protocol=PROTOCOL)
        for pool in pools
        for status in pool.workers.values()
        if not status.machine
    ]
    return {"machine": "", "devices": [], "workers": workers}


def _other_machines(service: JoinService, pools: Sequence[Pool]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for worker in service.workers():
        machine = found.setdefault(worker.machine, {"machine": worker.machine, "devices": [], "workers": []})
        if worker.devices:
            machine["devices"] = to_builtins(worker.devices)
        machine["workers"].append(_joined(worker, service, pools))
    for machine in found.values():
        machine["workers"].sort(key=lambda row: (row["reach"] == "gone", row["worker"]))
    return [found[name] for name in sorted(found)]


def _joined(worker: JoinRow, service: JoinService, pools: Sequence[Pool]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "reach": worker.reach,
        "version": worker.version,
        "protocol": worker.protocol,
        "placed": worker.placed,
        "joined": worker.joined,
        "seen": worker.seen,
        "lease_left": service.lease_left(worker.name),
    }
    for pool in pools:
        if worker.reach != "gone" and (status := pool.workers.get(worker.name)) is not None:
            return _row(status, pool, **told)
    gone = WorkerStatus(worker.name, worker.model, worker.engine, worker.device, detail=worker.ended)
    return _row(gone, None, **told)


def _row(status: WorkerStatus, pool: Pool | None, **told: Any) -> dict[str, Any]:
    name = status.worker
    return {
        "worker": name,
        "state": status.state,
        "model": status.card.name if status.card is not None else status.model,
        "engine": status.engine,
        "device": status.runs_on,
        "slots": 0 if pool is None else pool.scheduler.slots(name),
        "busy": 0 if pool is None else pool.scheduler.busy(name),
        "draining": status.draining,
        "restarts": status.restarts,
        "detail": status.detail,
        "placed": "",
        "joined": 0.0,
        "seen": 0.0,
        "lease_left": None,
        **told,
    }
