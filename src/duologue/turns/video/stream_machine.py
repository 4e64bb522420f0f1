"""Decides what is drawn of a reply whose video goes beside its sound: which frames next, how many, and what is too late to be sent.

`sessions/video/streamed_reply.py` feeds it. A reply begins with a stretch of one frame, and each of the next ones is longer, so that the
lips are there when its sound begins: the sound waits for that one frame, START_HOLD at most, and never for another. Where drawing is slower
than playback, frames are skipped, so that the lips move again at the right time.
"""

from __future__ import annotations

from duologue.turns.video.film_facts import (
    LONGEST,
    TOO_LONG,
    Draw,
    DrawingFailed,
    Drawn,
    DropDrawing,
    Due,
    EndVideo,
    FilmFact,
    FilmStep,
    Heard,
    Held,
    ReplyOver,
    Resumed,
    SendSegment,
    SoundAdded,
    SoundComplete,
    TellProblem,
    clock_frame,
    frames_of,
    sample_of,
)
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE

LOOK_AHEAD = SPOKEN_RATE * 3 // 10
"""Samples that must exist after a frame before it is drawn: the mouth's keys are known that much later than the sound."""
AHEAD = 2 * SPOKEN_RATE
"""Samples that are drawn ahead of what the caller has heard, at most."""
AHEAD_UNSENT = SPOKEN_RATE // 2
"""The same before the reply may be sent: it may be taken back."""
SHORTEST = SPOKEN_RATE // 5
"""Samples of a stretch whose time is near, except for the first ones."""
START_HOLD = HEARD_RATE * 3 // 50
"""How long the sound of a reply waits for its first picture, on the call's clock: 60 ms. Drawing and encoding one takes 40 to 60 ms while
the same process synthesises the reply; a mouth that starts after the voice is seen, a voice 50 ms later is not heard."""
WHOLE = SPOKEN_RATE
"""Samples of a stretch for which there is time."""
PATIENCE = SPOKEN_RATE * 3 // 5
"""How long before its time a stretch is drawn although there is not sound for a whole one."""
ASSUMED_COST = 0.5
"""Seconds that drawing a second takes, until it was measured."""
LEARNS = 0.5
"""Weight of the latest stretch in that cost."""


class StreamMachine:
    """One reply. `take` every fact as it happens, and carry out the steps in order. `rate`: frames a second. `expected`: how long the first
    picture of the reply before took, on the call's clock; the sound waits for none that would come after START_HOLD anyway."""

    def __init__(self, rate: int, expected: int = 0) -> None:
        self.first_took: int | None = None
        """How long the first picture took, on the call's clock; None: it is not drawn yet."""
        self._expected = expected
        self.late = 0
        """Frames that were skipped, or drawn too late to be sent."""
        self._rate = rate
        self._length = 0
        self._complete = False
        self._next = 0
        """The frame that is drawn next."""
        self._clock = 0
        """The number of the reply's frame 0 on the avatar's clock,"""
        self._joins = True
        """which the next stretch determines anew."""
        self._heard = 0
        self._due = self._held = self._over = self._ended = False
        self._drawings = 0
        self._drawing: Draw | None = None
        self._asked_at = 0
        self._ready: list[Draw] = []
        self._sent = False
        self._cost = ASSUMED_COST

    @property
    def over(self) -> bool:
        """Whether no more of it is drawn."""
        return self._over or self._ended

    def holds_start(self, now: int) -> bool:
        """Whether the reply's sound, none of which was sent, waits for the picture that is being drawn."""
        return (
            self._drawing is not None
            and self._drawing.drawing == 1
            and self._expected <= START_HOLD
            and now - self._asked_at < START_HOLD
        )

    def take(self, fact: FilmFact, now: int) -> list[FilmStep]:
        """The steps that follow from this fact. Facts that are late or repeated have none."""
        if self._over:
            return []
        match fact:
            case SoundAdded(samples):
                self._length = max(self._length, samples)
            case SoundComplete(samples):
                self._length, self._complete = max(self._length, samples), True
            case Due():
                self._due = True
            case Heard(samples):
                self._heard = max(self._heard, samples)
            case Held():
                self._held = True
            case Resumed():
                # The avatar's clock went on meanwhile.
                self._held, self._joins = False, True
            case ReplyOver():
                return self._cut()
            case Drawn(drawing) if self._drawing is not None and drawing == self._drawing.drawing:
                self._drawn(self._drawing, now)
            case DrawingFailed(drawing) if self._drawing is not None and drawing == self._drawing.drawing:
                return self._failed()
        return [*self._send(), *self._draw(now)]

    # ---- what was drawn

    def _drawn(self, drawing: Draw, now: int) -> None:
        seconds = drawing.count / self._rate
        took = (now - self._asked_at) / HEARD_RATE
        # A few frames say less: what a stretch costs besides is much of their time.
        weight = LEARNS * min(1.0, max(0.5, seconds * SPOKEN_RATE / SHORTEST))
        self._cost += weight * (took / seconds - self._cost)
        if self.first_took is None:
            self.first_took = now - self._asked_at
        self._drawing = None
        self._ready.append(drawing)

    def _send(self) -> list[FilmStep]:
        """Send what is ready, in order; what the caller has heard meanwhile is dropped."""
        if not self._due or self._held:
            return []
        steps: list[FilmStep] = []
        for drawing in self._ready:
            if sample_of(drawing.frame + drawing.count, self._rate) > self._heard:
                steps.append(SendSegment(drawing.drawing))
                self._sent = True
                self._ended = self._ended or drawing.last
                continue
            self.late += drawing.count
            steps.append(DropDrawing(drawing.drawing))
            if drawing.last:
                steps += self._end()
        self._ready = []
        return steps

    def _end(self) -> list[FilmStep]:
        if self._ended:
            return []
        self._ended = True
        return [EndVideo()] if self._sent else []

    def _failed(self) -> list[FilmStep]:
        steps = [*self._send(), TellProblem(), *self._end()]
        dropped = [DropDrawing(drawing.drawing) for drawing in self._ready]
        self._drawing, self._ready, self._over = None, [], True
        return [*steps, *dropped]

    def _cut(self) -> list[FilmStep]:
        dropped = [*self._ready, *([self._drawing] if self._drawing is not None else [])]
        self._drawing, self._ready, self._over = None, [], True
        return [DropDrawing(drawing.drawing) for drawing in dropped]

    # ---- what is drawn next

    def _draw(self, now: int) -> list[FilmStep]:
        if self._drawing is not None or self._held or self.over or self._ready_ends():
            return []
        self._skip_late()
        start = sample_of(self._next, self._rate)
        ahead = start - self._heard
        if start >= LONGEST:
            self._over = True
            return [TellProblem(TOO_LONG), *self._end()]
        total = frames_of(self._length, self._rate)
        if self._complete and self._next >= total:
            # Its last frames were skipped.
            return self._end() if self._due else []
        if ahead > (AHEAD if self._due else AHEAD_UNSENT):
            return []
        count = self._count(total, ahead)
        if not count:
            return []
        if self._joins or (self._due and start <= self._heard):
            shown = clock_frame(now, self._rate) + max(0, ahead) * self._rate // SPOKEN_RATE
            self._clock, self._joins = max(self._clock, shown - self._next), False
        self._drawings += 1
        last = self._complete and self._next + count >= total
        self._drawing = Draw(self._drawings, self._next, self._clock + self._next, count, last)
        self._asked_at = now
        self._next += count
        return [self._drawing]

    def _ready_ends(self) -> bool:
        return any(drawing.last for drawing in self._ready)

    def _skip_late(self) -> None:
        """Skip frames if the next stretch would be over by the time it is drawn."""
        takes = round(self._cost * SHORTEST)
        if not self._heard or sample_of(self._next, self._rate) + SHORTEST - self._heard > takes:
            return
        earliest = frames_of(self._heard + takes, self._rate)
        if earliest > self._next:
            self.late += earliest - self._next
            self._next = earliest

    def _count(self, total: int, ahead: int) -> int:
        """How many frames to draw now: as many as can be drawn until the first of them is shown. 0: wait for more sound."""
        exists = self._length if self._complete else self._length - LOOK_AHEAD
        frames = (total if self._complete else exists * self._rate // SPOKEN_RATE) - self._next
        # One frame, two, four: the first is there at once, and each stretch lasts while the next one is drawn.
        shortest = min(frames_of(SHORTEST, self._rate), 1 << self._drawings)
        whole = frames_of(WHOLE, self._rate)
        in_time = (
            int(max(0, ahead) / max(self._cost, 0.01) * self._rate / SPOKEN_RATE) if self._drawings else 0
        )
        count = min(max(in_time, shortest), whole)
        if frames >= count or self._complete:
            return max(0, min(frames, count))
        urgent = ahead < PATIENCE or not self._drawings
        return frames if frames >= shortest and urgent else 0
