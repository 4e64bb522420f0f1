"""What `/metrics` shows and the admin page draws, put together: work that ends, workers and queues as they are, loads, memory.

`Gateway` makes one. The numbers of work are recorded by `metrics.py` as it ends; what runs and waits is read from the pools when
`/metrics` is asked for.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import anyio

from duologue import telemetry
from duologue.gateway.admin.load_metrics import LoadMetrics
from duologue.gateway.admin.memory_metrics import set_process_memory, watch_cards
from duologue.gateway.admin.metrics import WorkMetrics
from duologue.gateway.admin.metrics_history import STEP, MetricsHistory
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.threads import ThreadLane, in_thread
from duologue.values.requests import ModelCard

STATES = ("ready", "loading", "offline", "stopping", "failed", "unreachable")
"""The states of a worker; each has a series for every model, so that an alert sees a zero where there is none."""

SCRAPES = 16
"""Requests for `/metrics` that may wait for one that runs."""


class ServerMetrics:
    """The metrics of the gateway. `pools` gives the models' pool first; `find`: the card of a model by any of its names."""

    def __init__(self, pools: Callable[[], Sequence[Pool]], find: Callable[[str], ModelCard | None]) -> None:
        self.history = MetricsHistory(time.time())
        self.work = WorkMetrics(self.history, find)
        self._pools = pools
        self._loads = LoadMetrics()
        # Many models make many series, whose text takes long; the next scrape waits for it.
        self._lane = ThreadLane(1, waiting=SCRAPES)

    def workers_changed(self) -> None:
        """The status of a worker has changed."""
        self._loads.update(self._workers(), time.monotonic())

    async def rendered(self, gateway_restarts: int = 0, batches: Mapping[str, int] | None = None) -> str:
        """The body of `/metrics`, in the text format of Prometheus. Raises Busy."""
        async with self._lane.turn():
            note_now(self._pools(), gateway_restarts, batches)
            return (await in_thread(telemetry.metrics().render))[0].decode()

    async def run(self) -> None:
        """Measure what is measured at intervals, until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(sample, self.history, self._pools()[0])
            tasks.start_soon(watch_cards, lambda: [view.runs_on for view in self._workers()])

    def _workers(self) -> list[WorkerStatus]:
        return [view for pool in self._pools() for view in pool.workers.values()]


async def sample(history: MetricsHistory, pool: Pool) -> None:
    """End a sample of the history every few seconds, until cancelled."""
    due = anyio.current_time()
    while True:
        # After the machine was suspended there is one long sample instead of many empty ones.
        due = max(due + STEP, anyio.current_time())
        await anyio.sleep_until(due)
        running = sum(pool.scheduler.busy(worker) for worker in pool.workers)
        history.close(time.time(), running, len(pool.scheduler.entries()))


def note_now(
    pools: Sequence[Pool], gateway_restarts: int = 0, batches: Mapping[str, int] | None = None
) -> None:
    """Record what runs and waits now. `batches`: how many there are in each state."""
    metrics = telemetry.metrics()
    workers, slots, busy, waiting = _now(pools)
    for gauge in (metrics.workers, metrics.slots, metrics.slots_busy, metrics.queue_length):
        # What was unloaded has no series any more: a last value would stay for ever.
        gauge.clear()
    for model in slots:
        for state in STATES:
            metrics.workers.labels(model, state).set(workers[model, state])
        metrics.slots.labels(model).set(slots[model])
        metrics.slots_busy.labels(model).set(busy[model])
        metrics.queue_length.labels(model).set(waiting[model])
    for reach, machines in machines_by_reach(pools).items():
        metrics.machines.labels(reach).set(machines)
    metrics.leases_active(sum(busy.values()))
    metrics.gateway_restarted(gateway_restarts)
    for state, count in (batches or {}).items():
        metrics.batches.labels(state).set(count)
    set_process_memory({view.worker: view.process for pool in pools for view in pool.workers.values()})


def machines_by_reach(pools: Sequence[Pool]) -> dict[str, int]:
    """How many machines have workers that joined. One is `reachable` while any of them is there; their names would be labels without limit."""
    reached: dict[str, bool] = {}
    for pool in pools:
        for view in pool.workers.values():
            if view.joined:
                there = view.state not in ("unreachable", "offline")
                reached[view.machine] = reached.get(view.machine, False) or there
    reachable = sum(reached.values())
    return {"reachable": reachable, "unreachable": len(reached) - reachable}


def _now(
    pools: Sequence[Pool],
) -> tuple[Counter[tuple[str, str]], Counter[str], Counter[str], Counter[str]]:
    """Of each model: its workers by state, its slots, those in use, and the requests that wait. All models of a connected server share
    workers and queue, and are one label."""
    workers: Counter[tuple[str, str]] = Counter()
    slots: Counter[str] = Counter()
    busy: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    for pool in pools:
        queues: dict[str, str] = {}
        for view in pool.workers.values():
            model = telemetry.metrics().models(view.label)
            queues[view.queue] = model
            workers[model, view.state] += 1
            slots[model] += pool.scheduler.slots(view.worker)
            busy[model] += pool.scheduler.busy(view.worker)
        for entry in pool.scheduler.entries():
            waiting[queues.get(entry.model, telemetry.OTHER)] += 1
        if waiting[telemetry.OTHER]:
            slots[telemetry.OTHER] += 0
    return workers, slots, busy, waiting
