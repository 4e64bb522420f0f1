"""Joined workers that admins drain, the same at all gateways of a database: a worker serves all of them, so a drain at one would keep nothing from it.

Owns which they are, and drains them in this gateway's pools: those that are here, and those that join later. The routes change it; `gateway/sharing.py`
has it read again when another gateway has changed it. A drain holds until it is undone or the worker is restarted by an admin. On a database in a file
nothing is stored, and a drain is that of the one gateway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from duologue.gateway.scheduling.pool import Pool

STORED_AS = "drained_workers"
MOST = 1000
"""Names that are remembered; the oldest are forgotten."""
NOTE = "by an admin"


class DrainStore(Protocol):
    """Where the names are kept: `store.server_settings`. Raises Unavailable."""

    async def get(self, name: str) -> dict[str, Any]: ...

    async def change(
        self, name: str, change: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> dict[str, Any]: ...


class SharedDrains:
    """Nothing is shared before `use`."""

    def __init__(self, pools: Sequence[Pool]) -> None:
        self._pools = pools
        self._store: DrainStore | None = None
        self._drained: frozenset[str] = frozenset()
        self._changes = 0
        """How often this gateway has changed what is stored."""
        self.on_stored: Callable[[], None] = lambda: None
        """Called when a change was stored."""

    def use(self, store: DrainStore) -> None:
        """Keep drains there, for all gateways."""
        self._store = store

    async def drain(self, worker: str) -> None:
        """Nothing new begins on this worker: at any gateway, if it has joined. Raises KeyError, and Unavailable where that cannot be stored."""
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
        """These are drained no longer, as one that is restarted. Raises Unavailable."""
        gone = set(workers) & self._drained
        if gone:
            # The caller resumes them at this gateway: during a restart they must stay drained.
            self._drained -= gone
            await self._change(lambda names: [name for name in names if name not in gone])

    async def reload(self) -> None:
        """Read again what is drained: another gateway may have changed it. Raises Unavailable."""
        if self._store is None:
            return
        before = -1
        while before != self._changes:
            # What was read before a change of this gateway was stored is old.
            before = self._changes
            stored = await self._store.get(STORED_AS)
        self._carry_out(frozenset(_names(stored)))

    def joined(self, worker: str) -> None:
        """A worker has joined this gateway."""
        if worker in self._drained:
            self._pool_of(worker).drain(worker, NOTE)

    async def _change(self, change: Callable[[list[str]], list[str]]) -> None:
        if self._store is None:
            return
        # What is stored counts: another gateway may have changed it just now.
        stored = await self._store.change(STORED_AS, lambda old: {"names": change(_names(old))[-MOST:]})
        self._changes += 1
        self.on_stored()
        self._carry_out(frozenset(_names(stored)))

    def _carry_out(self, drained: frozenset[str]) -> None:
        """Drain what is drained now, and let work again what is not any more."""
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
