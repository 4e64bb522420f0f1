"""What playback knows of a reply that is drawn: a `ReplyFilm`, and what that needs of playback: a `FilmStage`.

`call/playback.py` has one film for each reply of a call with video; `clipped_reply.py` and `streamed_reply.py` are the two kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from duologue.errors import Problem
from duologue.sessions.video.film_encoder import EncodedFrames
from duologue.turns.video.film_facts import Draw
from duologue.values.events import ReplyWord


class FinishedClip(Struct, frozen=True):
    """A reply's clip: the file, and its size in pixels."""

    data: bytes
    width: int
    height: int


class FilmStage(Protocol):
    """Where the film of a reply goes, and the time: playback."""

    def call_time(self) -> int:
        """The call's time in samples received (16 kHz)."""
        ...

    def send_due(self) -> None:
        """Something more may be sent now."""
        ...

    def sound_instead(self, reply: int, words: Sequence[ReplyWord]) -> None:
        """The reply is sent as sound after all; `words` are those that exist so far."""
        ...

    def send_segment(self, reply: int, draw: Draw, frames: EncodedFrames) -> None:
        """Send this stretch of the reply."""
        ...

    def end_video(self, reply: int) -> None:
        """Tell the client that there are no more pictures of this reply."""
        ...

    def report_problem(self, problem: Problem) -> None:
        """Tell the client of a problem."""
        ...


class ReplyFilm(Protocol):
    """The video of one reply."""

    @property
    def holds_sound(self) -> bool:
        """Whether the reply's sound is kept back, to be sent as a clip."""
        ...

    @property
    def holds_start(self) -> bool:
        """Whether the reply's sound, none of which was sent, waits a moment for the first picture."""
        ...

    @property
    def making(self) -> bool:
        """Whether nothing is missing but the clip."""
        ...

    def sounded(self) -> None:
        """There is more sound of the reply, or all of it."""
        ...

    def due(self) -> FinishedClip | None:
        """The reply may be sent now. The clip, once, where there is one."""
        ...

    def heard(self, samples: int) -> None:
        """The caller has heard the reply up to this sample."""
        ...

    def hold(self) -> None: ...

    def resume(self) -> None: ...

    def end(self) -> None:
        """The reply is over: nothing more of it is drawn or sent."""
        ...
