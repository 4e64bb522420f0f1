"""Plays the replies of one call to the client: how far ahead each is sent, and in which order.

`session.py` carries out the turn machine's decisions here. One reply plays at a time, the session's own sentences first. Where the sound
comes from is the business of `spoken_playback.py` and of `omni/native_playback.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import anyio

from duologue.errors import Problem
from duologue.notifier import Notifier
from duologue.sessions.call.clock import Clock
from duologue.sessions.call.latency import Moment
from duologue.sessions.call.loudness import SILENT, LoudnessEnvelope
from duologue.sessions.call.outbox import EventOutbox
from duologue.sessions.speech.reply_buffer import ReplyBuffer
from duologue.sessions.video.reply_film import FinishedClip, ReplyFilm
from duologue.turns.facts import Fact, PlaybackProgress, SynthesisComplete, SynthesisProgress
from duologue.turns.playout import Playout
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE, samples
from duologue.values.call_events import (
    ReplyAudio,
    ReplyAudioEnded,
    ReplyAudioStarted,
    ReplyText,
    SpeakingClip,
)
from duologue.values.events import ReplyWord

TICK = 0.02
"""Seconds between two checks of what may be sent, while something plays."""
PIECE = SPOKEN_RATE // 10
"""Samples of one `ReplyAudio` to a client that reports its position,"""
PIECE_UNMARKED = SPOKEN_RATE // 25
"""and to one that does not: it is sent little ahead, so in small pieces."""
AROUND = (SPOKEN_RATE // 10, SPOKEN_RATE * 2 // 5)
"""Samples before and after the known position between which the caller really is: marks arrive late."""
FIRST = SPOKEN_RATE // 25
"""Samples of a reply's first `ReplyAudio`: small, so that the reply starts early."""


class ClientPlayer(NamedTuple):
    """How the client plays. `marks`: it reports its position, and may be sent `ahead` seconds more than that; `mouth`: it draws one."""

    marks: bool = False
    ahead: float = 1.0
    mouth: bool = False


class PlaybackListener(Protocol):
    """Where playback reports to: the call's session."""

    @property
    def epoch(self) -> int: ...

    def decide(self, fact: Fact) -> None: ...

    def note(self, reply: int, moment: Moment) -> None: ...

    def report_problem(self, problem: Problem) -> None: ...


class PlayingReply:
    """One reply: its sound, and how far it was sent and played."""

    def __init__(self, reply: ReplyBuffer, playout: Playout, *, own: bool, kind: str) -> None:
        self.reply = reply
        self.playout = playout
        self.own = own
        """The session's own sentence, which no model writes."""
        self.kind = kind
        self.released = own
        self.started = False
        """Some of its sound was sent."""
        self.ended = False
        """All of its sound was sent."""
        self.over = False
        """It was cut or dropped: nothing more of it is sent."""
        self.played = 0
        self.scope = anyio.CancelScope()
        self.envelope = LoudnessEnvelope()
        self.film: ReplyFilm | None = None
        """Its video, in a call that has some."""
        self._measured = 0

    @property
    def holds_sound(self) -> bool:
        """Whether none of its sound is sent, because it becomes a clip."""
        return self.film is not None and self.film.holds_sound

    def measure_kept(self) -> None:
        """Measure the loudness of the sound that is kept for a clip, as it comes: all of it at once would take too long."""
        if (kept := self.reply.recorded) is not None:
            self.envelope.add(bytes(kept.pcm[self._measured :]))
            self._measured = len(kept.pcm)

    @property
    def unplayed(self) -> bool:
        return self.played < self.playout.sent and not self.over

    @property
    def to_send(self) -> bool:
        return self.released and not self.ended and not self.over


class Playback:
    """The replies that are being made, playing, or waiting to play."""

    def __init__(
        self,
        client: ClientPlayer,
        outbox: EventOutbox,
        clock: Clock,
        listener: PlaybackListener,
    ) -> None:
        self.replies: dict[int, PlayingReply] = {}
        self._outbox = outbox
        self._clock = clock
        self._started_at = clock.now()
        self.mouth = client.mouth
        """Whether the client is sent the mouth's keys."""
        self._marks = client.marks
        self._ahead = round(client.ahead * SPOKEN_RATE)
        self._piece = PIECE if client.marks else PIECE_UNMARKED
        self._listener = listener
        self._changed = Notifier()

    # ---- verbs

    def add(self, reply: ReplyBuffer, *, own: bool = False, kind: str = "reply") -> PlayingReply:
        """Take a reply, whose sound is told with `sounded`. It waits for `release`, unless it is the session's own."""
        playing = PlayingReply(reply, Playout(marks=self._marks, ahead=self._ahead), own=own, kind=kind)
        self.replies[reply.number] = playing
        return playing

    def release(self, number: int) -> None:
        """Let its sound be sent."""
        if (playing := self.replies.get(number)) is not None:
            playing.released = True
            self.send_due()

    def hold(self, number: int) -> bool:
        """Send none of it until `resume`. False if none was sent yet, so that the client has nothing to pause."""
        if (playing := self.replies.get(number)) is None:
            return False
        playing.playout.hold(self._now())
        if playing.film is not None:
            playing.film.hold()
        return playing.started

    def resume(self, number: int) -> bool:
        """Continue from the sample where it was held, with the next `send_due`. False if none was sent yet."""
        if (playing := self.replies.get(number)) is None:
            return False
        playing.playout.resume(self._now())
        if playing.film is not None:
            playing.film.resume()
        return playing.started

    def cut(self, number: int) -> PlayingReply | None:
        """Stop making and sending it. What was sent and heard of it stays known until `end`."""
        if (playing := self.replies.get(number)) is None or playing.over:
            return None
        playing.over = True
        playing.playout.hold(self._now())
        self._stop(playing)
        self._outbox.drop(number)
        self.send_due()
        return playing

    def drop(self, number: int) -> PlayingReply | None:
        """Cut and forget it."""
        playing = self.cut(number)
        self.replies.pop(number, None)
        return playing

    def end(self, number: int) -> PlayingReply | None:
        """Forget a reply that is over."""
        if (playing := self.replies.pop(number, None)) is not None:
            playing.over = True
            self._stop(playing)
            self.send_due()
        return playing

    @staticmethod
    def _stop(playing: PlayingReply) -> None:
        """Make no more of it."""
        playing.scope.cancel()
        if playing.film is not None:
            playing.film.end()

    def set_played(self, number: int, position: int) -> None:
        """The client reports that it has played up to this sample."""
        if (playing := self.replies.get(number)) is not None:
            playing.playout.mark(position, self._now())
            self._report_played(playing)
            self.send_due()

    def loudness(self) -> float:
        """The highest level that the caller's loudspeaker plays at around now, in dBFS; -100 for silence."""
        behind, ahead = AROUND
        loudest = SILENT
        for playing in self.replies.values():
            if playing.unplayed and not playing.playout.held:
                position = playing.playout.position(self._now())
                loudest = max(loudest, playing.envelope.loudest(position - behind, position + ahead))
        return loudest

    # ---- sending

    async def run(self) -> None:
        """Send at the pace of playback, for as long as the call lasts."""
        while True:
            if any(playing.unplayed or self._waits(playing) for playing in self.replies.values()):
                await self._clock.sleep(TICK)
            else:
                await self._changed.wait()
            for playing in list(self.replies.values()):
                self._report_played(playing)
                if playing.to_send and playing.film is not None and playing.film.making:
                    # A model that writes nothing for so long would be given up.
                    self._listener.decide(SynthesisProgress(playing.reply.number, 0))
            self._send_in_order()

    def send_due(self) -> None:
        """Send what is due now, and let `run` set its pace anew."""
        self._send_in_order()
        self._changed.notify()

    @staticmethod
    def _waits(playing: PlayingReply) -> bool:
        return playing.to_send and playing.reply.waiting > 0 and not playing.playout.held

    def sounded(self, reply: ReplyBuffer, words: tuple[ReplyWord, ...]) -> None:
        """There is more sound of the reply, in which these words begin, or all of it."""
        playing = self.replies.get(reply.number)
        if playing is None or playing.reply is not reply or playing.over:
            return
        if playing.film is not None:
            holds = playing.holds_sound
            if holds:
                playing.measure_kept()
            playing.film.sounded()
            if holds:
                # The turn machine is told of sound that can play: of a clip's once it is sent.
                self._listener.decide(SynthesisProgress(reply.number, 0))
                self.send_due()
                return
        if reply.length > playing.playout.length or words:
            playing.playout.add_sound(reply.length, words)
            self._listener.decide(SynthesisProgress(reply.number, reply.length, words))
        if reply.complete:
            self._complete(playing)
        self.send_due()

    def _complete(self, playing: PlayingReply) -> None:
        playing.playout.finish()
        self._listener.decide(SynthesisComplete(playing.reply.number, playing.reply.length))

    def _now(self) -> int:
        """The call's time, in samples received."""
        return int((self._clock.now() - self._started_at) * HEARD_RATE)

    def _send_in_order(self) -> None:
        """Send what is due of each reply in turn; the next one starts when the one before has played to its end."""
        for playing in self._in_order():
            if not playing.started and any(
                other.unplayed for other in self.replies.values() if other is not playing
            ):
                return
            self._send(playing)
            if not playing.ended:
                return

    def _in_order(self) -> Iterator[PlayingReply]:
        ready = [playing for playing in self.replies.values() if playing.to_send]
        yield from sorted(ready, key=lambda playing: not playing.own)

    def _send(self, playing: PlayingReply) -> None:
        reply, playout = playing.reply, playing.playout
        if playing.film is not None:
            if (clip := playing.film.due()) is not None:
                self._send_clip(playing, clip)
            if playing.holds_sound or (not playing.started and playing.film.holds_start):
                return
        while reply.waiting and self._outbox.takes_sound:
            size = self._piece if playing.started else FIRST
            due = min(playout.due(self._now()), reply.waiting, size)
            if due < min(reply.waiting, size):
                # Wait until a whole piece is due, not to send many tiny ones.
                return
            if not playing.started:
                playing.started = True
                self._listener.note(reply.number, "first_sound")
                self._outbox.post(ReplyAudioStarted(self._listener.epoch, reply.number))
            piece = reply.take(due)
            playout.send(samples(piece.pcm), self._now())
            playing.envelope.add(piece.pcm)
            if piece.text:
                self._outbox.post(ReplyText(self._listener.epoch, reply.number, piece.text))
            self._outbox.post(
                ReplyAudio(
                    self._listener.epoch,
                    reply.number,
                    piece.pcm,
                    piece.words,
                    piece.mouth if self.mouth else (),
                )
            )
        if reply.complete and not reply.waiting:
            playing.ended = True
            if playing.started and self.mouth and (keys := reply.keys()):
                self._outbox.post(ReplyAudio(self._listener.epoch, reply.number, b"", (), keys))
            self._outbox.post(ReplyText(self._listener.epoch, reply.number, reply.rest(), final=True))
            if playing.started:
                self._outbox.post(ReplyAudioEnded(self._listener.epoch, reply.number, reply.sent))

    def _send_clip(self, playing: PlayingReply, clip: FinishedClip) -> None:
        """Send the whole reply at once. It plays from now on."""
        reply, now = playing.reply, self._now()
        piece = reply.take(reply.waiting)
        text = piece.text + reply.rest()
        playing.started = playing.ended = True
        playing.playout.add_sound(reply.length, piece.words)
        playing.playout.send(reply.length, now)
        self._listener.note(reply.number, "first_sound")
        self._outbox.post(
            SpeakingClip(
                self._listener.epoch,
                reply.number,
                clip.data,
                text,
                reply.length,
                clip.width,
                clip.height,
                piece.words,
                piece.pcm,
            )
        )
        self._listener.decide(SynthesisProgress(reply.number, reply.length, piece.words))
        self._complete(playing)

    def sound_instead(self, number: int, words: Sequence[ReplyWord]) -> None:
        """Send a reply as sound that was to become a clip; these words exist of it so far."""
        playing = self.replies.get(number)
        if playing is None or playing.over:
            return
        reply = playing.reply
        playing.envelope = LoudnessEnvelope()
        playing.playout.add_sound(reply.length, words)
        self._listener.decide(SynthesisProgress(number, reply.length, tuple(words)))
        if reply.complete:
            self._complete(playing)
        self.send_due()

    def _report_played(self, playing: PlayingReply) -> None:
        if not playing.started:
            return
        position = playing.playout.position(self._now())
        if position > playing.played:
            playing.played = position
            if playing.film is not None:
                playing.film.heard(position)
            self._listener.note(playing.reply.number, "first_heard")
            self._listener.decide(PlaybackProgress(playing.reply.number, position))
