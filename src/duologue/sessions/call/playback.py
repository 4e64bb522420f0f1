"""The replies of one call on their way to the caller's ear.

Owns each reply's making, its pace, and the order they sound in: one at a time, sentences of the session's own first.
Knows no turn: whoever decides says what may sound, stops, goes on or ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import anyio
import anyio.abc

from duologue.engines.contracts import SpeakerEngine
from duologue.errors import Problem
from duologue.sessions.call.clock import Clock
from duologue.sessions.call.latency import Moment
from duologue.sessions.call.loudness import SILENT, LoudnessEnvelope
from duologue.sessions.call.outbox import EventOutbox
from duologue.sessions.speech.clip_cache import ClipCache
from duologue.sessions.speech.synthesis import SpokenReply, VoiceStyle
from duologue.turns.facts import Fact, PlaybackProgress, SynthesisComplete, SynthesisProgress
from duologue.turns.playout import Playout
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE, samples
from duologue.values.call_events import ReplyAudio, ReplyAudioEnded, ReplyAudioStarted, ReplyText
from duologue.values.events import ReplyWord

TICK = 0.02
"""Seconds between two looks at what may be sent, while something sounds."""
PIECE = SPOKEN_RATE // 10
"""Samples of one `ReplyAudio` to a client that tells what it has played,"""
PIECE_UNMARKED = SPOKEN_RATE // 25
"""and to one that does not: it is sent little ahead, in small pieces."""
AROUND = (SPOKEN_RATE // 10, SPOKEN_RATE * 2 // 5)
"""Samples behind and ahead of where the caller is known to be, among which they are: marks come late."""
FIRST = SPOKEN_RATE // 25
"""Samples of a reply's first `ReplyAudio`."""


class PlayingReply:
    """One reply: its sound, where the caller is in it, and what of it was said."""

    def __init__(self, reply: SpokenReply, playout: Playout, *, own: bool, kind: str) -> None:
        self.reply = reply
        self.playout = playout
        self.own = own
        """The session's own sentence, which nobody else makes."""
        self.kind = kind
        self.released = own
        self.begun = False
        self.ended = False
        self.over = False
        """Cut or dropped: nothing more of it is sent."""
        self.played = 0
        self.scope = anyio.CancelScope()
        self.envelope = LoudnessEnvelope()

    @property
    def unplayed(self) -> bool:
        return self.played < self.playout.sent and not self.over

    @property
    def to_send(self) -> bool:
        return self.released and not self.ended and not self.over


class Playback:
    """The replies that are made, sounding, or wait for their turn. `decide` is told what becomes of them."""

    def __init__(
        self,
        speaker: SpeakerEngine,
        voicing: VoiceStyle,
        tasks: anyio.abc.TaskGroup,
        outbox: EventOutbox,
        clock: Clock,
        *,
        marks: bool,
        ahead: float = 1.0,
        clips: ClipCache,
        epoch: Callable[[], int],
        decide: Callable[[Fact], None],
        note: Callable[[int, Moment], None],
        failed: Callable[[Problem], None],
    ) -> None:
        self.replies: dict[int, PlayingReply] = {}
        self._speaker = speaker
        self._voicing = voicing
        self._tasks = tasks
        self._outbox = outbox
        self._clock = clock
        self._began = clock.now()
        self._marks = marks
        self._ahead = round(ahead * SPOKEN_RATE)
        self._piece = PIECE if marks else PIECE_UNMARKED
        self._clips = clips
        self._epoch = epoch
        self._decide = decide
        self._note = note
        self._failed = failed
        self._news = anyio.Event()

    # ---- what is to become of them

    def begin(self, number: int, *, own: bool = False, kind: str = "reply") -> PlayingReply:
        """A reply is made from here; its sound waits for `release`, unless it is the session's own."""
        reply = SpokenReply(
            number,
            self._speaker,
            self._voicing,
            clips=self._clips if own else None,
            changed=self._changed,
            failed=lambda _, problem: self._failed(problem),
        )
        speaking = PlayingReply(reply, Playout(marks=self._marks, ahead=self._ahead), own=own, kind=kind)
        self.replies[number] = speaking
        self._tasks.start_soon(self._make, speaking)
        return speaking

    def write(self, number: int, text: str, *, last: bool = False) -> PlayingReply | None:
        """More of the reply's text; None where nobody waits for it any more."""
        speaking = self.replies.get(number)
        if speaking is None or speaking.over:
            return None
        before = len(speaking.reply.written)
        speaking.reply.write(text, last=last)
        speaking.playout.write(speaking.reply.written[before:])
        if text:
            self._note(number, "first_text")
        if speaking.reply.clauses:
            self._note(number, "first_clause")
        return speaking

    def release(self, number: int) -> None:
        """Its sound may be sent."""
        if (speaking := self.replies.get(number)) is not None:
            speaking.released = True
            self.look()

    def hold(self, number: int) -> bool:
        """Send nothing of it until `resume`. False: nothing of it was sent yet, so that nobody has to stop."""
        if (speaking := self.replies.get(number)) is None:
            return False
        speaking.playout.hold(self._at())
        return speaking.begun

    def resume(self, number: int) -> bool:
        """It may go on from the sample where it was held, with the next `look`. False: nothing of it was sent yet."""
        if (speaking := self.replies.get(number)) is None:
            return False
        speaking.playout.resume(self._at())
        return speaking.begun

    def cut(self, number: int) -> PlayingReply | None:
        """Stop making and sending it. What was sent and heard of it is still known, until `end`."""
        if (speaking := self.replies.get(number)) is None or speaking.over:
            return None
        speaking.over = True
        speaking.playout.hold(self._at())
        speaking.scope.cancel()
        self._outbox.drop(number)
        self.look()
        return speaking

    def drop(self, number: int) -> PlayingReply | None:
        """Forget it."""
        speaking = self.cut(number)
        self.replies.pop(number, None)
        return speaking

    def end(self, number: int) -> PlayingReply | None:
        """It is over, and forgotten here."""
        if (speaking := self.replies.pop(number, None)) is not None:
            speaking.over = True
            speaking.scope.cancel()
            self.look()
        return speaking

    def played(self, number: int, to: int) -> None:
        """The caller's own mark."""
        if (speaking := self.replies.get(number)) is not None:
            speaking.playout.mark(to, self._at())
            self._tell_played(speaking)
            self.look()

    def loudness(self) -> float:
        """How loud what the caller's loudspeaker plays about now is at the most, in dBFS; -100 for silence."""
        behind, ahead = AROUND
        loudest = SILENT
        for speaking in self.replies.values():
            if speaking.unplayed and not speaking.playout.held:
                at = speaking.playout.position(self._at())
                loudest = max(loudest, speaking.envelope.loudest(at - behind, at + ahead))
        return loudest

    # ---- on the way

    async def run(self) -> None:
        """Send at the pace of the ear, for as long as the call lasts."""
        while True:
            if any(speaking.unplayed or self._waits(speaking) for speaking in self.replies.values()):
                await self._clock.sleep(TICK)
            else:
                self._news = anyio.Event()
                await self._news.wait()
            for speaking in list(self.replies.values()):
                self._tell_played(speaking)
            self._send()

    @staticmethod
    def _waits(speaking: PlayingReply) -> bool:
        return speaking.to_send and speaking.reply.waiting > 0 and not speaking.playout.held

    async def _make(self, speaking: PlayingReply) -> None:
        with speaking.scope:
            await speaking.reply.make()

    def _changed(self, reply: SpokenReply, words: tuple[ReplyWord, ...]) -> None:
        speaking = self.replies.get(reply.number)
        if speaking is None or speaking.reply is not reply or speaking.over:
            return
        if reply.made > speaking.playout.length or words:
            speaking.playout.add_sound(reply.made, words)
            self._decide(SynthesisProgress(reply.number, reply.made, words))
        if reply.complete:
            speaking.playout.finish()
            self._decide(SynthesisComplete(reply.number, reply.made))
        self.look()

    def look(self) -> None:
        """Send what is due now."""
        self._send()
        self._news.set()

    def _at(self) -> int:
        """The call's time, in samples heard."""
        return int((self._clock.now() - self._began) * HEARD_RATE)

    def _send(self) -> None:
        """Send whatever is due."""
        for speaking in self._in_order():
            if not speaking.begun and any(
                other.unplayed for other in self.replies.values() if other is not speaking
            ):
                return
            self._send_due(speaking)
            if not speaking.ended:
                return

    def _in_order(self) -> Iterator[PlayingReply]:
        ready = [speaking for speaking in self.replies.values() if speaking.to_send]
        yield from sorted(ready, key=lambda speaking: not speaking.own)

    def _send_due(self, speaking: PlayingReply) -> None:
        reply, playout = speaking.reply, speaking.playout
        while reply.waiting and self._outbox.takes_sound:
            piece = self._piece if speaking.begun else FIRST
            due = min(playout.due(self._at()), reply.waiting, piece)
            if due < min(reply.waiting, piece):
                return
            if not speaking.begun:
                speaking.begun = True
                self._note(reply.number, "first_sound")
                self._outbox.post(ReplyAudioStarted(self._epoch(), reply.number))
            taken = reply.take(due)
            playout.send(samples(taken.pcm), self._at())
            speaking.envelope.add(taken.pcm)
            if taken.text:
                self._outbox.post(ReplyText(self._epoch(), reply.number, taken.text))
            self._outbox.post(ReplyAudio(self._epoch(), reply.number, taken.pcm, taken.words))
        if reply.complete and not reply.waiting:
            speaking.ended = True
            self._outbox.post(ReplyText(self._epoch(), reply.number, reply.rest(), final=True))
            if speaking.begun:
                self._outbox.post(ReplyAudioEnded(self._epoch(), reply.number, reply.sent))

    def _tell_played(self, speaking: PlayingReply) -> None:
        if not speaking.begun:
            return
        position = speaking.playout.position(self._at())
        if position > speaking.played:
            speaking.played = position
            self._note(speaking.reply.number, "first_heard")
            self._decide(PlaybackProgress(speaking.reply.number, position))
