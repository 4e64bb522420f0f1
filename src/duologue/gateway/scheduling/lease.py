"""A lease: slots of workers, or a place in the queue for them.

Owns what a request may do with its slots, and that each is given back: idle slots at once, busy ones when their work has truly
ended. A request for several slots gets them one after another, perhaps of several workers; while it still waits for some, each goes back
to the queue when its work has ended, since the next one is its turn like anybody's. Made by `Pool.lease`; the generator, the calls and the speech service use it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import NamedTuple, Protocol

from duologue.errors import Problem, QueueFull, Unavailable
from duologue.gateway.scheduling.queueing.queue_commands import Command, Granted, Moved, Refused
from duologue.gateway.workers.connection import Item, LeaseInbox, Stream, Work, WorkerConnection
from duologue.notifier import Notifier
from duologue.queue_ticket import QueueTicket, queue_ticket
from duologue.tracing import attributes, spans
from duologue.values.call_events import CallControl


class Lender(Protocol):
    """Where a lease gives its slots back: the pool."""

    def withdraw(self, ticket: str) -> None:
        """Take a waiting ticket out of the queue."""

    def release(self, ticket: str, worker: str, slot: int) -> None:
        """Give a slot back."""

    def progress(self, ticket: str, worker: str, slot: int, tokens: int) -> None:
        """What runs in a slot has written so many tokens."""


class _HeldSlot(NamedTuple):
    worker: str
    number: int
    connection: WorkerConnection


class Lease:
    """Slots, or a place in the queue for them. `user`: whose it is; "" for work of the server itself. `need`: how many slots it waits
    for. `whole`: it takes a worker whole, so its slots come back together, once nothing of it runs any more."""

    def __init__(
        self, lender: Lender, ticket: str, user: str = "", *, need: int = 1, whole: bool = False
    ) -> None:
        self.ticket = ticket
        self.user = user
        self.paused = False
        """Its client has paused for a while; for the status pages."""
        self.refusal: Problem | None = None
        """Why it gets no slot, or no further one."""
        self._whole = whole
        self._lender = lender
        self._inbox = LeaseInbox()
        self._place: Moved | None = None
        self._notifier = Notifier()
        self._granted = False
        self._missing = 1 if whole else need
        self._idle: list[_HeldSlot] = []
        self._held: dict[int, _HeldSlot] = {}
        """By the choice that runs in it."""
        self._slots = 0
        self._streams: dict[int, Stream] = {}
        self._all_begun = False
        self._told = queue_ticket.get() or QueueTicket()
        self._told.waits(ticket)

    async def places(self) -> AsyncGenerator[Moved]:
        """The places in the queue, as they change and every few seconds; ends when the slots are granted.

        Raises QueueFull or Unavailable when they never will be.
        """
        waiting = spans.start("queue wait")
        try:
            while not self._granted:
                if self.refusal is not None:
                    raise self.refusal
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
    def missing(self) -> int:
        """How many slots it still waits for."""
        return 0 if self.refusal is not None else self._missing

    @property
    def running(self) -> bool:
        """Whether something runs in its slots."""
        return any(not stream.closed for stream in self._streams.values())

    def begin(self, choice: int, request: Work, request_id: str) -> None:
        """Start a generation in an idle slot of the lease; in a seat, a call, a speech or a transcription."""
        slot = self._held[choice] = self._idle.pop(0)
        self._streams[choice] = slot.connection.begin(
            slot.number, choice, request, self._inbox, request_id, self._slot_closed
        )

    def progress(self, choice: int, tokens: int) -> None:
        """A choice has written so many tokens; for the estimates, so a few times a second are enough."""
        if (slot := self._held.get(choice)) is not None:
            self._lender.progress(self.ticket, slot.worker, slot.number, tokens)

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
        """Nothing more will begin: give back the slots that are idle now, and the others as they become idle; wait for no further ones."""
        self._all_begun = True
        if self._granted and self._missing:
            self._missing = 0
            self._lender.withdraw(self.ticket)
        if self._whole and self._granted and len(self._idle) < self._slots:
            return
        self._release_idle()

    async def take(self) -> list[tuple[int, Item]]:
        """All events that arrived, at least one; or an empty list because a slot became idle, another one was granted, or none will be."""
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
            case Granted(_, worker, slots):
                assert connection is not None
                self._idle += [_HeldSlot(worker, number, connection) for number in slots]
                self._slots += len(slots)
                self._missing = max(0, self._missing - (1 if self._whole else len(slots)))
                if self._granted:
                    self._inbox.wake()
                self._granted = True
                self._told.granted()
            case Moved(_, position, wait, _) if not self._granted:
                self._place = command
                self._told.moved(position, wait)
            case Refused(_, code, message, retry_after):
                problem = QueueFull if code == "queue_full" else Unavailable
                self.refusal = problem(message, code=code, retry_after=retry_after)
                if self._granted:
                    self._inbox.wake()
        self._notifier.notify()

    def give_back(self) -> None:
        """Cancel what runs and return every slot: idle ones now, the others once their work has truly ended."""
        if not self._granted:
            self._lender.withdraw(self.ticket)
            return
        self.release_idle()
        self.cancel()

    def _slot_closed(self, stream: Stream) -> None:
        self._idle.append(self._held.pop(stream.choice))
        if self._all_begun:
            self.release_idle()
        elif self._missing:
            self._release_idle()

    def _release_idle(self) -> None:
        idle, self._idle = self._idle, []
        self._slots -= len(idle)
        for slot in idle:
            self._lender.release(self.ticket, slot.worker, slot.number)
