"""What a pool knows of the keeper of a worker: `WorkerKeeper` keeps a process on this machine, others keep workers on other machines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from duologue.gateway.workers.connection import WorkerConnection
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.values.events import Failed
from duologue.wire.worker_protocol import LoadSpec

RestartCause = Literal["admin", "rolling", "settings"]
"""Why a running worker is restarted: by an admin, in a rolling restart, or to load changed settings."""

RESTART_REASONS: Mapping[RestartCause, str] = {
    "admin": "by an admin",
    "rolling": "by a rolling restart",
    "settings": "with other settings",
}


class Listener(Protocol):
    """What a keeper reports to. No method may wait."""

    def worker_ready(self, status: WorkerStatus, slots: int) -> None:
        """The worker has loaded its model; all its slots are free."""

    def worker_down(self, status: WorkerStatus) -> None:
        """The worker's slots are gone. `status.state` says whether to wait for it: "offline" or "failed"."""

    def worker_changed(self) -> None:
        """Anything that status pages show has changed."""

    def worker_unreachable(self, status: WorkerStatus) -> None:
        """The connection is broken and may come back: running work continues, nothing new begins. `worker_reachable` or `worker_down` follows."""

    def worker_reachable(self, status: WorkerStatus) -> None:
        """The connection is back, and nothing is lost."""

    def slots_elsewhere(self, status: WorkerStatus, slots: tuple[int, ...]) -> None:
        """Exactly these slots of the worker work for other gateways now."""


class Keeper(Protocol):
    """Keeps one worker, from when it is added to a pool to when it is removed.

    It writes `status`, and calls its `Listener` when the worker's slots come and go: `worker_ready` once for each process that is ready, and
    `worker_down` as soon as the worker is lost, before the streams of its connection end.
    """

    load_spec: LoadSpec
    """What the worker loads; changes apply from its next start on, if the keeper starts it."""
    status: WorkerStatus
    connection: WorkerConnection | None
    """The connection to the running process; None as soon as the worker is lost."""

    async def run(self) -> None:
        """Keep the worker running until it is removed or this is cancelled; the process has ended when this returns."""

    def restart(self, cause: RestartCause = "admin") -> None:
        """Have the process end and start again at once, even if the worker has failed. What it runs ends with `worker_restarted`."""

    def remove(self, failure: Failed) -> None:
        """End the worker and what it runs, with this failure. The listener is not called any more."""

    async def wait_ended(self) -> None:
        """Return once `run` has ended."""
