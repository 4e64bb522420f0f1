"""Counts the loads and unloads of models, from what changes about the workers.

`Gateway` calls `update` whenever a worker's status has changed. Pure: the time is an argument, in seconds.
"""

from __future__ import annotations

from collections.abc import Iterable

from duologue import telemetry
from duologue.gateway.workers.worker_status import WorkerStatus


class LoadMetrics:
    """The workers as they were last seen, with the time from which each has been loading."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, str]] = {}
        self._since: dict[str, float] = {}

    def update(self, workers: Iterable[WorkerStatus], at: float) -> None:
        """These are the workers now; those that are gone were unloaded."""
        metrics = telemetry.metrics()
        present = {view.worker: (view.label, view.state) for view in workers}
        for worker, (label, state) in present.items():
            told, before = self._seen.get(worker, ("", ""))
            if label != told:
                metrics.worker_seen(worker, label)
            if state == before:
                continue
            if state == "loading":
                self._since[worker] = at
            elif state == "ready":
                metrics.model_loaded(label, at - self._since.pop(worker, at))
            elif state == "failed":
                metrics.model_not_loaded(label)
        for worker in self._seen.keys() - present.keys():
            self._since.pop(worker, None)
            metrics.model_unloaded(self._seen[worker][0], worker)
        self._seen = present
