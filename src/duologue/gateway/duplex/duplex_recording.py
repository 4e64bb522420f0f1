"""The recording of one duplex session: begun by `prepare`, ended with the session. Used by `DuplexSession`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from duologue.errors import Problem
from duologue.gateway.calls.call import Call
from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.calls.observer import CallObserver
from duologue.values.call_events import Played
from duologue.wire.sound import recording_message


class DuplexRecording:
    """`wake` is called when there are `notices` for the client."""

    def __init__(self, services: CallServices, call: Call, user: str, wake: Callable[[], None]) -> None:
        self._services, self._call, self._user, self._wake = services, call, user, wake
        self._recorder: CallObserver | None = None
        self._ends: list[tuple[str, str]] = []

    @property
    def id(self) -> str:
        """The recording's id; "" while none runs."""
        return self._recorder.id if self._recorder is not None else ""

    async def switch(self, on: bool | None) -> Problem | None:
        """Record from now on, or no longer; None leaves it as it is. Gives what keeps it from being recorded."""
        if on is False and self._recorder is not None:
            self._recorder.stop("stopped")
        if not on or self._recorder is not None:
            return None
        try:
            self._recorder = await self._services.recordings.start(
                self._user, "duplex", marks=True, at_once=True, on_end=self._ended
            )
        except Problem as problem:
            return problem
        self._call.observer = self._recorder
        return None

    def report(self, left: Iterable[Played]) -> None:
        """What the client plays on of replies that were cut."""
        if self._recorder is not None:
            for played in left:
                self._recorder.client_sent(played)

    def close(self) -> None:
        """The session is over."""
        if self._recorder is not None:
            self._recorder.close()

    def notices(self, epoch: int) -> list[str]:
        """What the client was not told yet: recordings that ended before the session."""
        ends, self._ends = self._ends, []
        return [recording_message(epoch, id, on=False, reason=reason) for id, reason in ends]

    def _ended(self, reason: str) -> None:
        self._ends.append((self.id, reason))
        self._recorder = self._call.observer = None
        self._wake()
