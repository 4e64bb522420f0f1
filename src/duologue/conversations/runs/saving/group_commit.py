"""Group commit: the saves of running replies that are due together are stored in one transaction.

Used by `repository.py`. There is no background task that could end while saves wait: the first save stores those behind it as well
(`save_queue.py`). When a transaction fails, each save is retried on its own, so that one broken run does not keep the others from being stored.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

import anyio
import anyio.lowlevel
from msgspec import field

from duologue.conversations.runs.saving.save_queue import HasSave, RunSave, SaveQueue
from duologue.errors import Unavailable

log = logging.getLogger(__name__)

Store = Callable[[Sequence[RunSave]], Awaitable[None]]


class _Ticket(HasSave, eq=False):
    """A save. Its task waits until it is stored, or until it becomes the leader."""

    called: anyio.Event = field(default_factory=anyio.Event)
    is_over: bool = False
    error: Exception | None = field(default_factory=lambda: Unavailable("The save was broken off."))
    """The result of a save whose leader's task was killed: it must not count as success."""


class GroupCommit:
    """`store` stores several saves in one transaction, or none of them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queue: SaveQueue[_Ticket] = SaveQueue()

    async def save(self, save: RunSave) -> None:
        """Returns when it is stored. Raises the reason if it could not be."""
        ticket = _Ticket(save)
        # A leader that is cancelled halfway would leave the others waiting for ever.
        with anyio.CancelScope(shield=True):
            if not self._queue.add(ticket):
                await ticket.called.wait()
            if not ticket.is_over:
                await self._lead()
        if ticket.error is not None:
            raise ticket.error

    async def _lead(self) -> None:
        batch: Sequence[_Ticket] = ()
        try:
            # Those that are due at the same tick come in the same pass of the event loop.
            await anyio.lowlevel.checkpoint()
            batch = self._queue.take()
            await self._store_all(batch)
        finally:
            for ticket in batch or self._queue.take():
                ticket.is_over = True
                ticket.called.set()
            if (leader := self._queue.hand_over()) is not None:
                leader.called.set()

    async def _store_all(self, batch: Sequence[_Ticket]) -> None:
        error = await self._try(batch)
        # What is wrong with the database is wrong for each of them, and finding that out again may take seconds each time.
        if error is None or isinstance(error, Unavailable) or len(batch) == 1:
            for ticket in batch:
                ticket.error = error
            return
        log.info("%d replies are saved one by one: %s", len(batch), type(error).__name__)
        for ticket in batch:
            ticket.error = await self._try([ticket])

    async def _try(self, batch: Sequence[_Ticket]) -> Exception | None:
        try:
            await self._store([ticket.save for ticket in batch])
        except Exception as error:  # noqa: BLE001
            # The task that asked for the save raises it.
            return error
        return None
