"""Replaces the voice worker while the server runs: a second one loads beside it, takes every new call, and the first one
ends with its last call.

Called by `pack_service`. Owns when the new worker counts as ready, and what happens to one that cannot be.
"""

from __future__ import annotations

import anyio
import anyio.abc

from duologue.errors import EngineFailed, Unavailable
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.notifier import Notifier
from duologue.values.events import STOPPING
from duologue.wire.worker_protocol import LoadSpec


class VoiceSwitch:
    """The switch of one pool of voice workers."""

    def __init__(self, seats: Pool) -> None:
        self._seats = seats
        self._notifier = Notifier()
        self._tasks: anyio.abc.TaskGroup | None = None

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Retire replaced workers until cancelled."""
        async with anyio.create_task_group() as self._tasks:
            task_status.started()
            await anyio.sleep_forever()

    def pool_changed(self) -> None:
        """The status of a worker changed."""
        self._notifier.notify()

    async def switch(self, load_spec: LoadSpec) -> None:
        """Return when a worker with these engines serves new calls. Raises EngineFailed with the reason when it cannot be
        loaded; then everything stays as it was. Leaving early does the same."""
        if self._tasks is None:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
        # Not beside a voice that still loads: the server has just been started, or the last switch has not ended.
        while not any(status.state in ("ready", "failed") for status in self._seats.workers.values()):
            await self._notifier.wait()
        before = list(self._seats.workers)
        status = self._seats.add(load_spec)
        try:
            while not self._is_settled(status):
                await self._notifier.wait()
            if reason := failure_of(status):
                raise EngineFailed(reason, code="load_failed", status=500)
        except BaseException:
            with anyio.CancelScope(shield=True):
                if status.worker in self._seats.workers:
                    await self._seats.remove(status.worker)
            raise
        for worker in before:
            if worker in self._seats.workers:
                self._tasks.start_soon(self._seats.retire, worker)

    def _is_settled(self, status: WorkerStatus) -> bool:
        return status.state in ("ready", "failed") or status.restarts > 0 or self._is_gone(status)

    def _is_gone(self, status: WorkerStatus) -> bool:
        return self._seats.workers.get(status.worker) is not status


def failure_of(status: WorkerStatus) -> str:
    """Why a worker that has loaded its engines, or failed to, cannot replace another one; "" where it can."""
    if status.restarts:
        return (
            "The process that was loading the voice ended before it was ready "
            f"({status.ended or 'the reason is unknown'}). The server's log says more; the most likely reasons are too "
            "little memory and a damaged download."
        )
    if status.state != "ready" or status.speech is None:
        return status.detail or "The voice could not be loaded. The server's log has the reason."
    failed = [
        engine.detail or f"The engine {engine.engine} could not be loaded."
        for engine in (status.speech.recogniser, status.speech.speaker)
        if engine.standing != "ready"
    ]
    return " ".join(failed)
