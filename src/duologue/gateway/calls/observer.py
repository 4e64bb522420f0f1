"""Who looks on at a call: everything that passes between its client and its session, as it happens. Used for recordings.

`Call` reports to the observer it was given; `recordings` implements both protocols without being known here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from duologue.values.call_events import CallControl, CallEvent
from duologue.values.messages import ImagePart


class CallObserver(Protocol):
    """Methods return at once and raise nothing."""

    @property
    def id(self) -> str:
        """The id of the recording."""
        ...

    def client_sent(self, control: CallControl) -> None:
        """The client sent this."""
        ...

    def server_sent(self, events: Sequence[CallEvent]) -> None:
        """The session sent these to the client, in order."""
        ...

    def saw(self, image: ImagePart) -> None:
        """A picture of the camera or the screen arrived."""
        ...

    def stop(self, reason: Literal["stopped"]) -> None:
        """Its owner wants no more of the call recorded."""
        ...

    def close(self) -> None:
        """The call is over."""
        ...


class CallRecordings(Protocol):
    """Begins recordings."""

    async def start(
        self,
        user: str,
        kind: Literal["call", "duplex", "chat"],
        *,
        conversation: str = "",
        marks: bool,
        at_once: bool,
        on_end: Callable[[str], None],
    ) -> CallObserver:
        """Record from now on, or with `at_once` False from the call's first event. `marks`: the client reports what it has played. `on_end` is told if the recording ends before the
        call. Raises Problem."""
        ...
