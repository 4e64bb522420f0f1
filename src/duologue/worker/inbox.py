"""What an open call is told and has not taken yet.

Owns the bounds: so much sound, the oldest of which is dropped when the session falls behind, and so many other
messages. Knows no session and no socket.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable

import anyio

from duologue.errors import Busy
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES
from duologue.values.call_events import CallControl, MicrophoneAudio

log = logging.getLogger(__name__)

SOUND = 5 * HEARD_RATE * SAMPLE_BYTES
"""Bytes of sound that may wait: five seconds. A session that is further behind goes on with what is said now."""
CONTROLS = 4096
"""Other messages that may wait; a session takes them within a turn of its loop, or not at all any more."""


class ControlInbox:
    """The controls of one call, in order."""

    def __init__(self) -> None:
        self._waiting: deque[CallControl] = deque()
        self._sound = 0
        self._others = 0
        self._dropped = False
        self._arrived = anyio.Event()

    def put(self, controls: Iterable[CallControl]) -> None:
        """Add what came, dropping the oldest sound over the bound."""
        for control in controls:
            if isinstance(control, MicrophoneAudio):
                self._sound += len(control.pcm)
            elif self._others > CONTROLS:
                continue
            else:
                self._others += 1
            self._waiting.append(control)
        if self._sound > SOUND:
            self._forget()
        self._arrived.set()

    async def take(self) -> list[CallControl]:
        """All that waits, waiting for something; a cancelled wait loses nothing. Raises Busy once too much has waited."""
        await self._arrived.wait()
        self._arrived = anyio.Event()
        if self._others > CONTROLS:
            raise Busy("This call was told more at a time than it can take.")
        controls = list(self._waiting)
        self._waiting.clear()
        self._sound = self._others = 0
        return controls

    def _forget(self) -> None:
        """Drop the oldest sound, as much of it as is over the bound."""
        if not self._dropped:
            self._dropped = True
            log.warning(
                "a call's session is behind by more than five seconds of sound; the oldest is dropped"
            )
        kept: deque[CallControl] = deque()
        for control in self._waiting:
            over = self._sound - SOUND
            if not isinstance(control, MicrophoneAudio) or over <= 0:
                kept.append(control)
                continue
            cut = min(len(control.pcm), over + over % SAMPLE_BYTES)
            self._sound -= cut
            if cut < len(control.pcm):
                kept.append(MicrophoneAudio(control.pcm[cut:]))
        self._waiting = kept
