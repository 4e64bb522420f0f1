"""The audio of a duplex session, cut into results: for each chunk that arrives, what to play during the same time.

Owns which audio and which text each result carries, how much of it was heard, and which late chunks are ignored. Pure: methods
take the time `at` (seconds, any origin). Positions are samples at 24 kHz from the first of a reply. Used by `DuplexSession`.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from duologue.gateway.duplex.unit_answers import UnitAnswers
from duologue.values import call_events
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE
from duologue.values.call_events import CallEvent
from duologue.values.duplex import ChunkArrival, ChunkResult, HeardTurn
from duologue.values.events import ReplyWord
from duologue.values.mouth import MouthKey

MAX_UNIT_WAIT = 10.0
"""Seconds that a result waits for the answer of a model that holds the session by itself: the first unit after the model was loaded may take
long. After it, nothing was said in this chunk."""
START_DELAY = 0.2
"""Seconds that clients of this protocol wait before they play the first audio of a reply."""
MAX_WAIT = 0.5
"""A result may wait for audio that is about to come: this part of its chunk's length, and at most so many seconds."""
MAX_LAG = 5.0
"""Seconds of lag after which a chunk that arrives in a burst is ignored."""
STEADY = 3
"""Chunks at the normal pace after which the gap before them was a pause in sending, and no longer counts as lag."""
STALE = (
    call_events.ReplyAudioStarted,
    call_events.ReplyAudio,
    call_events.ReplyAudioEnded,
    call_events.ReplyText,
    call_events.Hold,
    call_events.Resume,
)
"""Events that are stale in a later epoch."""
INTERRUPTIBLE = ("thinking", "speaking", "paused")
"""States in which there is something to interrupt."""
MAX_REPLIES = 16
"""Replies that are remembered, so that late events of an interrupted one are recognised."""
MAX_TURNS = 16
"""Turns of the caller that are remembered, so that each is told once."""
AUDIO_SOON = ("hearing", "thinking", "speaking")
"""States in which the next audio of a reply may be near."""


class _Reply(Struct):
    """One reply: what arrived of it, what was sent and what was played."""

    number: int
    turn: int | None = None
    """The caller's turn that it answers."""
    asked: str = ""
    """What was said in that turn."""
    pending: bytearray = field(default_factory=bytearray)
    """Audio that was not sent yet."""
    text: str = ""
    text_sent: int = 0
    """Characters of `text` that were sent."""
    words: list[ReplyWord] = field(default_factory=list)
    mouth: list[MouthKey] = field(default_factory=list)
    """Keys that were not sent."""
    timed: bool = False
    sent: int = 0
    """Samples."""
    played: int = 0
    """Samples, as last reported to the session."""
    complete: bool = False
    """Nothing more of it will arrive."""
    open: bool = False
    """Some of it was sent, but not its end."""
    held: bool = False
    interrupted: bool = False
    """What still arrives of it is dropped."""

    @property
    def unsent(self) -> int:
        """Samples that arrived and were not sent."""
        return len(self.pending) // SAMPLE_BYTES

    @property
    def has_more(self) -> bool:
        """Whether something of it, or its end, is still to be sent."""
        return bool(self.pending) or (self.complete and (self.open or self.text_sent < len(self.text)))

    def interrupt(self) -> bool:
        """Send nothing more of it. Gives whether the client still needs its end."""
        was_open = self.open
        self.interrupted = self.complete = True
        self.open = self.held = False
        self.pending.clear()
        self.mouth.clear()
        self.text_sent, self.played = len(self.text), self.sent
        return was_open

    def send(self, count: int) -> tuple[bytes, str]:
        """The next `count` samples, and the text up to the last word that begins in them."""
        pcm = bytes(self.pending[: count * SAMPLE_BYTES])
        del self.pending[: count * SAMPLE_BYTES]
        self.sent += count
        self.open = self.open or bool(count)
        to = self._text_end(count)
        text, self.text_sent = self.text[self.text_sent : to], max(self.text_sent, to)
        self.words = [word for word in self.words if word.start >= self.sent]
        return pcm, text

    def _text_end(self, count: int) -> int:
        # Without timed words there is nothing to align the text to: it goes out with the first audio.
        if (self.complete and not self.pending) or (count and not self.timed):
            return len(self.text)
        to = self.text_sent
        if count:
            to = max((word.to for word in self.words if word.start < self.sent), default=to)
        if to > self.text_sent:
            # Punctuation belongs to the word before it.
            while to < len(self.text) and not (self.text[to].isalnum() or self.text[to].isspace()):
                to += 1
        return to


class DuplexBuffer:
    """The chunks and results of one session. `take` the call's events and `add_chunk` every chunk; `due` gives the results, in
    order. `native`: a model holds the session by itself, so a result waits for its answer, and carries all that it says."""

    def __init__(self, *, native: bool = False) -> None:
        self._units = UnitAnswers() if native else None
        self.epoch = 0
        self.mouth = False
        """Whether results have the mouth's keys."""
        self.count = 0
        """Chunks that arrived so far."""
        self._playing_until = 0.0
        self._state: call_events.CallState = "listening"
        self._unanswered: deque[ChunkResult] = deque()
        self._transcripts = _Transcripts()
        self._arrivals = _Arrivals()
        self._replies: dict[int, _Reply] = {}
        self._queue: list[_Reply] = []
        self._end_owed = False

    # ---- from the session

    def take(self, events: Iterable[CallEvent]) -> None:
        """Take the session's events in order; stale ones are dropped."""
        batch = [event for event in events if not isinstance(event, call_events.TaskEvent)]
        self.epoch = max([self.epoch, *(event.epoch for event in batch)])
        for event in batch:
            if event.epoch == self.epoch or not isinstance(event, STALE):
                self._take(event)

    def left_playing(self, events: Iterable[CallEvent]) -> list[call_events.Played]:
        """What the client will have played of the replies that these events cut: all it was sent, because this protocol cannot take
        it back. Asked before `take`."""
        cut = [self._replies.get(event.reply) for event in events if isinstance(event, call_events.Cut)]
        return [
            call_events.Played(reply.number, reply.sent)
            for reply in cut
            if reply is not None and not reply.interrupted and reply.played < reply.sent
        ]

    def _take(self, event: CallEvent) -> None:
        match event:
            case call_events.State():
                self._state = event.state
                if event.state == "waiting":
                    self.restarted()
            case call_events.Transcribed() if event.final and event.text:
                self._transcripts.add(event.turn, event.text)
            case call_events.ReplyRequested():
                reply = self._reply(event.reply)
                reply.turn, reply.asked = event.turn, event.text
            case call_events.ReplyBegun():
                self._reply(event.reply).turn = event.turn
            case call_events.UnitAnswered() if self._units is not None:
                self._units.take(event)
            case call_events.TurnConfirmed() if (confirmed := self._replies.get(event.reply)) is not None:
                # The session's final transcript comes only when the caller has begun to hear the reply.
                if confirmed.turn is not None and confirmed.asked:
                    self._transcripts.add(confirmed.turn, confirmed.asked)
            case call_events.ReplyAudioStarted():
                self._reply(event.reply)
            case call_events.ReplyText():
                reply = self._reply(event.reply)
                reply.text += event.text
                # The final text precedes the end of the audio; a reply with nothing to speak has no such end.
                if event.final and not reply.sent and not reply.pending:
                    reply.complete = True
                self._enqueue(reply)
            case call_events.ReplyAudio():
                reply = self._reply(event.reply)
                reply.pending += event.pcm
                reply.words.extend(event.words)
                reply.mouth.extend(event.mouth)
                reply.timed = reply.timed or bool(event.words)
                self._enqueue(reply)
            case call_events.ReplyAudioEnded() | call_events.AssistantSaid():
                if (ended := self._replies.get(event.reply)) is not None:
                    ended.complete = True
                    self._enqueue(ended)
            case call_events.Hold() | call_events.Resume():
                if (held := self._replies.get(event.reply)) is not None:
                    held.held = isinstance(event, call_events.Hold)
            case call_events.Cut():
                self._interrupt(self._replies.get(event.reply))

    def _reply(self, number: int) -> _Reply:
        if number not in self._replies:
            self._replies[number] = _Reply(number)
            if len(self._replies) > MAX_REPLIES:
                del self._replies[min(self._replies)]
        return self._replies[number]

    def _enqueue(self, reply: _Reply) -> None:
        if reply.interrupted:
            reply.interrupt()
        elif reply.has_more and all(queued is not reply for queued in self._queue):
            self._queue.append(reply)

    def _interrupt(self, reply: _Reply | None) -> None:
        if reply is not None:
            self._end_owed = reply.interrupt() or self._end_owed
            self._queue = [queued for queued in self._queue if queued is not reply]

    # ---- from the client

    def add_chunk(
        self, samples: int, at: float, *, force_listen: bool = False, images: int = 0
    ) -> ChunkArrival:
        """A chunk of audio arrived (`samples` at 16 kHz), with so many pictures. `force_listen`: its result must be silent."""
        arrival = self._arrivals.add(samples / HEARD_RATE, at)
        self.count += 1
        chunk = ChunkResult(self.count, at, arrival, images, force_listen, samples)
        if self._units is not None and arrival.heard:
            chunk = replace(chunk, end=self._units.add_chunk(samples))
        self._unanswered.append(chunk)
        return arrival

    def interrupt(self, at: float) -> call_events.Interrupt | None:
        """The client has stopped playing and wants no more of the reply. Gives the control for the session, None where there is
        nothing to interrupt."""
        current = self._current
        heard = None if current is None else self._position(current, at)
        self._playing_until = min(self._playing_until, at)
        for reply in list(self._replies.values()):
            self._interrupt(reply)
        if current is not None:
            return call_events.Interrupt(current.number, heard)
        return call_events.Interrupt() if self._state in INTERRUPTIBLE else None

    def restarted(self) -> None:
        """The session is another one: what the last one left unanswered, nobody answers."""
        if self._units is not None:
            self._units.lost()

    def pause(self) -> None:
        """The client will send nothing for a while: lag is measured anew after that."""
        self._arrivals = _Arrivals()

    # ---- results

    @property
    def unanswered(self) -> int:
        """Chunks that wait for their result."""
        return len(self._unanswered)

    @property
    def next_due(self) -> float | None:
        """The latest time at which the next result is due."""
        return self._deadline(self._unanswered[0]) if self._unanswered else None

    def due(self, at: float, *, all: bool = False) -> list[ChunkResult]:
        """The results that can be sent, in order; with `all` every one."""
        results = []
        while self._unanswered:
            chunk = self._unanswered[0]
            # Only the newest chunk may wait: one that others follow is late already. A model by itself answers each.
            may_wait = len(self._unanswered) == 1 or self._units is not None
            if may_wait and not all and not self._ready(chunk, at):
                break
            self._unanswered.popleft()
            results.append(self._result(chunk, at))
        return results

    @property
    def _front(self) -> _Reply | None:
        """The reply whose audio is sent next."""
        while self._queue and not self._queue[0].has_more and len(self._queue) > 1:
            self._queue.pop(0)
        if self._queue and not self._queue[0].has_more and not self._queue[0].open:
            self._queue.clear()
        return self._queue[0] if self._queue else None

    def _deadline(self, chunk: ChunkResult) -> float:
        if self._units is not None:
            return chunk.at + (MAX_UNIT_WAIT if chunk.end is not None else 0.0)
        return chunk.at + min(MAX_WAIT, MAX_WAIT * chunk.samples / HEARD_RATE)

    def _ready(self, chunk: ChunkResult, at: float) -> bool:
        """Whether waiting longer would gain nothing."""
        if self._units is not None:
            answered = chunk.end is None or self._units.is_answered(chunk.end)
            return answered or at >= self._deadline(chunk)
        if chunk.force_listen or at >= self._deadline(chunk):
            return True
        front = self._front
        if front is None:
            return self._state not in AUDIO_SOON
        if front.held or front.complete:
            return True
        return front.unsent >= self._room(chunk, at)

    def _room(self, chunk: ChunkResult, at: float) -> int:
        """How many samples may be sent: those that play until the next chunk, less what the client has in reserve."""
        length = chunk.samples * SPOKEN_RATE // HEARD_RATE
        if self._units is not None:
            # What a model says in a unit lasts about as long as the unit, and its text belongs to it.
            return sys.maxsize
        reserve = max(0.0, self._playing_until - at)
        return max(0, min(length, length + round((2 * START_DELAY - reserve) * SPOKEN_RATE)))

    def _result(self, chunk: ChunkResult, at: float) -> ChunkResult:
        end_owed, self._end_owed = self._end_owed, False
        figures = None
        if self._units is not None and chunk.end is not None:
            figures = self._units.figures(chunk.end)
        result = replace(
            chunk,
            figures=figures,
            transcripts=self._transcripts.take(),
            end_of_turn=end_owed,
            interrupted=end_owed,
        )
        front = self._front
        if front is None or chunk.force_listen:
            return result
        if front.held:
            # A client that is told of listening would end the reply's turn, and take the rest of it for another reply.
            mine = {"is_listen": False, "reply": front.number, "turn": front.turn} if front.open else {}
            return replace(result, held=True, **mine)
        room = self._room(chunk, at)
        count = min(room, front.unsent)
        if self._units is None and not front.sent and not front.complete and count < room // 2:
            # The rest comes with the next result at the earliest: so short a beginning would break off in the middle of a word.
            return result
        first = front.sent if self.mouth else None
        pcm, text = front.send(count)
        mouth, front.mouth = tuple(front.mouth), []
        if count:
            start = self._playing_until if self._playing_until > at else at + START_DELAY
            self._playing_until = start + count / SPOKEN_RATE
        ended = front.complete and not front.pending
        if ended:
            front.open = False
        speaks = bool(count or text) or front.open
        return replace(
            result,
            is_listen=not (speaks or ended),
            text=text,
            pcm=pcm if pcm.strip(b"\0") else b"",
            end_of_turn=ended or (end_owed and not speaks),
            reply=front.number,
            turn=front.turn,
            first=first,
            mouth=mouth,
        )

    @property
    def is_replying(self) -> bool:
        """Whether something of a reply is still to be made or sent."""
        front = self._front
        return self._state in INTERRUPTIBLE or (front is not None and (front.has_more or front.open))

    # ---- playback

    @property
    def _current(self) -> _Reply | None:
        """The reply that is playing, or will play next."""
        unplayed = [reply for reply in self._replies.values() if self._is_unplayed(reply)]
        return next((reply for reply in unplayed if reply.sent), unplayed[0] if unplayed else None)

    @staticmethod
    def _is_unplayed(reply: _Reply) -> bool:
        return not reply.interrupted and (bool(reply.pending) or reply.played < reply.sent)

    def _position(self, reply: _Reply, at: float) -> int:
        remaining = max(0, round((self._playing_until - at) * SPOKEN_RATE))
        return max(reply.played, reply.sent - remaining)

    @property
    def is_playing(self) -> bool:
        """Whether there is playback to report to the session."""
        return self._current is not None

    def played(self, at: float) -> call_events.Played | None:
        """How far the client has played, for the session. To be reported several times a second even when nothing changed: the
        session assumes that a client without reports plays on. What was sent is played even while the call is held, because
        this protocol cannot take it back."""
        reply = self._current
        if reply is None:
            return None
        reply.played = reply.sent if reply.held else self._position(reply, at)
        return call_events.Played(reply.number, reply.played)


class _Transcripts:
    """What the caller said, each turn once, unless its words have changed."""

    def __init__(self) -> None:
        self._told: dict[int, str] = {}
        self._untold: dict[int, str] = {}

    def add(self, turn: int, text: str) -> None:
        if self._told.get(turn) == text:
            return
        self._untold[turn] = self._told[turn] = text
        if len(self._told) > MAX_TURNS:
            del self._told[min(self._told)]

    def take(self) -> tuple[HeardTurn, ...]:
        """What was not told yet, in the order of the turns."""
        turns = tuple(HeardTurn(turn, text) for turn, text in sorted(self._untold.items()))
        self._untold.clear()
        return turns


class _Arrivals:
    """How late chunks arrive, measured against the length of the audio in them."""

    def __init__(self) -> None:
        self._received = 0.0
        """Seconds of audio so far."""
        self._usual_delay: float | None = None
        self._last = 0.0
        self._steady = 0

    def add(self, length: float, at: float) -> ChunkArrival:
        """A chunk of `length` seconds."""
        self._received += length
        delay = at - self._received
        if self._usual_delay is None:
            self._usual_delay, self._last = delay, at
            return ChunkArrival(0.0, True)
        since, self._last = at - self._last, at
        lag = max(0.0, delay - self._usual_delay)
        on_pace = length / 2 <= since <= length * 3 / 2
        self._steady = self._steady + 1 if on_pace else 0
        if delay < self._usual_delay or self._steady >= STEADY:
            self._usual_delay = delay
        return ChunkArrival(lag, lag <= MAX_LAG or since >= length / 2)
