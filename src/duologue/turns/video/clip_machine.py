"""Decides how one reply of a call becomes a clip: buffered until its sound is complete, drawn once, sent as a whole or not at all.

`sessions/video/clipped_reply.py` feeds it. A reply is sent either as a clip or as sound, never as both: what cannot be drawn is sent as
sound from its beginning.
"""

from __future__ import annotations

from typing import Literal

from duologue.turns.video.film_facts import (
    LONGEST,
    TOO_LONG,
    DrawingFailed,
    Drawn,
    DrawWhole,
    DropDrawing,
    Due,
    FilmFact,
    FilmStep,
    Held,
    ReplyOver,
    Resumed,
    SendClip,
    SendSound,
    SoundAdded,
    SoundComplete,
    TellProblem,
)

State = Literal["buffering", "drawing", "drawn", "sent", "sound", "over"]
CLIP = 1
"""The number of the one drawing of a reply."""


class ClipMachine:
    """One reply. `take` every fact as it happens, and carry out the steps in order."""

    def __init__(self) -> None:
        self.state: State = "buffering"
        self._held = False

    @property
    def sounds(self) -> bool:
        """Whether the reply is sent as sound."""
        return self.state == "sound"

    @property
    def waits(self) -> bool:
        """Whether all of the reply exists and its clip does not yet."""
        return self.state == "drawing"

    def take(self, fact: FilmFact, now: int) -> list[FilmStep]:
        """The steps that follow from this fact. Facts that are late or repeated have none."""
        match fact:
            case SoundAdded(samples) if self.state == "buffering" and samples > LONGEST:
                # No more is buffered than could be sent as a clip.
                self.state = "sound"
                return [TellProblem(TOO_LONG), SendSound()]
            case SoundComplete(samples) if self.state == "buffering":
                return self._complete(samples, now)
            case Drawn(drawing) if self.state == "drawing" and drawing == CLIP:
                self.state = "drawn"
            case DrawingFailed(drawing) if self.state == "drawing" and drawing == CLIP:
                self.state = "sound"
                return [TellProblem(), SendSound()]
            case Held():
                self._held = True
            case Resumed():
                self._held = False
            case Due() if self.state == "drawn" and not self._held:
                self.state = "sent"
                return [SendClip(CLIP)]
            case ReplyOver() if self.state != "over":
                drawing = self.state == "drawing"
                self.state = "over"
                return [DropDrawing(CLIP)] if drawing else []
        return []

    def _complete(self, samples: int, now: int) -> list[FilmStep]:
        if not samples:
            self.state = "sound"
            return [SendSound()]
        if samples > LONGEST:
            self.state = "sound"
            return [TellProblem(TOO_LONG), SendSound()]
        self.state = "drawing"
        return [DrawWhole(CLIP, samples, now)]
