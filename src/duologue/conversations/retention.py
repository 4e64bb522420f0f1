"""Retention: removes deleted conversations, old temporary chats, old logs, old responses of the API, unreferenced files and abandoned uploads, every few minutes.

Run by `service.py`. Owns how long each is kept. A failure of one does not keep the others from their turn.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

import anyio

from duologue.errors import Problem
from duologue.store.cluster.work_turns import EVERY_TURN, WorkTurns

if TYPE_CHECKING:
    from duologue.store.stores import Stores

log = logging.getLogger(__name__)

HOUR_MS = 3_600_000
DELETED_MS = HOUR_MS
"""How long a deleted conversation can be restored."""
TEMPORARY_MS = 24 * HOUR_MS
"""How long a temporary chat is kept after its last change."""
LOGS_MS = 24 * HOUR_MS
"""How long the events of an ended run can be read. Its text stays in the messages."""
INTERVAL_S = 600.0
"""Seconds between two rounds, and before the first one, so that the server starts undisturbed."""


class FileCollector(Protocol):
    """`Blobs` removes unreferenced files, `PartialUploads` abandoned ones."""

    async def collect(self) -> int: ...


class Retention:
    """The rounds over all stores. `responses_ms`: how long responses and conversations of OpenAI's API are kept."""

    def __init__(
        self,
        stores: Stores,
        blobs: FileCollector,
        uploads: FileCollector,
        *,
        responses_ms: int = 30 * 24 * HOUR_MS,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._stores = stores
        self._blobs = blobs
        self._uploads = uploads
        self._responses_ms = responses_ms
        self.turns: WorkTurns = EVERY_TURN
        """The gateway's turns for periodic work on what several gateways share."""
        self._sleep = sleep

    async def run(self) -> None:
        """Round after round, until cancelled."""
        while True:
            await self._sleep(INTERVAL_S)
            await self.round()

    async def round(self) -> None:
        """Remove everything that is due. Failures are logged and tried again in the next round."""
        own = (self._forget_temporary, self._collect, self._drop_uploads)
        shared = (self._purge, self._forget_logs, self._forget_responses, self._forget_claims)
        for step in (*(shared if await self._is_its_turn() else ()), *own):
            try:
                await step()
            except Problem as problem:
                log.warning("a round of the retention was put off: %s", problem.message)
            except Exception:
                log.exception("a round of the retention failed")

    async def _is_its_turn(self) -> bool:
        try:
            return await self.turns.mine("retention", INTERVAL_S)
        except Problem as problem:
            log.warning("a round of the retention was put off: %s", problem.message)
            return False

    async def _forget_claims(self) -> None:
        await self.turns.forget_dead()

    async def _purge(self) -> None:
        conversations = self._stores.durable.conversations
        while purged := await conversations.purge(DELETED_MS):
            log.info("%d deleted conversations were removed permanently", len(purged))

    async def _forget_temporary(self) -> None:
        await self._stores.forget_temporary(TEMPORARY_MS)
        # What was deleted from temporary chats.
        while await self._stores.temporary.conversations.purge(DELETED_MS):
            pass

    async def _forget_logs(self) -> None:
        await self._stores.durable.runs.forget_logs(LOGS_MS)

    async def _forget_responses(self) -> None:
        if forgotten := await self._stores.durable.responses.forget(self._responses_ms):
            log.info("%d old responses and conversations of the API were deleted", forgotten)

    async def _collect(self) -> None:
        if removed := await self._blobs.collect():
            log.info("%d unreferenced files were removed", removed)

    async def _drop_uploads(self) -> None:
        if removed := await self._uploads.collect():
            log.info("%d abandoned uploads were removed", removed)
