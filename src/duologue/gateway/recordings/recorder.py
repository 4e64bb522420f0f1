"""What a call reports to its recording, as it happens. Costs the call nothing but memory, and no more of that than a bound.

Implements the observer of `gateway/calls`; `writer` takes out what is settled. Made by `service`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import anyio

from duologue.gateway.recordings.timeline import SettledPiece, Timeline
from duologue.notifier import Notifier
from duologue.values import call_events
from duologue.values.call_events import CallControl, CallEvent
from duologue.values.messages import ImagePart
from duologue.values.recordings import RecordingEnd

MOST_PENDING = 32 * 2**20
"""Bytes that may wait for the disk: minutes of sound, or some large pictures. Beyond it the recording ends, and says why."""
TITLE = 80
"""Characters of what was said first that name the recording."""


class Recorder:
    """One recording that runs. `marks`: the client reports what it has played; `chat`: it is a chat's, with all of the asked sound at
    once, and of the reply what is sent counts as heard. `on_end` is called once when it ends by itself.

    Its time begins with the first thing the server sends, because a call that waits in a queue has not begun; with `at_once` it
    begins now.
    """

    def __init__(
        self,
        id: str,
        *,
        marks: bool,
        now: Callable[[], float],
        on_end: Callable[[RecordingEnd], None] = lambda reason: None,
        at_once: bool = False,
        chat: bool = False,
        most_pending: int = MOST_PENDING,
    ) -> None:
        self.id = id
        self.title = ""
        self.frames = 0
        self.ended: RecordingEnd = ""
        self.wake = Notifier()
        """Notified when it has ended."""
        self.written = anyio.Event()
        """Set when all of it is in its files and the database knows its end."""
        self._marks, self._now, self._most_pending = marks, now, most_pending
        self._on_end = on_end
        self._chat = chat
        self._timeline: Timeline | None = self._new_timeline() if at_once else None
        self._finished_at: float | None = None

    def _new_timeline(self) -> Timeline:
        return Timeline(self._now(), marks=self._marks, heard_when_sent=self._chat)

    @property
    def pending(self) -> int:
        """Bytes that wait to be written."""
        return self._timeline.pending if self._timeline else 0

    @property
    def duration(self) -> int:
        """Milliseconds that were taken out."""
        return self._timeline.length // 16 if self._timeline else 0

    # ---- from the call

    def client_sent(self, control: CallControl) -> None:
        """The client sent this."""
        if self._timeline is not None and not self.ended:
            self._timeline.client_sent(control, self._now())
            if self._chat and isinstance(control, call_events.MicrophoneAudio):
                # It comes all at once, and its request had no more than it may.
                self._most_pending += len(control.pcm)
            self._check()

    def server_sent(self, events: Sequence[CallEvent]) -> None:
        """The client was sent these, in order."""
        if self.ended:
            return
        self._timeline = self._timeline or self._new_timeline()
        self._timeline.server_sent(events, self._now())
        for event in events:
            if isinstance(event, call_events.SpeakingClip):
                # Its sound comes all at once, and is heard as time passes.
                self._most_pending += len(event.pcm)
            if isinstance(event, call_events.UserSaid) and not self.title:
                self.title = " ".join(event.text.split())[:TITLE]
        self._check()

    def saw(self, image: ImagePart) -> None:
        """A picture of the camera or the screen arrived."""
        if self._timeline is not None and not self.ended:
            self._timeline.saw(image, self._now())
            self.frames += 1
            self._check()

    def close(self) -> None:
        """The call is over."""
        self._on_end = lambda reason: None
        self._end("ended")

    def stop(self, reason: RecordingEnd) -> None:
        """The recording ends, and the call does not."""
        if not self.ended:
            self._end(reason)
            self._on_end(reason)

    def _end(self, reason: RecordingEnd) -> None:
        if not self.ended:
            self.ended, self._finished_at = reason, self._now()
            self.wake.notify()

    def _check(self) -> None:
        if self.pending > self._most_pending:
            self.stop("slow_disk")

    # ---- to the writer

    def take(self) -> SettledPiece:
        """What is settled; once it has ended, the rest."""
        if self._timeline is None:
            return SettledPiece()
        if self._finished_at is not None:
            return self._timeline.finish(self._finished_at)
        return self._timeline.take(self._now())
