"""Replies that a voice speaks: their text is synthesised while it is written, and their sound played.

`session.py` of a call has one. Owns the synthesis of each reply; how it is sent is in `playback.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import anyio.abc

from duologue.engines.contracts import SpeakerEngine
from duologue.errors import Problem
from duologue.sessions.call.clock import Clock
from duologue.sessions.call.outbox import EventOutbox
from duologue.sessions.call.playback import ClientPlayer, Playback, PlaybackListener, PlayingReply
from duologue.sessions.speech.clip_cache import ClipCache, VoiceStyle
from duologue.sessions.speech.synthesis import SpokenReply
from duologue.sessions.video.call_video import CallVideo
from duologue.sessions.video.film_encoder import EncodedFrames
from duologue.turns.video.film_facts import Draw


class ReplyVoice(NamedTuple):
    """The voice of one call."""

    speaker: SpeakerEngine
    style: VoiceStyle
    clips: ClipCache


class SpokenPlayback(Playback):
    """Replies in one voice."""

    def __init__(
        self,
        voice: ReplyVoice,
        client: ClientPlayer,
        tasks: anyio.abc.TaskGroup,
        outbox: EventOutbox,
        clock: Clock,
        listener: PlaybackListener,
        video: CallVideo | None = None,
    ) -> None:
        super().__init__(client, outbox, clock, listener)
        self._video = video
        self._voice = voice
        self._tasks = tasks

    def begin(self, number: int, *, own: bool = False, kind: str = "reply") -> PlayingReply:
        """Start synthesising a reply. Its sound waits for `release`, unless it is the session's own."""
        reply = SpokenReply(
            number,
            self._voice.speaker,
            self._voice.style,
            clips=self._voice.clips if own else None,
            mouth=self.mouth or self._video is not None,
            on_change=self.sounded,
            on_failure=lambda _, problem: self._listener.report_problem(problem),
        )
        playing = self.add(reply, own=own, kind=kind)
        if self._video is not None:
            playing.film = self._video.film(reply, self)
        self._tasks.start_soon(self._synthesise, playing, reply)
        return playing

    def write(self, number: int, text: str, *, last: bool = False) -> PlayingReply | None:
        """Append to the reply's text. None, and ignored, if the reply is over."""
        playing = self.replies.get(number)
        if playing is None or playing.over or not isinstance(reply := playing.reply, SpokenReply):
            return None
        before = len(reply.written)
        reply.write(text, last=last)
        playing.playout.write(reply.written[before:])
        if text:
            self._listener.note(number, "first_text")
        if reply.clauses:
            self._listener.note(number, "first_clause")
        return playing

    def pause_writing(self, number: int) -> None:
        """The reply's writer pauses for a tool: speak what is written so far."""
        playing = self.replies.get(number)
        if playing is not None and isinstance(playing.reply, SpokenReply):
            playing.reply.pause()
            playing.playout.expect_silence()

    # ---- the stage of its replies' films

    def call_time(self) -> int:
        """The call's time in samples received (16 kHz)."""
        return self._now()

    def send_segment(self, reply: int, draw: Draw, frames: EncodedFrames) -> None:
        """Send this stretch of the reply, unless the client is behind: its sound must not wait."""
        if self._video is not None and self._outbox.takes_video:
            self._outbox.post(self._video.segment(reply, draw, frames))

    def end_video(self, reply: int) -> None:
        """Tell the client that there are no more pictures of this reply."""
        if self._video is not None:
            self._outbox.post(self._video.ending(reply))

    def report_problem(self, problem: Problem) -> None:
        """Tell the client of a problem."""
        self._listener.report_problem(problem)

    @staticmethod
    async def _synthesise(playing: PlayingReply, reply: SpokenReply) -> None:
        with playing.scope:
            await reply.synthesise()
