"""What a call has to say and its reader has not taken yet: the last door before the wire.

Owns the order, the bound, and that nothing of a reply goes out after its cut. Knows no reply's sound.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

import anyio

from duologue.errors import Busy
from duologue.values.call_events import (
    CallEvent,
    Hold,
    ReplyAudio,
    ReplyAudioEnded,
    ReplyAudioStarted,
    ReplyText,
    Resume,
)

Tell = Callable[[CallEvent], Awaitable[None]]

WAITING = 1024
"""Events that may wait. A reader that takes none for that long is gone."""
SOUNDS = 16
"""Pieces of sound that may wait; more is not sent until some are taken."""
OF_A_REPLY = ReplyAudioStarted | ReplyAudio | ReplyAudioEnded | ReplyText | Hold | Resume


class EventOutbox:
    """Events in order. `post` never waits; `run` hands them over at the reader's pace."""

    def __init__(self) -> None:
        self._waiting: deque[CallEvent] = deque()
        self._sounds = 0
        self._posted = anyio.Event()
        self._telling = anyio.CancelScope()

    @property
    def takes_sound(self) -> bool:
        """Whether more sound may be posted."""
        return self._sounds < SOUNDS

    def post(self, event: CallEvent) -> None:
        """Say this, after all that was posted before."""
        self._waiting.append(event)
        self._sounds += isinstance(event, ReplyAudio)
        self._posted.set()
        if len(self._waiting) > WAITING:
            # Whoever takes nothing at all would never come to be asked for the next.
            self._telling.cancel()

    def drop(self, reply: int) -> None:
        """Nothing more of this reply is to be heard or read."""
        self._waiting = deque(
            event for event in self._waiting if not (isinstance(event, OF_A_REPLY) and event.reply == reply)
        )
        self._sounds = sum(isinstance(event, ReplyAudio) for event in self._waiting)

    async def run(self, tell: Tell) -> None:
        """Hand over what is posted, for as long as the call lasts. Raises Busy once too much has waited."""
        while True:
            await self._posted.wait()
            self._posted = anyio.Event()
            while self._waiting:
                if len(self._waiting) > WAITING:
                    raise Busy("Nobody takes what this call says.", code="too_slow")
                event = self._waiting.popleft()
                self._sounds -= isinstance(event, ReplyAudio)
                with anyio.CancelScope() as self._telling:
                    await tell(event)
