"""The messages of an open call that its session has not read yet.

The connection puts, the session takes. Owns the bounds: a number of seconds of sound, of which the oldest is dropped when
the session falls behind, and a number of other messages, beyond which the call ends.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable

from duologue.errors import Busy
from duologue.notifier import Notifier
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES
from duologue.values.call_events import CallControl, MicrophoneAudio

log = logging.getLogger(__name__)

SOUND = 5 * HEARD_RATE * SAMPLE_BYTES
"""Bytes of sound that may wait: five seconds. A session that is further behind continues with what is said now."""
CONTROLS = 4096
"""Other messages that may wait. A session that works reads them within one turn of its loop."""


class ControlInbox:
    """The controls of one call, in order."""

    def __init__(self) -> None:
        self._waiting: deque[CallControl] = deque()
        self._sound = 0
        self._others = 0
        self._dropped = False
        self._arrived = Notifier()

    def put(self, controls: Iterable[CallControl]) -> None:
        """Append controls, dropping the oldest sound over the bound."""
        for control in controls:
            if isinstance(control, MicrophoneAudio):
                self._sound += len(control.pcm)
            elif self._others > CONTROLS:
                continue
            else:
                self._others += 1
            self._waiting.append(control)
        if self._sound > SOUND:
            self._drop_oldest()
        self._arrived.notify()

    async def take(self) -> list[CallControl]:
        """Everything that waits, waiting for at least one; a cancelled wait loses nothing. Raises Busy when too much has
        waited."""
        while not self._waiting:
            await self._arrived.wait()
        if self._others > CONTROLS:
            raise Busy("This call received more messages at a time than it can process.")
        controls = list(self._waiting)
        self._waiting.clear()
        self._sound = self._others = 0
        return controls

    def _drop_oldest(self) -> None:
        """Drop the sound that exceeds the bound, cutting into a piece where necessary."""
        if not self._dropped:
            self._dropped = True
            log.warning("a call's session is more than five seconds of sound behind; the oldest is dropped")
        rest: deque[CallControl] = deque()
        for control in self._waiting:
            surplus = self._sound - SOUND
            if not isinstance(control, MicrophoneAudio) or surplus <= 0:
                rest.append(control)
                continue
            # Whole samples only: half a sample would turn the rest of the call into noise.
            cut = min(len(control.pcm), surplus + surplus % SAMPLE_BYTES)
            self._sound -= cut
            if cut < len(control.pcm):
                rest.append(MicrophoneAudio(control.pcm[cut:]))
        self._waiting = rest
