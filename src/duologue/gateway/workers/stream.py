"""Running work on a worker, as the gateway sees it: its events, its flow control, and what waits for the sockets.

`connection.py` makes a `Stream` for each piece of work and delivers what arrives for it; leases read their `LeaseInbox`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from msgspec import structs

from duologue.gateway.workers.heartbeat import RunningWork
from duologue.notifier import Notifier
from duologue.values.call_events import (
    CallChunk,
    CallControl,
    CallEvent,
    CallFrame,
    CallSessionEnded,
    MicrophoneAudio,
)
from duologue.values.events import Done, Event, Failed
from duologue.wire import worker_protocol

SOUND_WAITING = 256
"""Messages that may wait for a socket before more microphone audio or frames are dropped: about five seconds of one call."""
FRAMES_WAITING = 16
"""The same before frames are dropped, each of which may have megabytes."""
WITHOUT_CREDIT = 16
"""Events that may come without credit: those that end a lease."""
SOUND = MicrophoneAudio | CallChunk | CallFrame

Item = Event | CallEvent


class LeaseInbox:
    """What arrived for a lease and was not taken yet. Bounded by the credit of its streams."""

    def __init__(self) -> None:
        self._items: list[tuple[int, Item]] = []
        self._pending = False
        self._notifier = Notifier()

    def put(self, choice: int, events: tuple[Item, ...]) -> None:
        self._items.extend((choice, event) for event in events)
        self.wake()

    def wake(self) -> None:
        """Let the next `take` return, with or without items."""
        self._pending = True
        self._notifier.notify()

    async def take(self) -> list[tuple[int, Item]]:
        """Wait for something, then give all of it; a cancelled wait loses nothing."""
        while not self._pending:
            await self._notifier.wait()
        self._pending = False
        items, self._items = self._items, []
        return items


class Outbox:
    """Messages waiting for one socket's writer. Bounded by the slots (a Begin, a Cancel and Grants for each), by MAX_ASKS and by
    SOUND_WAITING."""

    def __init__(self) -> None:
        self._messages: deque[worker_protocol.Down] = deque()
        self._notifier = Notifier()

    def __len__(self) -> int:
        return len(self._messages)

    def post(self, message: worker_protocol.Down) -> None:
        self._messages.append(message)
        self._notifier.notify()

    async def take(self) -> list[worker_protocol.Down]:
        while not self._messages:
            await self._notifier.wait()
        messages = list(self._messages)
        self._messages.clear()
        return messages


class Stream:
    """One running generation, call, speech or transcription in `slot`. Made by `WorkerConnection.begin`.

    `ended`: no more events will arrive. `closed`: the slot is free. `outbox`: that of the connection's live socket; `controls`: that of
    the one which took the request, because controls must not overtake it: the worker would drop them.
    """

    def __init__(
        self,
        number: int,
        slot: int,
        choice: int,
        inbox: LeaseInbox,
        outbox: Outbox,
        on_closed: Callable[[Stream], None],
        controls: Outbox | None = None,
        began: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.number = number
        self.slot = slot
        self.choice = choice
        self.ended = False
        self.closed = False
        self._inbox = inbox
        self._outbox = outbox
        self._controls = controls or outbox
        self._on_closed = on_closed
        self._ungranted = 0
        self._credit = worker_protocol.WINDOW
        self.began = began
        """When a reply began whose engine is watched; None for other work."""
        self.cancelled: float | None = None
        self._clock = clock

    def send(self, controls: tuple[CallControl, ...]) -> bool:
        """Send controls to an open call, in order. False: it was only sound or frames, dropped because the worker is too far behind."""
        if self.ended or self.closed:
            return True
        if len(self._controls) > SOUND_WAITING and all(isinstance(control, SOUND) for control in controls):
            return False
        if len(self._controls) > FRAMES_WAITING:
            controls = tuple(map(_without_frames, controls))
        self._controls.post(worker_protocol.SendControls(self.number, controls))
        return True

    def taken(self, count: int) -> None:
        """The consumer took `count` events. Credit is granted to the worker in portions of half a window."""
        self._ungranted += count
        if self.closed or self.ended or self._ungranted < worker_protocol.WINDOW // 2:
            return
        self._outbox.post(worker_protocol.Grant(self.number, self._ungranted))
        self._credit += self._ungranted
        self._ungranted = 0

    def cancel(self) -> None:
        """End the work; whatever still arrives is dropped."""
        self.ended = True
        if self.cancelled is None:
            self.cancelled = self._clock()
        if not self.closed:
            self._outbox.post(worker_protocol.Cancel(self.number))

    def end_thought(self) -> None:
        """Close the thought that the reply is in."""
        if not self.ended and not self.closed:
            # Behind its own request, which a control must not overtake.
            self._controls.post(worker_protocol.EndThought(self.number))

    # ---- called by the connection

    def work(self) -> RunningWork | None:
        """The reply, for a look at its engine; None for other work."""
        return None if self.began is None else RunningWork(self.began, self.cancelled, self._credit <= 0)

    def deliver(self, events: tuple[Item, ...]) -> None:
        """Pass events on. Raises ValueError for more of them than were granted: nothing else bounds what waits here."""
        self._credit -= len(events)
        if self._credit < -WITHOUT_CREDIT:
            raise ValueError(f"{WITHOUT_CREDIT - self._credit} events too many on one lease")
        if not events:
            return
        if self.ended:
            return
        self.ended = isinstance(events[-1], Done | Failed | CallSessionEnded)
        self._inbox.put(self.choice, events)

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._on_closed(self)
            self._inbox.wake()


def _without_frames(control: CallControl) -> CallControl:
    """The control without its pictures; for one that is only a picture, nothing to hear."""
    if isinstance(control, CallFrame):
        return MicrophoneAudio(b"")
    return structs.replace(control, frames=()) if isinstance(control, CallChunk) else control
