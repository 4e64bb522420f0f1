"""What is cleaned up by and by: deleted conversations, forgotten temporary chats, old logs, files nobody names.

Owns how long each is kept, and that a failure of one leaves the others to their turn.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

import anyio

from duologue.errors import Problem

if TYPE_CHECKING:
    from duologue.store.stores import Stores

log = logging.getLogger(__name__)

HOUR_MS = 3_600_000
DELETED_MS = HOUR_MS
"""A deleted conversation can be restored for so long."""
TEMPORARY_MS = 24 * HOUR_MS
"""A temporary chat in which nothing was said for so long is forgotten."""
LOGS_MS = 24 * HOUR_MS
"""The events of a run that ended can be read again for so long; what it wrote is in its messages."""
EVERY_S = 600.0
"""Seconds between two rounds. The first comes when the server has had time to start."""


class Collector(Protocol):
    """`blobs.Blobs`: removes the files nobody names."""

    async def collect(self) -> int: ...


class Housekeeping:
    """`forgotten` is told the ids of temporary chats that went by themselves."""

    def __init__(
        self, stores: Stores, blobs: Collector, *, sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    ) -> None:
        self._stores = stores
        self._blobs = blobs
        self._sleep = sleep

    async def run(self) -> None:
        """Round after round, for ever."""
        while True:
            await self._sleep(EVERY_S)
            await self.round()

    async def round(self) -> None:
        """Clean up everything that is due. What fails is logged and has its turn again in the next round."""
        for work in (self._purge, self._forget_temporary, self._forget_logs, self._collect):
            try:
                await work()
            except Problem as problem:
                log.warning("cleaning up was put off: %s", problem.message)
            except Exception:
                log.exception("cleaning up failed")

    async def _purge(self) -> None:
        conversations = self._stores.durable.conversations
        while gone := await conversations.purge(DELETED_MS):
            log.info("%d deleted conversations are gone for good", len(gone))

    async def _forget_temporary(self) -> None:
        await self._stores.forget_temporary(TEMPORARY_MS)

    async def _forget_logs(self) -> None:
        await self._stores.durable.runs.forget_logs(LOGS_MS)

    async def _collect(self) -> None:
        if gone := await self._blobs.collect():
            log.info("%d files that no message names are gone", gone)
