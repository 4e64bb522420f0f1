"""A lease: slots of one worker, or a place in the queue for them.

Owns what a request may do with its slots, and that each is given back: idle slots at once, busy ones when their work has truly
ended. Made by `Pool.lease`; the generator, the calls and the speech service use it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from duologue.errors import Problem, QueueFull, Unavailable
from duologue.gateway.scheduling.scheduler import Command, Granted, Moved, Refused
from duologue.gateway.workers.connection import Item, LeaseInbox, Stream, Work, WorkerConnection
from duologue.notifier import Notifier
from duologue.tracing import attributes, spans
from duologue.values.call_events import CallControl


class Lender(Protocol):
    """Where a lease gives its slots back: the pool."""

    def withdraw(self, ticket: str) -> None:
        """Take a waiting ticket out of the queue."""

    def release(self, ticket: str, worker: str, slot: int) -> None:
        """Give a slot back."""


class Lease:
    """Slots of one worker, or a place in the queue for them. `user`: whose it is; "" for work of the server itself. `whole`: it takes
    the worker whole, so its slots come back together, once nothing of it runs any more."""

    def __init__(self, lender: Lender, ticket: str, user: str = "", *, whole: bool = False) -> None:
        self.ticket = ticket
        self.user = user
        self.paused = False
        """Its client has paused for a while; for the status pages."""
        self._whole = whole
        self._lender = lender
        self._inbox = LeaseInbox()
        self._place: Moved | None = None
        self._notifier = Notifier()
        self._refusal: Problem | None = None
        self._granted: Granted | None = None
        self._connection: WorkerConnection | None = None
        self._idle: list[int] = []
        self._streams: dict[int, Stream] = {}
        self._all_begun = False

    async def places(self) -> AsyncGenerator[Moved]:
        """The places in the queue, as they change and every few seconds; ends when the slots are granted.

        Raises QueueFull or Unavailable when they never will be.
        """
        waiting = spans.start("queue wait")
        try:
            while self._granted is None:
                if self._refusal is not None:
                    raise self._refusal
                if self._place is not None:
                    place, self._place = self._place, None
                    if waiting.recording:
                        waiting.set({attributes.QUEUE_POSITION: place.position})
                    yield place
                    continue
                await self._notifier.wait()
        except BaseException as error:
            spans.record_end(waiting, error)
            raise
        finally:
            waiting.end()

    @property
    def idle(self) -> int:
        """How many of the granted slots run nothing."""
        return len(self._idle)

    @property
    def running(self) -> bool:
        """Whether something runs in its slots."""
        return any(not stream.closed for stream in self._streams.values())

    def begin(self, choice: int, request: Work, request_id: str) -> None:
        """Start a generation in an idle slot of the lease; in a seat, a call, a speech or a transcription."""
        assert self._connection is not None
        slot = self._idle.pop(0)
        self._streams[choice] = self._connection.begin(
            slot, choice, request, self._inbox, request_id, self._slot_closed
        )

    def send(self, choice: int, *controls: CallControl) -> bool:
        """Send controls to an open call, as `Stream.send` does."""
        return self._streams[choice].send(controls)

    def cancel(self) -> None:
        """Cancel what runs. Its slots are idle again once its work has truly ended."""
        for stream in self._streams.values():
            if not stream.ended:
                stream.cancel()

    def end_thought(self) -> None:
        """Close the thoughts that its replies are in."""
        for stream in self._streams.values():
            stream.end_thought()

    def release_idle(self) -> None:
        """Nothing more will begin: give back the slots that are idle now, and the others as they become idle."""
        self._all_begun = True
        if self._whole and self._granted is not None and len(self._idle) < len(self._granted.slots):
            return
        for slot in self._idle:
            self._release(slot)
        self._idle.clear()

    async def take(self) -> list[tuple[int, Item]]:
        """All events that arrived, at least one; or an empty list because a slot became idle."""
        batch = await self._inbox.take()
        if len(self._streams) == 1:
            for stream in self._streams.values():
                stream.taken(len(batch))
            return batch
        for choice, _ in batch:
            self._streams[choice].taken(1)
        return batch

    # ---- called by the pool

    def apply(self, command: Command, connection: WorkerConnection | None) -> None:
        """A command of the scheduler about this ticket. `connection`: to the worker of a grant."""
        match command:
            case Granted(_, _, slots):
                self._granted, self._connection, self._idle = command, connection, list(slots)
            case Moved():
                self._place = command
            case Refused(_, code, message, retry_after):
                problem = QueueFull if code == "queue_full" else Unavailable
                self._refusal = problem(message, code=code, retry_after=retry_after)
        self._notifier.notify()

    def give_back(self) -> None:
        """Cancel what runs and return every slot: idle ones now, the others once their work has truly ended."""
        if self._granted is None:
            self._lender.withdraw(self.ticket)
            return
        self.release_idle()
        self.cancel()

    def _slot_closed(self, stream: Stream) -> None:
        self._idle.append(stream.slot)
        if self._all_begun:
            self.release_idle()

    def _release(self, slot: int) -> None:
        assert self._granted is not None
        self._lender.release(self.ticket, self._granted.worker, slot)
