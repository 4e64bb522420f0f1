"""Slots of one worker that somebody has, or their place in the line for them.

Owns what a request may do with what it was lent, and that all of it goes back: idle slots at once, the others when
their work has truly ended. Knows no queue and no worker but the link to its own.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

import anyio

from duologue.errors import Problem, QueueFull, Unavailable
from duologue.gateway.scheduling.scheduler import Command, Granted, Moved, Refused
from duologue.gateway.workers.connection import Item, LeaseInbox, Stream, Work, WorkerConnection
from duologue.values.call_events import CallControl


class Lender(Protocol):
    """Whom a lease gives back to."""

    def withdraw(self, ticket: str) -> None:
        """A waiting ticket gives up its place."""

    def release(self, ticket: str, worker: str, slot: int) -> None:
        """A slot is free again."""


class Lease:
    """Slots of one worker, or a place in the line for them. Made by `Pool.lease` alone."""

    def __init__(self, lender: Lender, ticket: str, user: str = "") -> None:
        self.ticket = ticket
        self.user = user
        """Whose it is; empty where nobody asks."""
        self._lender = lender
        self._inbox = LeaseInbox()
        self._place: Moved | None = None
        self._changed = anyio.Event()
        self._refusal: Problem | None = None
        self._granted: Granted | None = None
        self._link: WorkerConnection | None = None
        self._idle: list[int] = []
        self._streams: dict[int, Stream] = {}
        self._begun = False

    async def places(self) -> AsyncGenerator[Moved]:
        """The places in the line, when they change and every few seconds; ends when the slots are lent.

        Raises QueueFull or Unavailable when they never will be.
        """
        while self._granted is None:
            if self._refusal is not None:
                raise self._refusal
            if self._place is not None:
                place, self._place = self._place, None
                yield place
                continue
            await self._changed.wait()
            self._changed = anyio.Event()

    @property
    def idle(self) -> int:
        """How many of the lent slots run nothing."""
        return len(self._idle)

    def begin(self, choice: int, request: Work, request_id: str) -> None:
        """Start a generation in an idle slot of the lease; in a seat, a call, a speech or a transcription."""
        assert self._link is not None
        slot = self._idle.pop(0)
        self._streams[choice] = self._link.begin(
            slot, choice, request, self._inbox, request_id, self._slot_closed
        )

    def tell(self, choice: int, *controls: CallControl) -> bool:
        """Tell an open call these, in order. False: it was sound only, and was dropped, for the worker is far behind."""
        assert self._link is not None
        return self._link.tell(self._streams[choice], controls)

    def spare(self) -> None:
        """Nothing more will begin: give back the slots that are idle, and every other once it falls idle."""
        self._begun = True
        for slot in self._idle:
            self._release(slot)
        self._idle.clear()

    async def take(self) -> list[tuple[int, Item]]:
        """All events that arrived, waiting for something; may be empty when a slot fell idle."""
        batch = await self._inbox.take()
        link = self._link
        assert link is not None
        if len(self._streams) == 1:
            for stream in self._streams.values():
                link.taken(stream, len(batch))
            return batch
        for choice, _ in batch:
            link.taken(self._streams[choice], 1)
        return batch

    # ---- between the lease and its lender

    def told(self, command: Command, link: WorkerConnection | None) -> None:
        """A command of the queue about this lease's ticket."""
        match command:
            case Granted(_, _, slots):
                self._granted, self._link, self._idle = command, link, list(slots)
            case Moved():
                self._place = command
            case Refused(_, code, message):
                kind = QueueFull if code == "queue_full" else Unavailable
                self._refusal = kind(message, code=code)
        self._changed.set()

    def give_back(self) -> None:
        """Cancel what runs and return every slot: idle ones now, the others once their work has truly ended."""
        if self._granted is None:
            self._lender.withdraw(self.ticket)
            return
        self.spare()
        for stream in self._streams.values():
            if not stream.ended and self._link is not None:
                self._link.cancel(stream)

    def _slot_closed(self, stream: Stream) -> None:
        if self._begun:
            self._release(stream.slot)
        else:
            self._idle.append(stream.slot)

    def _release(self, slot: int) -> None:
        assert self._granted is not None
        self._lender.release(self.ticket, self._granted.worker, slot)
