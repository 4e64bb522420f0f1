"""Accounts for one reply's sound: what exists, what was sent, what was played, and so which of its words were heard.

sessions/call/playback.py asks how much may be sent now, and where the caller is. Positions are samples at 24 kHz from the
reply's first; `at` is the call's time in samples received (16 kHz), which never falls.
"""

from __future__ import annotations

from collections.abc import Iterable

from duologue.values.audio import HEARD_RATE, SPOKEN_RATE
from duologue.values.events import ReplyWord

AHEAD = SPOKEN_RATE
"""Samples that may be sent ahead of playback to a client that reports its position, unless it asks for more."""
AHEAD_UNMARKED = SPOKEN_RATE // 5
"""The same for a client that does not: at most this much still plays after a cut."""
MARK_PATIENCE = HEARD_RATE
"""Time without a mark, with sound left to play, after which the position is estimated from what was sent."""

GAP = HEARD_RATE // 10
"""Time without sound inside a reply from which it counts as a gap: a tenth of a second, which one hears."""
MOST_GAPS = 100
"""Gaps of one reply that are remembered."""


def played_in(received: int) -> int:
    """Samples of a reply (24 kHz) that play while this many are received (16 kHz)."""
    return received * SPOKEN_RATE // HEARD_RATE


class Playout:
    """One reply's sound on its way to the caller. `marks`: the client reports what it has played, and may be sent `ahead`
    samples more than that."""

    def __init__(self, *, marks: bool = False, ahead: int = AHEAD) -> None:
        self.marks = marks
        self._ahead = ahead if marks else AHEAD_UNMARKED
        self.length = 0
        self.sent = 0
        self.complete = False
        self.written = ""
        self.words: list[ReplyWord] = []
        self._marked = 0
        self._patience_from: int | None = None
        self._estimate = 0
        self._estimated_at = 0
        self._reported = 0
        self._held_at: int | None = None
        self.gaps: list[float] = []
        """The silences inside the reply so far, because its sound came too late, in milliseconds."""
        self._silence_expected = False

    # ---- sound and text

    def write(self, text: str) -> None:
        """Append text to the reply."""
        self.written += text

    def add_sound(self, samples: int, words: Iterable[ReplyWord] = ()) -> None:
        """`samples` of sound exist in total; these words begin in the new part."""
        self.length = max(self.length, samples)
        self.words.extend(words)

    def finish(self) -> None:
        """All of its sound exists."""
        self.complete = True

    # ---- sending and playing

    def due(self, at: int) -> int:
        """Samples that may be sent now; 0 while on hold."""
        if self._held_at is not None:
            return 0
        return max(0, min(self.length, self.position(at) + self._ahead) - self.sent)

    def send(self, samples: int, at: int) -> None:
        """Record that more samples were sent."""
        self._note_gap(at)
        self._update_estimate(at)
        if self._patience_from is None or self._marked >= self.sent:
            self._patience_from = at
        self.sent = min(self.length, self.sent + max(0, samples))

    def expect_silence(self) -> None:
        """The reply pauses on purpose before its next sound: that is no gap."""
        self._silence_expected = True

    def _note_gap(self, at: int) -> None:
        """More sound is sent: how long was there none to play? By the estimate, which a client's marks correct: they arrive late, so a
        gap is rather told too short."""
        if self.sent and not self._silence_expected and not self.held and len(self.gaps) < MOST_GAPS:
            ran_out = self._estimated_at + (self.sent - self._estimate) * HEARD_RATE // SPOKEN_RATE
            if at - ran_out >= GAP:
                self.gaps.append(round((at - ran_out) * 1000 / HEARD_RATE, 1))
        self._silence_expected = False

    def mark(self, samples: int, at: int) -> None:
        """The client has played up to this sample. Positions that go back, or past what was sent, are not believed."""
        self._update_estimate(at)
        samples = min(samples, self.sent)
        if samples >= self._marked:
            self._marked = samples
            self._estimate = samples
            self._patience_from = at

    def hold(self, at: int) -> None:
        """The client stops here and retains what it has not played."""
        self._update_estimate(at)
        if self._held_at is None:
            self._held_at = at

    def resume(self, at: int) -> None:
        """The client continues from the sample where it stopped."""
        if self._held_at is None:
            return
        if self._patience_from is not None:
            self._patience_from += at - self._held_at
        self._held_at = None
        self._estimated_at = at

    @property
    def held(self) -> bool:
        return self._held_at is not None

    def position(self, at: int) -> int:
        """The sample the caller has heard up to: the client's last mark, or an estimate from what was sent and how long ago.
        It never falls."""
        position = self._marked if self.marks and not self._impatient(at) else self._estimate_at(at)
        # The estimate may have run ahead of a mark that arrives late.
        self._reported = max(self._reported, position)
        return self._reported

    def _estimate_at(self, at: int) -> int:
        if self._held_at is not None:
            return self._estimate
        return min(self.sent, self._estimate + played_in(max(0, at - self._estimated_at)))

    def _impatient(self, at: int) -> bool:
        if self._patience_from is None:
            return False
        # The client sends no marks while it is on hold, so that time does not count.
        until = at if self._held_at is None else self._held_at
        return self._marked < self.sent and until - self._patience_from > MARK_PATIENCE

    def _update_estimate(self, at: int) -> None:
        self._estimate = self._estimate_at(at)
        self._estimated_at = at

    def over(self, at: int) -> bool:
        """Whether all of it exists, was sent and has played."""
        return self.complete and self.sent >= self.length and self.position(at) >= self.length

    # ---- the heard text

    def heard(self, samples: int) -> tuple[str, str]:
        """The written text that was heard once sound up to this sample had played, and the rest of it. A word was heard if
        its end lies at or before that sample; punctuation attached to it goes with it, the space after it does not."""
        if self.complete and samples >= self.length:
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

    def words_between(self, start: int, end: int) -> tuple[str, ...]:
        """The spoken words that play between these samples."""
        return tuple(word.text for word in self.words if word.end > start and word.start < end)
