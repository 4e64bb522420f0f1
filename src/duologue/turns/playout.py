"""What exists of one reply's sound, what was sent, what was played, and so what was heard of its text.

Answers how much may be sent now and where the caller is; never sends anything itself. Positions are samples at 24 kHz
from the reply's first; `at` is the call's time in samples heard (16 kHz), which never falls. Knows no turn.
"""

from __future__ import annotations

from collections.abc import Iterable

from duologue.values.audio import HEARD_RATE, SPOKEN_RATE
from duologue.values.events import ReplyWord

AHEAD = SPOKEN_RATE
"""Samples that may be sent and not played yet, to a client that tells what it played and asks for nothing else."""
AHEAD_UNMARKED = SPOKEN_RATE // 5
"""The same to one that does not: all that can be played after a cut."""
MARK_PATIENCE = HEARD_RATE
"""Time without a mark, while there is something to play, after which playing is reckoned from what was sent."""


def played_in(heard: int) -> int:
    """How many samples of a reply (24 kHz) sound while so many are heard (16 kHz)."""
    return heard * SPOKEN_RATE // HEARD_RATE


class Playout:
    """One reply's sound on its way to the caller's ear. `marks`: the client tells what it has played, and may be sent `ahead`
    samples it has not."""

    def __init__(self, *, marks: bool = False, ahead: int = AHEAD) -> None:
        self.marks = marks
        self._ahead = ahead if marks else AHEAD_UNMARKED
        self.made = 0
        self.sent = 0
        self.complete = False
        self.written = ""
        self.words: list[ReplyWord] = []
        self._marked = 0
        self._patience_from: int | None = None
        self._reckoned = 0
        self._reckoned_at = 0
        self._told = 0
        self._held_at: int | None = None

    # ---- what there is

    def write(self, text: str) -> None:
        """More of the reply's text was written."""
        self.written += text

    def make(self, samples: int, words: Iterable[ReplyWord] = ()) -> None:
        """There are `samples` of sound in all, and these words begin in what is new."""
        self.made = max(self.made, samples)
        self.words.extend(words)

    def finish(self) -> None:
        """All of its sound was made."""
        self.complete = True

    # ---- on its way

    def due(self, at: int) -> int:
        """How many samples may be sent now; 0 while it is held."""
        if self._held_at is not None:
            return 0
        return max(0, min(self.made, self.position(at) + self._ahead) - self.sent)

    def send(self, samples: int, at: int) -> None:
        """So many more samples were sent."""
        self._reckon(at)
        if self._patience_from is None or self._marked >= self.sent:
            self._patience_from = at
        self.sent = min(self.made, self.sent + max(0, samples))

    def mark(self, samples: int, at: int) -> None:
        """The client has played up to this sample. What goes back, or past what was sent, is no news."""
        self._reckon(at)
        samples = min(samples, self.sent)
        if samples >= self._marked:
            self._marked = samples
            self._reckoned = samples
            self._patience_from = at

    def hold(self, at: int) -> None:
        """The client stops here and keeps what it has."""
        self._reckon(at)
        if self._held_at is None:
            self._held_at = at

    def resume(self, at: int) -> None:
        """The client goes on from the sample where it stopped."""
        if self._held_at is None:
            return
        if self._patience_from is not None:
            self._patience_from += at - self._held_at
        self._held_at = None
        self._reckoned_at = at

    @property
    def held(self) -> bool:
        return self._held_at is not None

    def position(self, at: int) -> int:
        """The sample the caller has heard up to: the client's last mark, or as much of what was sent as had time to sound.
        It never falls."""
        reckoned = self._sounded_by(at)
        if self.marks and not self._impatient(at):
            reckoned = self._marked
        self._told = max(self._told, reckoned)
        return self._told

    def _sounded_by(self, at: int) -> int:
        if self._held_at is not None:
            return self._reckoned
        return min(self.sent, self._reckoned + played_in(max(0, at - self._reckoned_at)))

    def _impatient(self, at: int) -> bool:
        if self._patience_from is None:
            return False
        until = at if self._held_at is None else self._held_at
        return self._marked < self.sent and until - self._patience_from > MARK_PATIENCE

    def _reckon(self, at: int) -> None:
        self._reckoned = self._sounded_by(at)
        self._reckoned_at = at

    def over(self, at: int) -> bool:
        """Whether all of it was made, sent and played."""
        return self.complete and self.sent >= self.made and self.position(at) >= self.made

    # ---- what was heard

    def heard(self, samples: int) -> tuple[str, str]:
        """The written text that was heard when sound up to this sample was played, and the rest of it. A word is heard when
        its end lies at or before that sample; the marks that stick to it go with it, the space after it does not."""
        if self.complete and samples >= self.made:
            return self.written, ""
        cut = 0
        for word in self.words:
            if word.end > samples:
                break
            if word.to > word.at:
                cut = max(cut, self._with_marks(word.to))
        return self.written[:cut], self.written[cut:]

    def _with_marks(self, to: int) -> int:
        while to < len(self.written) and not self.written[to].isspace() and not self.written[to].isalnum():
            to += 1
        return to

    def sounding(self, start: int, end: int) -> tuple[str, ...]:
        """The words as they sound between these samples."""
        return tuple(word.text for word in self.words if word.end > start and word.start < end)
