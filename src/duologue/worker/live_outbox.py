"""What waits to be written to the gateway on the live socket, by lease.

`connection.py` posts here and writes what `take` gives. Owns that large events (a clip, pictures, a piece of a file) go in fragments, between
which those of other leases pass, and that nothing of a lease overtakes them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from duologue.notifier import Notifier
from duologue.values.call_events import CallEvent, ClipData, SpeakingClip, VideoSegment
from duologue.values.events import Event
from duologue.wire import worker_protocol

LARGEST_FRAME = 1024 * 1024
"""Bytes of a frame; messages of more are sent one by one, and a larger one in fragments. A gateway closes the connection of a joined worker whose frame
is larger than it takes, and would be sent the same one again over the next."""


class LiveOutbox:
    """Bounded by the leases' credit."""

    def __init__(self) -> None:
        self._events: dict[int, list[Event]] = {}
        self._call_events: dict[int, list[CallEvent]] = {}
        self._messages: list[worker_protocol.Up] = []
        self._fragments: dict[int, deque[worker_protocol.Fragment]] = {}
        """Of the large message that a lease has begun to send."""
        self._large = 0
        self._elsewhere: worker_protocol.SlotsElsewhere | None = None
        self._posted = Notifier()

    def emit(self, lease: int, event: Event) -> None:
        """Queue an event of a generation."""
        events = self._events.get(lease)
        if events is None:
            self._events[lease] = [event]
            self._posted.notify()
        else:
            events.append(event)

    def send(self, lease: int, event: CallEvent) -> None:
        """Queue an event of a session."""
        self._call_events.setdefault(lease, []).append(event)
        self._posted.notify()

    def post(self, message: worker_protocol.Up) -> None:
        """Queue a message behind every event so far."""
        self._messages.append(message)
        self._posted.notify()

    def tell_elsewhere(self, slots: tuple[int, ...]) -> None:
        """Say which slots work for other gateways now. Only the newest is sent, and before what waits: it says where not to begin."""
        self._elsewhere = worker_protocol.SlotsElsewhere(slots)
        self._posted.notify()

    def drop(self, lease: int) -> None:
        """Forget the events of a cancelled lease. A large message that has begun is sent to its end: the gateway would wait for it."""
        self._events.pop(lease, None)
        self._call_events.pop(lease, None)

    @property
    def empty(self) -> bool:
        return not (self._events or self._call_events or self._messages or self._fragments or self._elsewhere)

    async def take(self) -> list[worker_protocol.Up]:
        """The next frame, waiting for something to send: everything that waits, one message a lease, so that events share frames. Of a
        large message it is one fragment, and the rest of its lease stays behind that."""
        while self.empty:
            await self._posted.wait()
        events, self._events = self._events, {}
        messages: list[worker_protocol.Up] = []
        if self._elsewhere is not None:
            messages.append(self._elsewhere)
            self._elsewhere = None
        messages += [worker_protocol.Emit(lease, tuple(some)) for lease, some in events.items()]
        for lease in [lease for lease in self._call_events if lease not in self._fragments]:
            message = worker_protocol.CallEvents(lease, tuple(self._call_events.pop(lease)))
            if _bytes(message) > worker_protocol.PIECE:
                self._cut(message)
            else:
                messages.append(message)
        messages += self._next_fragments()
        held = [message for message in self._messages if self._waits(message)]
        messages += [message for message in self._messages if not self._waits(message)]
        self._messages = held
        return messages

    def frames(self, messages: list[worker_protocol.Up]) -> Iterator[bytes]:
        """The frames of what `take` gave, in order: almost always one."""
        frame = worker_protocol.encode(messages)
        if len(frame) <= LARGEST_FRAME:
            yield frame
            return
        for message in messages:
            frame = worker_protocol.encode([message])
            if len(frame) <= LARGEST_FRAME:
                yield frame
                continue
            self._large += 1
            for fragment in worker_protocol.fragments(self._large, frame):
                yield worker_protocol.encode([fragment])

    def _next_fragments(self) -> list[worker_protocol.Up]:
        fragments: list[worker_protocol.Up] = []
        for lease, waiting in list(self._fragments.items()):
            fragments.append(waiting.popleft())
            if not waiting:
                del self._fragments[lease]
        return fragments

    def _cut(self, message: worker_protocol.CallEvents) -> None:
        self._large += 1
        frame = worker_protocol.encode([message])
        self._fragments[message.lease] = deque(worker_protocol.fragments(self._large, frame))

    def _waits(self, message: worker_protocol.Up) -> bool:
        """Whether this is the end of a lease that has events to send yet."""
        return isinstance(message, worker_protocol.Closed) and (
            message.lease in self._fragments or message.lease in self._call_events
        )


def _bytes(message: worker_protocol.CallEvents) -> int:
    """About how large a message is; only events with files or pictures can make it large."""
    size = 0
    for event in message.events:
        if isinstance(event, SpeakingClip | VideoSegment | ClipData):
            size += len(event.data)
        if isinstance(event, SpeakingClip):
            size += len(event.pcm)
    return size
