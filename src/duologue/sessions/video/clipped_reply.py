"""One reply that is sent as a clip: its sound is kept until it is complete, then drawn, then sent at once.

`call_video.py` makes one for each reply; `turns/video/clip_machine.py` decides. Owns the drawing's task and the clip until it is sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import anyio.abc

from duologue.errors import Problem, TooLarge, Unavailable
from duologue.sessions.speech.kept_sound import KeptSound
from duologue.sessions.speech.synthesis import SpokenReply
from duologue.sessions.video.reply_film import FilmStage, FinishedClip
from duologue.sessions.video.studio import CLIP_TOO_LARGE, SoundSoFar, Studio
from duologue.turns.video import film_facts
from duologue.turns.video.clip_machine import ClipMachine
from duologue.turns.video.film_facts import FilmFact, FilmStep
from duologue.values.audio import SPOKEN_RATE

PATIENCE = 60.0
"""Seconds a clip may take,"""
PATIENCE_PER_SECOND = 10.0
"""and as many more for each second of it. A caller who waits longer is better off with the sound."""
TOO_SLOW = "Drawing this reply took too long, so it is only spoken."


class ClippedReply:
    """One reply. `studio` waits until the avatar is prepared; it raises the Problem why it cannot be."""

    def __init__(
        self,
        reply: SpokenReply,
        studio: Callable[[], Awaitable[Studio]],
        stage: FilmStage,
        tasks: anyio.abc.TaskGroup,
        *,
        on_end: Callable[[Problem | None], None] = lambda problem: None,
    ) -> None:
        self._reply, self._studio, self._stage, self._tasks = reply, studio, stage, tasks
        self._on_end = on_end
        self._sound = reply.recorded = KeptSound()
        reply.ahead = film_facts.LONGEST + SPOKEN_RATE
        self._machine = ClipMachine()
        self._scope = anyio.CancelScope()
        self._clip: FinishedClip | None = None
        self._problem: Problem | None = None

    @property
    def holds_sound(self) -> bool:
        return not self._machine.sounds

    @property
    def holds_start(self) -> bool:
        return False

    @property
    def making(self) -> bool:
        return self._machine.waits

    def sounded(self) -> None:
        length = self._reply.length
        self._take(
            film_facts.SoundComplete(length) if self._reply.complete else film_facts.SoundAdded(length)
        )

    def due(self) -> FinishedClip | None:
        sent = self._take(film_facts.Due())
        clip = self._clip if any(isinstance(step, film_facts.SendClip) for step in sent) else None
        if clip is not None:
            self._clip = None
            self._forget_sound()
        return clip

    def heard(self, samples: int) -> None:
        self._take(film_facts.Heard(samples))

    def hold(self) -> None:
        self._take(film_facts.Held())

    def resume(self) -> None:
        self._take(film_facts.Resumed())

    def end(self) -> None:
        self._take(film_facts.ReplyOver())
        self._clip = None
        self._forget_sound()

    def _take(self, fact: FilmFact) -> list[FilmStep]:
        steps = self._machine.take(fact, self._stage.call_time())
        for step in steps:
            match step:
                case film_facts.DrawWhole():
                    self._tasks.start_soon(self._draw, step)
                case film_facts.DropDrawing():
                    self._scope.cancel()
                case film_facts.TellProblem(code):
                    self._tell(code)
                case film_facts.SendSound():
                    self._send_sound()
        return steps

    def _tell(self, code: str) -> None:
        problem = TooLarge(CLIP_TOO_LARGE, code=code) if code else self._problem
        if problem is not None:
            self._stage.report_problem(problem)
            self._on_end(problem)

    def _send_sound(self) -> None:
        """The reply goes out as sound, from its first sample: all of it is still in its buffer."""
        words = tuple(self._sound.words)
        self._forget_sound()
        self._reply.speak_as_it_is_taken()
        self._stage.sound_instead(self._reply.number, words)

    def _forget_sound(self) -> None:
        self._reply.recorded = None
        self._sound = KeptSound()

    async def _draw(self, step: film_facts.DrawWhole) -> None:
        limit = PATIENCE + PATIENCE_PER_SECOND * step.samples / SPOKEN_RATE
        with self._scope:
            try:
                with anyio.fail_after(limit):
                    studio = await self._studio()
                    data = await studio.clip(step.samples, step.asked_at, SoundSoFar.of(self._sound))
                self._clip = FinishedClip(data, studio.figure.width, studio.figure.height)
            except TimeoutError:
                self._problem = Unavailable(TOO_SLOW, code="video_too_slow")
            except Problem as problem:
                self._problem = problem
            if self._clip is None:
                self._take(film_facts.DrawingFailed(step.drawing))
                return
            self._on_end(None)
            self._take(film_facts.Drawn(step.drawing))
            self._stage.send_due()
