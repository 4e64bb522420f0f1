"""Everything that happens in a call on one timeline: both sides' sound, what was said, seen and decided, and when. Pure.

Takes what the client sends and what it is sent, as it happens; gives it out again in pieces once it is settled, that is,
when no report of the client can change it any more. Used by `recorder`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from duologue.gateway.recordings.recording_clock import RecordingClock
from duologue.gateway.recordings.reply_track import HeardWord, ReplyTrack
from duologue.gateway.recordings.sparse_track import SparseTrack
from duologue.values import call_events
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE, samples
from duologue.values.call_events import CallControl, CallEvent
from duologue.values.messages import ImagePart

LAG = 3 * HEARD_RATE
"""Samples of the clock after which nothing changes any more: reports of what was played are later than what was played."""
QUANTUM = HEARD_RATE // 50
"""Pieces are whole multiples of this many samples of the caller, so that both sides have whole samples."""
FIGURES = (
    "endpoint",
    "transcript",
    "first_text",
    "first_clause",
    "first_sound",
    "first_heard",
    "interrupted",
)

Entry = dict[str, Any]
"""One thing that happened: `at` in milliseconds from the beginning, `type`, and the fields of that type."""


class SettledPiece(Struct, frozen=True):
    """What was settled since the last piece. Both sides' sound has the same length; entries are not in order, because what
    was heard is known late. `frames` are the pictures that `frame` entries tell of, in order."""

    caller: bytes = b""
    """16-bit mono, 16 kHz."""
    reply: bytes = b""
    """16-bit mono, 24 kHz."""
    entries: tuple[Entry, ...] = ()
    frames: tuple[bytes, ...] = ()


def spoken(heard: int) -> int:
    """Samples at 24 kHz that last as long as these at 16 kHz."""
    return heard * SPOKEN_RATE // HEARD_RATE


class Timeline:
    """One recording. `at` is in seconds of any origin and never falls. `marks`: the client reports what it has played.
    `heard_when_sent`: what was sent counts as heard, however far it is ahead of time; otherwise the rest of a long reply, which is made
    faster than it is spoken, would wait in memory for its time."""

    def __init__(self, at: float, *, marks: bool, heard_when_sent: bool = False) -> None:
        self._clock = RecordingClock(at)
        self._caller = SparseTrack()
        self._replies = ReplyTrack(marks=marks)
        self._heard_when_sent = heard_when_sent
        self._entries: list[Entry] = []
        self._frames: list[bytes] = []
        self._frame_bytes = 0
        self._frame_count = 0
        self._epoch = 0
        self._begun: deque[int] = deque(maxlen=64)
        """Replies whose first sound is in this recording: of others it is not known where they are."""

    @property
    def pending(self) -> int:
        """Bytes in memory."""
        return self._caller.pending + self._replies.pending + self._frame_bytes

    @property
    def length(self) -> int:
        """Samples of the caller's side that were given out, at 16 kHz."""
        return self._caller.taken

    # ---- what happens

    def client_sent(self, control: CallControl, at: float) -> None:
        """The client sent this."""
        match control:
            case call_events.MicrophoneAudio(pcm) | call_events.CallChunk(pcm):
                self._caller.place(self._clock.hear(samples(pcm), at), pcm)
            case call_events.Played(reply, position):
                self._replies.report(reply, position, self._now(at))
            case call_events.Interrupt(reply, position):
                if reply is not None:
                    self._replies.cut(reply, self._now(at), position)
                self.note("stop_pressed", at)
            case call_events.Pressed(down):
                self.note("button", at, down=down)

    def server_sent(self, events: Iterable[CallEvent], at: float) -> None:
        """The session sent this, in order. Sound and text of an older epoch are dropped, as the client drops them."""
        for event in events:
            if isinstance(event, call_events.TaskEvent):
                continue
            stale, self._epoch = event.epoch < self._epoch, max(self._epoch, event.epoch)
            if isinstance(event, call_events.ReplyAudioStarted):
                self._begun.append(event.reply)
            elif isinstance(event, call_events.ReplyAudio):
                if not stale and event.reply in self._begun:
                    self._replies.send(event.reply, event.pcm, event.words, self._now(at))
            elif isinstance(event, call_events.SpeakingClip):
                if not stale:
                    self._clip(event, at)
            elif not (stale and isinstance(event, call_events.ReplyText | call_events.State)):
                self._take(event, at)

    def _clip(self, clip: call_events.SpeakingClip, at: float) -> None:
        """A whole reply as video: its sound is recorded."""
        self._begun.append(clip.reply)
        self.note("text", at, reply=clip.reply, text=clip.text)
        self._replies.send(clip.reply, clip.pcm, clip.words, self._now(at))

    def saw(self, image: ImagePart, at: float) -> None:
        """A picture of the caller's camera or screen arrived."""
        self.note("frame", at, index=self._frame_count, mime=image.mime, size=len(image.data))
        self._frames.append(image.data)
        self._frame_bytes += len(image.data)
        self._frame_count += 1

    def note(self, type: str, at: float, **fields: object) -> None:
        """Add an entry."""
        self._entries.append({"at": _ms(self._clock.position(at), HEARD_RATE), "type": type, **fields})

    def _take(self, event: CallEvent, at: float) -> None:
        match event:
            case call_events.State(_, state):
                self.note("state", at, state=state)
            case call_events.Transcribed(_, turn, text, final, understood):
                self.note("transcript", at, turn=turn, text=text, final=final, understood=understood)
            case call_events.ReplyRequested(_, reply, turn, revision, _):
                self.note("reply", at, reply=reply, turn=turn, revision=revision)
            case call_events.ReplyBegun(_, reply, turn):
                self.note("reply", at, reply=reply, turn=turn, revision=1)
            case call_events.UserSaid(_, turn, text, typed):
                self.note("said", at, turn=turn, text=text, typed=typed)
            case call_events.ReplyText(_, reply, text, _):
                if text:
                    self.note("text", at, reply=reply, text=text)
            case call_events.AssistantSaid(_, reply, heard, unheard, ending):
                self.note("reply_done", at, reply=reply, heard=heard, unheard=unheard, ending=ending)
            case call_events.Hold(_, reply):
                self._replies.hold(reply, self._now(at))
                self.note("paused", at, reply=reply)
            case call_events.Resume(_, reply):
                self._replies.resume(reply, self._now(at))
                self.note("resumed", at, reply=reply)
            case call_events.Cut(_, reply):
                self._replies.cut(reply, self._now(at))
                self.note("interrupted", at, reply=reply)
            case call_events.CallProblem(_, code, message):
                self.note("problem", at, code=code, message=message)
            case call_events.TurnFigures():
                figures = {f"{name}_ms": getattr(event, name) for name in FIGURES}
                self.note("latency", at, turn=event.turn, reply=event.reply, **figures)

    # ---- what is settled

    def take(self, at: float) -> SettledPiece:
        """What is settled by now. Call it about once a second."""
        if self._heard_when_sent:
            self._replies.play_out()
            return self._piece(self._end(at) // QUANTUM * QUANTUM)
        self._replies.advance(self._now(at))
        return self._piece((self._clock.position(at) - LAG) // QUANTUM * QUANTUM)

    def finish(self, at: float) -> SettledPiece:
        """The rest, at the end."""
        self._replies.hang_up(self._now(at))
        if self._heard_when_sent:
            self._replies.play_out()
        return self._piece(-(-self._end(at) // QUANTUM) * QUANTUM)

    def _end(self, at: float) -> int:
        """Where the clock stands, or the sound of a side ends that is ahead of it."""
        return max(self._clock.position(at), self._caller.end, -(-self._replies.sound.end * 2 // 3))

    def _piece(self, until: int) -> SettledPiece:
        until = max(until, self._caller.taken)
        parts, words = self._replies.settle(spoken(until))
        entries = [
            *self._entries,
            *(
                {
                    "at": _ms(part.start, SPOKEN_RATE),
                    "type": "heard",
                    "reply": part.reply,
                    "from_sample": part.first,
                    "samples": part.count,
                    "sample": part.start,
                }
                for part in parts
            ),
            *(_word(word) for word in words),
        ]
        frames = tuple(self._frames)
        self._entries, self._frames, self._frame_bytes = [], [], 0
        return SettledPiece(
            self._caller.take(until), self._replies.sound.take(spoken(until)), tuple(entries), frames
        )

    def _now(self, at: float) -> int:
        return spoken(self._clock.position(at))


def _word(heard: HeardWord) -> Entry:
    return {
        "at": _ms(heard.start, SPOKEN_RATE),
        "type": "word",
        "reply": heard.reply,
        "text": heard.word.text,
        "end": _ms(heard.end, SPOKEN_RATE),
        "from": heard.word.at,
        "to": heard.word.to,
    }


def _ms(position: int, rate: int) -> int:
    return position * 1000 // rate


def in_order(entries: Sequence[Entry]) -> list[Entry]:
    """Entries by time; those of the same millisecond stay in the order they happened."""
    return sorted(entries, key=lambda entry: int(entry["at"]))
