"""A duplex session in units: a piece of sound comes in, and what is to be played in the same time goes out.

Owns which sound and which words each unit carries, what of them was heard, and what becomes of pieces that come late.
A reply that was cut is never given on. Pure: every call takes the time `at` (seconds, any origin). Positions are
samples at 24 kHz from a reply's first. Knows no message and no socket.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from duologue.values import call_events
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE
from duologue.values.call_events import CallEvent
from duologue.values.duplex import AudioArrival, Unit
from duologue.values.events import ReplyWord

DELAY = 0.2
"""Seconds that clients of this protocol wait before they play the first sound of a reply."""
PATIENCE = 0.5
"""The part of a unit's length that its answer may wait for sound that is about to come, at most so many seconds."""
DROPPED = 5.0
"""Seconds behind which a piece that comes with others is not listened to any more."""
FORGIVEN = 3
"""Pieces at the pace of time after which a gap before them counts as one, and no longer as lag."""
PASSING = (
    call_events.ReplyAudioStarted,
    call_events.ReplyAudio,
    call_events.ReplyAudioEnded,
    call_events.ReplyText,
    call_events.Hold,
    call_events.Resume,
)
"""What means nothing any more in a later epoch."""
SAYING = ("thinking", "speaking", "paused")
"""States in which there is something to interrupt."""
REMEMBERED = 16
"""Replies of which it is still known whether they were cut."""
EXPECTANT = ("hearing", "thinking", "speaking")
"""States in which the next sound of a reply may be near."""


class _Spoken(Struct):
    """One reply as far as it came, was given and was played."""

    number: int
    pending: bytearray = field(default_factory=bytearray)
    written: str = ""
    told: int = 0
    """Characters of `written` that were given."""
    words: list[ReplyWord] = field(default_factory=list)
    timed: bool = False
    given: int = 0
    marked: int = 0
    all: bool = False
    """Nothing more of it will come."""
    open: bool = False
    """Something of it was given, and not its end."""
    held: bool = False
    muted: bool = False
    """It was cut; what still comes of it is for nobody."""

    @property
    def waiting(self) -> int:
        """Samples that came and were not given."""
        return len(self.pending) // SAMPLE_BYTES

    @property
    def left(self) -> bool:
        """Whether something of it, or its end, is still to be given."""
        return bool(self.pending) or (self.all and (self.open or self.told < len(self.written)))

    def cut(self) -> bool:
        """Give nothing more of it. Whether its end is owed."""
        owed = self.open
        self.muted = self.all = True
        self.open = self.held = False
        self.pending.clear()
        self.told, self.marked = len(self.written), self.given
        return owed

    def give(self, count: int) -> tuple[bytes, str]:
        """The next `count` samples, and the written text up to the last word that begins in them."""
        pcm = bytes(self.pending[: count * SAMPLE_BYTES])
        del self.pending[: count * SAMPLE_BYTES]
        self.given += count
        self.open = self.open or bool(count)
        to = self._text_end(count)
        text, self.told = self.written[self.told : to], max(self.told, to)
        self.words = [word for word in self.words if word.start >= self.given]
        return pcm, text

    def _text_end(self, count: int) -> int:
        if (self.all and not self.pending) or (count and not self.timed):
            return len(self.written)
        to = self.told
        if count:
            to = max((word.to for word in self.words if word.start < self.given), default=to)
        if to > self.told:
            while to < len(self.written) and not (self.written[to].isalnum() or self.written[to].isspace()):
                to += 1
        return to


class DuplexBuffer:
    """The units of one session. `take` what its call says and every `piece` that comes; `due` gives the answers, in order."""

    def __init__(self) -> None:
        self.epoch = 0
        self.count = 0
        """Pieces that came so far."""
        self._until = 0.0
        self._state: call_events.CallState = "listening"
        self._unanswered: deque[Unit] = deque()
        self._words: str | None = None
        self._pace = _Pace()
        self._replies: dict[int, _Spoken] = {}
        self._line: list[_Spoken] = []
        self._owes_end = False

    # ---- what the call says

    def take(self, events: Iterable[CallEvent]) -> None:
        """What the session says, in its order; of what is stale nothing is kept."""
        batch = [
            event
            for event in events
            if not isinstance(event, call_events.TranscriptText | call_events.CallSessionEnded)
        ]
        self.epoch = max([self.epoch, *(event.epoch for event in batch)])
        for event in batch:
            if event.epoch == self.epoch or not isinstance(event, PASSING):
                self._take(event)

    def _take(self, event: CallEvent) -> None:
        match event:
            case call_events.State():
                self._state = event.state
            case call_events.Transcribed() if event.final and event.text:
                self._words = event.text
            case call_events.ReplyAudioStarted():
                self._known(event.reply)
            case call_events.ReplyText():
                spoken = self._known(event.reply)
                spoken.written += event.text
                # The last text comes before the sound's end, and alone where there was nothing to speak.
                if event.final and not spoken.given and not spoken.pending:
                    spoken.all = True
                self._queue(spoken)
            case call_events.ReplyAudio():
                spoken = self._known(event.reply)
                spoken.pending += event.pcm
                spoken.words.extend(event.words)
                spoken.timed = spoken.timed or bool(event.words)
                self._queue(spoken)
            case call_events.ReplyAudioEnded() | call_events.AssistantSaid():
                if (ended := self._replies.get(event.reply)) is not None:
                    ended.all = True
                    self._queue(ended)
            case call_events.Hold() | call_events.Resume():
                if (held := self._replies.get(event.reply)) is not None:
                    held.held = isinstance(event, call_events.Hold)
            case call_events.Cut():
                self._cut(self._replies.get(event.reply))

    def _known(self, reply: int) -> _Spoken:
        if reply not in self._replies:
            self._replies[reply] = _Spoken(reply)
            if len(self._replies) > REMEMBERED:
                del self._replies[min(self._replies)]
        return self._replies[reply]

    def _queue(self, spoken: _Spoken) -> None:
        if spoken.muted:
            spoken.cut()
        elif spoken.left and all(one is not spoken for one in self._line):
            self._line.append(spoken)

    def _cut(self, spoken: _Spoken | None) -> None:
        if spoken is not None:
            self._owes_end = spoken.cut() or self._owes_end
            self._line = [one for one in self._line if one is not spoken]

    # ---- what the client does

    def piece(self, samples: int, at: float, *, forced: bool = False, frames: int = 0) -> AudioArrival:
        """A piece of sound came (`samples` at 16 kHz), with so many pictures. `forced`: its answer may carry no sound."""
        arrival = self._pace.arrived(samples / HEARD_RATE, at)
        self.count += 1
        self._unanswered.append(Unit(self.count, at, arrival, frames, forced, samples))
        return arrival

    def interrupt(self, at: float) -> call_events.Interrupt | None:
        """The client has stopped playing and wants no more of the reply: what to tell the session, if there is one."""
        sounding = self._sounding
        heard = None if sounding is None else self._position(sounding, at)
        self._until = min(self._until, at)
        for spoken in list(self._replies.values()):
            self._cut(spoken)
        if sounding is not None:
            return call_events.Interrupt(sounding.number, heard)
        return call_events.Interrupt() if self._state in SAYING else None

    def pause(self) -> None:
        """The client will be silent: the pace of its pieces is learned anew."""
        self._pace = _Pace()

    # ---- what it is given

    @property
    def unanswered(self) -> int:
        """Pieces that wait for their answer."""
        return len(self._unanswered)

    @property
    def next(self) -> float | None:
        """When the piece that waits is answered at the latest."""
        return self._deadline(self._unanswered[0]) if self._unanswered else None

    def due(self, at: float, *, now: bool = False) -> list[Unit]:
        """The answers that can be given, in order. `now`: all of them."""
        answers = []
        while self._unanswered:
            unit = self._unanswered[0]
            if len(self._unanswered) == 1 and not now and not self._ready(unit, at):
                break
            self._unanswered.popleft()
            answers.append(self._answer(unit, at))
        return answers

    @property
    def _front(self) -> _Spoken | None:
        """Whose sound is given next."""
        while self._line and not self._line[0].left and len(self._line) > 1:
            self._line.pop(0)
        if self._line and not self._line[0].left and not self._line[0].open:
            self._line.clear()
        return self._line[0] if self._line else None

    @staticmethod
    def _deadline(unit: Unit) -> float:
        return unit.at + min(PATIENCE, PATIENCE * unit.samples / HEARD_RATE)

    def _ready(self, unit: Unit, at: float) -> bool:
        """Whether nothing is gained by waiting."""
        if unit.forced or at >= self._deadline(unit):
            return True
        front = self._front
        if front is None:
            return self._state not in EXPECTANT
        if front.held or front.all:
            return True
        return front.waiting >= self._room(unit, at)

    def _room(self, unit: Unit, at: float) -> int:
        """How much may be given: what sounds until the next piece comes, and what the client is short of."""
        length = unit.samples * SPOKEN_RATE // HEARD_RATE
        lead = max(0.0, self._until - at)
        return max(0, min(length, length + round((2 * DELAY - lead) * SPOKEN_RATE)))

    def _answer(self, unit: Unit, at: float) -> Unit:
        words, self._words = self._words, None
        cut, self._owes_end = self._owes_end, False
        unit = replace(unit, words=words, end_of_turn=cut, interrupted=cut)
        front = self._front
        if front is None or front.held or unit.forced:
            return unit
        room = self._room(unit, at)
        count = min(room, front.waiting)
        if not front.given and not front.all and count < room // 2:
            # A beginning that goes on no sooner than the next unit would break in the middle of a word.
            return unit
        pcm, text = front.give(count)
        if count:
            start = self._until if self._until > at else at + DELAY
            self._until = start + count / SPOKEN_RATE
        ended = front.all and not front.pending
        if ended:
            front.open = False
        speaks = bool(count or text) or front.open
        return replace(
            unit,
            is_listen=not (speaks or ended),
            text=text,
            pcm=pcm if pcm.strip(b"\0") else b"",
            end_of_turn=ended or (cut and not speaks),
            reply=front.number,
        )

    # ---- what was heard

    @property
    def _sounding(self) -> _Spoken | None:
        """Which reply is being played, or will be next."""
        marks = [spoken for spoken in self._replies.values() if self._unplayed(spoken)]
        return next((spoken for spoken in marks if spoken.given), marks[0] if marks else None)

    @staticmethod
    def _unplayed(spoken: _Spoken) -> bool:
        return not spoken.muted and (bool(spoken.pending) or spoken.marked < spoken.given)

    def _position(self, spoken: _Spoken, at: float) -> int:
        left = max(0, round((self._until - at) * SPOKEN_RATE))
        return max(spoken.marked, spoken.given - left)

    @property
    def sounds(self) -> bool:
        """Whether there is something of whose playing the session is to be told."""
        return self._sounding is not None

    def played(self, at: float) -> call_events.Played | None:
        """How far the client is, for the session, to be told several times a second: also when it has not moved on, for of a
        client that says nothing it is thought that it plays on. What it was given it plays, also when its call is held: this
        protocol cannot take it back."""
        spoken = self._sounding
        if spoken is None:
            return None
        spoken.marked = spoken.given if spoken.held else self._position(spoken, at)
        return call_events.Played(spoken.number, spoken.marked)


class _Pace:
    """How the pieces of one stretch of sound arrive, against the time they hold."""

    def __init__(self) -> None:
        self._heard = 0.0
        self._usual: float | None = None
        self._last = 0.0
        self._steady = 0

    def arrived(self, length: float, at: float) -> AudioArrival:
        """A piece of `length` seconds."""
        self._heard += length
        behind = at - self._heard
        if self._usual is None:
            self._usual, self._last = behind, at
            return AudioArrival(0.0, True)
        since, self._last = at - self._last, at
        lag = max(0.0, behind - self._usual)
        on_pace = length / 2 <= since <= length * 3 / 2
        self._steady = self._steady + 1 if on_pace else 0
        if behind < self._usual or self._steady >= FORGIVEN:
            self._usual = behind
        return AudioArrival(lag, lag <= DROPPED or since >= length / 2)
