"""One reply whose video goes beside its sound, in segments of about a second.

`call_video.py` makes one for each reply; `turns/video/stream_machine.py` decides what is drawn and sent. Owns the drawing's task, and
the segments until they are sent. The sound takes its own way; it waits for the first picture only, and briefly.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio
import anyio.abc

from duologue.errors import Problem, TooLarge
from duologue.sessions.speech.kept_sound import KeptSound
from duologue.sessions.speech.synthesis import SpokenReply
from duologue.sessions.video.film_encoder import EncodedFrames
from duologue.sessions.video.reply_film import FilmStage, FinishedClip
from duologue.sessions.video.studio import SoundSoFar, Studio
from duologue.turns.video import film_facts
from duologue.turns.video.film_facts import Draw, FilmFact
from duologue.turns.video.stream_machine import StreamMachine

VIDEO_ENDS = "This reply is longer than ten minutes; the rest of it has no video."


class StreamedReply:
    """One reply. `on_end`: called once when a drawing failed, and with None when one succeeded."""

    def __init__(
        self,
        reply: SpokenReply,
        studio: Studio,
        stage: FilmStage,
        tasks: anyio.abc.TaskGroup,
        *,
        on_end: Callable[[Problem | None], None] = lambda problem: None,
    ) -> None:
        self._reply, self._studio, self._stage, self._tasks = reply, studio, stage, tasks
        self._on_end = on_end
        self._sound = reply.recorded = KeptSound()
        self._machine = StreamMachine(studio.figure.rate, studio.first_took)
        self._scopes: dict[int, anyio.CancelScope] = {}
        self._drawn: dict[int, tuple[Draw, EncodedFrames]] = {}
        self._problem: Problem | None = None

    @property
    def holds_sound(self) -> bool:
        return False

    @property
    def holds_start(self) -> bool:
        return self._machine.holds_start(self._stage.call_time())

    @property
    def making(self) -> bool:
        return False

    def sounded(self) -> None:
        length = self._reply.length
        self._take(
            film_facts.SoundComplete(length) if self._reply.complete else film_facts.SoundAdded(length)
        )

    def due(self) -> FinishedClip | None:
        self._take(film_facts.Due())
        return None

    def heard(self, samples: int) -> None:
        self._take(film_facts.Heard(samples))

    def hold(self) -> None:
        self._take(film_facts.Held())

    def resume(self) -> None:
        self._take(film_facts.Resumed())

    def end(self) -> None:
        self._take(film_facts.ReplyOver())

    def _take(self, fact: FilmFact) -> None:
        for step in self._machine.take(fact, self._stage.call_time()):
            match step:
                case Draw():
                    self._scopes[step.drawing] = anyio.CancelScope()
                    self._tasks.start_soon(self._draw, step)
                case film_facts.DropDrawing(drawing):
                    self._drop(drawing)
                case film_facts.SendSegment(drawing):
                    self._stage.send_segment(self._reply.number, *self._drawn.pop(drawing))
                case film_facts.EndVideo():
                    self._stage.end_video(self._reply.number)
                case film_facts.TellProblem(code):
                    self._tell(code)
        if self._machine.over and self._reply.recorded is not None:
            self._reply.recorded = None
            self._sound = KeptSound()

    def _drop(self, drawing: int) -> None:
        self._drawn.pop(drawing, None)
        if (scope := self._scopes.pop(drawing, None)) is not None:
            scope.cancel()

    def _tell(self, code: str) -> None:
        problem = TooLarge(VIDEO_ENDS, code=code) if code else self._problem
        if problem is not None:
            self._stage.report_problem(problem)
        if not code:
            self._on_end(problem)

    async def _draw(self, step: Draw) -> None:
        with self._scopes[step.drawing] as scope:
            try:
                sound = SoundSoFar.of(self._sound)
                frames = await self._studio.stretch(step.frame, step.first, step.count, sound)
            except Problem as problem:
                self._problem = problem
                self._scopes.pop(step.drawing, None)
                self._take(film_facts.DrawingFailed(step.drawing))
                self._stage.send_due()
                return
            if scope.cancel_called:
                return
            self._drawn[step.drawing] = (step, frames)
            self._scopes.pop(step.drawing, None)
            self._on_end(None)
            held = self.holds_start
            self._take(film_facts.Drawn(step.drawing))
            if step.drawing == 1 and self._machine.first_took is not None:
                self._studio.first_took = self._machine.first_took
            if held:
                self._stage.send_due()
