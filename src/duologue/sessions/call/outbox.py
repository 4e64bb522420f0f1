"""The events of one call that have not been sent yet.

Every part of a call posts here; one task sends. Owns the order, the bounds, and that nothing of a reply is sent after its
cut.
"""

from __future__ import annotations

from collections import deque

import anyio

from duologue.errors import Busy
from duologue.notifier import Notifier
from duologue.sessions.speech.speech_task import SendEvent
from duologue.values.call_events import (
    CallEvent,
    Hold,
    ReplyAudio,
    ReplyAudioEnded,
    ReplyAudioStarted,
    ReplyText,
    Resume,
    SpeakingClip,
    VideoSegment,
)

WAITING = 1024
"""Events that may wait. A reader that takes none for that long is gone."""
SOUNDS = 16
"""`ReplyAudio` events that may wait; playback posts no more until some are sent."""
SEGMENTS = 4
"""`VideoSegment` events that may wait; playback drops what comes then."""
OF_A_REPLY = (
    ReplyAudioStarted | ReplyAudio | ReplyAudioEnded | ReplyText | SpeakingClip | VideoSegment | Hold | Resume
)


class EventOutbox:
    """Events in order. `post` never waits; `run` sends at the reader's pace."""

    def __init__(self) -> None:
        self._waiting: deque[CallEvent] = deque()
        self._sounds = 0
        self._posted = Notifier()
        self._sending = anyio.CancelScope()

    @property
    def takes_sound(self) -> bool:
        """Whether more sound may be posted."""
        return self._sounds < SOUNDS

    @property
    def takes_video(self) -> bool:
        """Whether more pictures may be posted."""
        return sum(isinstance(event, VideoSegment) for event in self._waiting) < SEGMENTS

    def post(self, event: CallEvent) -> None:
        """Send this after everything posted before."""
        self._waiting.append(event)
        self._sounds += isinstance(event, ReplyAudio)
        self._posted.notify()
        if len(self._waiting) > WAITING:
            # A reader that takes nothing at all would block `run` in its send, where it cannot see the overflow.
            self._sending.cancel()

    def drop(self, reply: int) -> None:
        """Forget what waits of this reply's sound, pictures and text."""
        self._waiting = deque(
            event for event in self._waiting if not (isinstance(event, OF_A_REPLY) and event.reply == reply)
        )
        self._sounds = sum(isinstance(event, ReplyAudio) for event in self._waiting)

    async def run(self, send: SendEvent) -> None:
        """Send what is posted, for as long as the call lasts. Raises Busy when too much has waited."""
        while True:
            while not self._waiting:
                await self._posted.wait()
            if len(self._waiting) > WAITING:
                raise Busy("The client does not read the call's events.", code="too_slow")
            event = self._waiting.popleft()
            self._sounds -= isinstance(event, ReplyAudio)
            with anyio.CancelScope() as self._sending:
                await send(event)
