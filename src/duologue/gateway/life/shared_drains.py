"""Joined workers that admins drain, the same at all gateways of a database: a worker serves all of them, so a drain at one would keep nothing from it.

Owns the list, and drains its workers in this gateway's pools, now and when they join later. The routes change it; `gateway/sharing.py`
has it read again when another gateway has changed it. A drain holds until it is undone or the worker is restarted by an admin. With SQLite,
where there is one gateway, nothing is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from duologue.gateway.cluster.shared_setting import SharedSetting
from duologue.gateway.scheduling.pool import Pool

MOST = 1000
"""Names that are remembered; the oldest are forgotten."""
NOTE = "by an admin"


class SharedDrains:
    """Nothing is shared before `setting` has a store."""

    def __init__(self, pools: Sequence[Pool]) -> None:
        self._pools = pools
        self.setting = SharedSetting("drained_workers")
        self._drained: frozenset[str] = frozenset()

    async def drain(self, worker: str) -> None:
        """Start no new work on this worker; if it is a joined one, at no gateway. Raises KeyError, and Unavailable if this cannot be stored."""
        pool = self._pool_of(worker)
        if pool.workers[worker].joined:
            await self._change(lambda names: [*(name for name in names if name != worker), worker])
        if worker in pool.workers:  # it may have gone meanwhile
            pool.drain(worker, NOTE)

    async def resume(self, worker: str) -> None:
        """The worker takes requests again: at all gateways, if it has joined. Raises as `drain`, and Problem `worker_retiring`."""
        self._pool_of(worker).resume(worker)
        await self.forget([worker])

    async def forget(self, workers: Iterable[str]) -> None:
        """Drop these from the list, because they restart or the drain was undone. Raises Unavailable."""
        gone = set(workers) & self._drained
        if gone:
            # The caller resumes them at this gateway: during a restart they must stay drained.
            self._drained -= gone
            await self._change(lambda names: [name for name in names if name not in gone])

    async def reload(self) -> None:
        """Read again what is drained: another gateway may have changed it. Raises Unavailable."""
        if (stored := await self.setting.read()) is not None:
            self._carry_out(frozenset(_names(stored)))

    def joined(self, worker: str) -> None:
        """A worker has joined this gateway."""
        if worker in self._drained:
            self._pool_of(worker).drain(worker, NOTE)

    async def _change(self, change: Callable[[list[str]], list[str]]) -> None:
        stored = await self.setting.change(lambda old: {"names": change(_names(old))[-MOST:]})
        if stored is not None:
            self._carry_out(frozenset(_names(stored)))

    def _carry_out(self, drained: frozenset[str]) -> None:
        """Drain what is on the list, and resume what is no longer on it."""
        undone, self._drained = self._drained - drained, drained
        for pool in self._pools:
            for name, status in list(pool.workers.items()):
                if not status.joined or status.retiring:
                    continue
                if name in drained and not status.draining:
                    pool.drain(name, NOTE)
                elif name in undone and status.draining:
                    pool.resume(name)

    def _pool_of(self, worker: str) -> Pool:
        found = next((pool for pool in self._pools if worker in pool.workers), None)
        if found is None:
            raise KeyError(worker)
        return found


def _names(stored: dict[str, Any]) -> list[str]:
    """The names in a stored object; another version may have written it, so anything else is ignored."""
    names = stored.get("names")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
