"""Replies that a model speaks by itself, and the answers to its units, which are told once their sound was sent.

`native_call.py` has one. How sound is paced is in `call/playback.py`.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from duologue.sessions.call.clock import Clock
from duologue.sessions.call.outbox import EventOutbox
from duologue.sessions.call.playback import ClientPlayer, Playback, PlaybackListener
from duologue.sessions.omni.native_reply import NativeReply
from duologue.values.call_events import UnitAnswered

ANSWERS = 512
"""Answers that may wait for sound. One that has waited for so many others is told without it."""


class _Answer(NamedTuple):
    event: UnitAnswered
    reply: int | None
    until: int
    """The sample of the reply that is sent before."""


class NativePlayback(Playback):
    """The replies of one call."""

    def __init__(
        self, client: ClientPlayer, outbox: EventOutbox, clock: Clock, listener: PlaybackListener
    ) -> None:
        super().__init__(client, outbox, clock, listener)
        self._answers: deque[_Answer] = deque()

    def begin(self, number: int, language: str) -> None:
        """Take a reply, which the model says in this language ("": unknown). Its sound is sent as it comes."""
        self.add(NativeReply(number, mouth=self.mouth, language=language)).released = True

    def answer(self, event: UnitAnswered, reply: int | None = None) -> None:
        """Tell this after the sound that exists of the reply, and after the answers before. Those that wait for a reply's sound when it
        is cut are told before its cut."""
        playing = None if reply is None else self.replies.get(reply)
        self._answers.append(_Answer(event, reply, playing.reply.length if playing is not None else 0))
        self._tell()

    def _send_in_order(self) -> None:
        super()._send_in_order()
        self._tell()

    def _tell(self) -> None:
        while self._answers:
            first = self._answers[0]
            playing = None if first.reply is None else self.replies.get(first.reply)
            waits = playing is not None and not playing.over and playing.reply.sent < first.until
            if waits and len(self._answers) <= ANSWERS:
                return
            self._answers.popleft()
            self._outbox.post(first.event)
