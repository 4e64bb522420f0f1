"""The messages of an open call that its session has not read yet.

The connection puts, the session takes. Owns the bounds: a number of seconds of sound, of which the oldest is dropped when
the session falls behind; the bytes of chunks and pictures, of which old pictures are dropped; and a number of other messages. Beyond
what dropping can mend the call ends.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable

from msgspec import structs

from duologue.errors import Busy
from duologue.notifier import Notifier
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES
from duologue.values.call_events import CallChunk, CallControl, CallFrame, MicrophoneAudio

log = logging.getLogger(__name__)

SOUND = 5 * HEARD_RATE * SAMPLE_BYTES
"""Bytes of sound that may wait: five seconds. A session that is further behind continues with what is said now."""
MEDIA = 32 * 1024 * 1024
"""Bytes of chunks and pictures that may wait. A chunk is answered by a result, so it is not dropped, but its pictures are: the newest count."""
CONTROLS = 4096
"""Other messages that may wait. A session that works reads them within one turn of its loop."""


class ControlInbox:
    """The controls of one call, in order."""

    def __init__(self) -> None:
        self._waiting: deque[CallControl] = deque()
        self._sound = 0
        self._others = 0
        self._media = 0
        self._dropped = False
        self._arrived = Notifier()

    def put(self, controls: Iterable[CallControl]) -> None:
        """Append controls, dropping the oldest sound over the bound."""
        for control in controls:
            if isinstance(control, MicrophoneAudio):
                self._sound += len(control.pcm)
            elif self._overflows:
                continue
            else:
                self._others += 1
                self._media += _media_bytes(control)
            self._waiting.append(control)
        if self._sound > SOUND:
            self._drop_oldest()
        if self._media > MEDIA:
            self._drop_pictures()
        self._arrived.notify()

    async def take(self) -> list[CallControl]:
        """Everything that waits, waiting for at least one; a cancelled wait loses nothing. Raises Busy when too much has
        waited."""
        while not self._waiting:
            await self._arrived.wait()
        if self._overflows:
            raise Busy("This call received more messages at a time than it can process.")
        controls = list(self._waiting)
        self._waiting.clear()
        self._sound = self._others = self._media = 0
        return controls

    @property
    def _overflows(self) -> bool:
        return self._others > CONTROLS or self._media > MEDIA

    def _drop_pictures(self) -> None:
        """Drop every picture but the newest."""
        log.warning("a call's session is too far behind; only the newest of its pictures is kept")
        rest: deque[CallControl] = deque()
        kept = False
        for control in reversed(self._waiting):
            has_pictures = isinstance(control, CallFrame) or (
                isinstance(control, CallChunk) and control.frames
            )
            if has_pictures and kept:
                if isinstance(control, CallFrame):
                    continue
                assert isinstance(control, CallChunk)
                control = structs.replace(control, frames=())
            kept = kept or bool(has_pictures)
            rest.appendleft(control)
        self._waiting = rest
        self._media = sum(map(_media_bytes, rest))

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


def _media_bytes(control: CallControl) -> int:
    """Bytes of a chunk with its pictures, or of a picture."""
    if isinstance(control, CallChunk):
        return len(control.pcm) + sum(len(frame.data) for frame in control.frames)
    return len(control.frame.data) if isinstance(control, CallFrame) else 0
