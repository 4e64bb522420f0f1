"""The video of one call: its avatar, prepared by the engine, and the film of each reply.

`call/session.py` runs it where a call is to have video. Owns what the client is told of it (`VideoState`): an engine that is missing, that
refuses the avatar or keeps failing leaves a call with sound.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from typing import NamedTuple

import anyio
import anyio.abc

from duologue.engines.video_contracts import VideoEngine
from duologue.errors import EngineFailed, Problem, Unavailable
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.speech.synthesis import SpokenReply
from duologue.sessions.video.clipped_reply import ClippedReply
from duologue.sessions.video.film_encoder import EncodedFrames, FilmEncoders
from duologue.sessions.video.reply_film import FilmStage, ReplyFilm
from duologue.sessions.video.streamed_reply import StreamedReply
from duologue.sessions.video.studio import Studio
from duologue.turns.video.film_facts import Draw, sample_of
from duologue.values.avatars import AvatarSource, VideoMode
from duologue.values.call_events import CallEvent, VideoSegment, VideoState

log = logging.getLogger(__name__)

GIVES_UP = 3
"""Replies in a row whose drawing fails before a call goes on without video."""
_numbers = itertools.count(1)


class VideoParts(NamedTuple):
    """What a call asks for, and what makes it."""

    mode: VideoMode
    avatar: AvatarSource
    engines: SpeechEngines
    encoders: FilmEncoders


class _Format(NamedTuple):
    """Pixels, and frames a second."""

    width: int = 0
    height: int = 0
    rate: int = 25


class CallVideo:
    """One call. `run` prepares the avatar; replies that begin before that wait for it as clips, and have no pictures as streams."""

    def __init__(
        self,
        parts: VideoParts,
        tasks: anyio.abc.TaskGroup,
        *,
        post: Callable[[CallEvent], None],
        epoch: Callable[[], int],
    ) -> None:
        self._mode, self._parts, self._engines, self._tasks = parts.mode, parts, parts.engines, tasks
        self._post, self._epoch = post, epoch
        self._prepared = anyio.Event()
        self._studio: Studio | None = None
        self._problem: Problem | None = None
        self._failures = 0
        self._format = _Format()

    @property
    def prepared(self) -> anyio.Event:
        """Set once it is known whether there is video."""
        return self._prepared

    # ---- the avatar

    async def run(self) -> None:
        """Prepare the avatar, tell the client, and show it at rest."""
        try:
            self._studio = await self._prepare(self._engines.require_video())
        except Problem as problem:
            self._lose(problem)
        except Exception:
            log.exception("an avatar could not be prepared")
            self._lose(EngineFailed("The avatar could not be prepared. The server's log has the reason."))
        self._prepared.set()
        if self._studio is None:
            return
        figure = self._studio.figure
        self._format = _Format(figure.width, figure.height, figure.rate)
        self._post(VideoState(self._epoch(), self._mode, figure.width, figure.height, figure.rate))
        if self._mode == "stream":
            await self._show_at_rest(self._studio)

    async def _prepare(self, engine: VideoEngine) -> Studio:
        user = f"call-{next(_numbers)}"
        async with self._engines.drawing.turn(user):
            figure = await engine.prepare(self._parts.avatar)
        return Studio(figure, self._engines.drawing, self._parts.encoders, user)

    async def _show_at_rest(self, studio: Studio) -> None:
        try:
            frames = await studio.idle()
        except Problem as problem:
            # Its replies may be drawn all the same.
            log.warning("the avatar of a call cannot be shown at rest: %s", problem.message)
            return
        self._post(self._event(None, 0, 0, frames))

    def _lose(self, problem: Problem) -> None:
        self._studio, self._problem = None, problem
        self._post(VideoState(self._epoch(), "off", note=problem.message))

    # ---- its replies

    def film(self, reply: SpokenReply, stage: FilmStage) -> ReplyFilm | None:
        """The film of a reply that begins now. None: it is only spoken."""
        if self._problem is not None:
            return None
        if self._mode == "clip":
            return ClippedReply(reply, self._ready_studio, stage, self._tasks, on_end=self._ended)
        if self._studio is None:
            return None
        return StreamedReply(reply, self._studio, stage, self._tasks, on_end=self._ended)

    def segment(self, reply: int, draw: Draw, frames: EncodedFrames) -> VideoSegment:
        """The event that sends pictures of a reply."""
        at = sample_of(draw.frame, self._format.rate)
        return self._event(reply, at, draw.first, frames, last=draw.last)

    def ending(self, reply: int) -> VideoSegment:
        """The event that says that there are no more of it."""
        return self._event(reply, 0, 0, EncodedFrames(b"", ()), last=True)

    def _event(
        self, reply: int | None, at: int, first: int, frames: EncodedFrames, *, last: bool = False
    ) -> VideoSegment:
        shown = self._format
        return VideoSegment(
            self._epoch(),
            reply,
            at,
            first,
            shown.rate,
            shown.width,
            shown.height,
            frames.sizes,
            frames.data,
            last,
        )

    async def _ready_studio(self) -> Studio:
        await self._prepared.wait()
        if self._studio is None:
            raise self._problem or Unavailable("There is no video.", code="video_unavailable")
        return self._studio

    def _ended(self, problem: Problem | None) -> None:
        """A reply was drawn, or could not be."""
        self._failures = self._failures + 1 if problem is not None else 0
        if problem is not None and self._failures >= GIVES_UP and self._problem is None:
            self._lose(problem)
