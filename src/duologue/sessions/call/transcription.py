"""What a caller says, written down turn by turn.

Owns the sound of the last two seconds and of the turns that may still be reopened, and one task for each turn that is
being written down. Knows no decision: who asks says when a turn begins, and where it ends.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import Literal

import anyio
import anyio.abc

from duologue.engines.contracts import FRAME, RecogniserEngine
from duologue.errors import EngineFailed, Problem
from duologue.turns.facts import FinalTranscript, PartialTranscript
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES

log = logging.getLogger(__name__)

PIECE = HEARD_RATE // 10 * SAMPLE_BYTES
"""Bytes a recogniser is fed at a time: a tenth of a second, so that it never keeps others waiting."""
EARLY = FRAME * SAMPLE_BYTES
"""Bytes fed at a time of a turn's first sound, whose words may end a reply: they are wanted as soon as they are there."""
BEGINNING = 3 * HEARD_RATE // 2 * SAMPLE_BYTES
"""Bytes of a turn that are its first sound: half a second of them is from before its onset was told."""
RECENT = 2 * HEARD_RATE * SAMPLE_BYTES
"""Bytes kept of what was just heard: a turn begins a little before it is noticed."""
TURNS = 3
"""Turns whose sound is kept: the one that is spoken, and those it may turn out to go on with."""
HEARD_AGAIN = 8 * HEARD_RATE * SAMPLE_BYTES
"""Bytes up to which a reopened turn is written down from its beginning: words are better understood together."""


class _Turn:
    """One turn: its sound as far as it was listened to, and what was made of it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.sound = bytearray()
        self.end = 0
        """The sample after the last of its sound."""
        self.until: int | None = None
        self.fed = 0
        self.before = ""
        """What was written down of it before what is fed now."""
        self.text = ""
        self.work: Literal["none", "feeding", "finishing"] = "none"
        self.failed = False
        """The recogniser failed on it, once."""
        self.scope = anyio.CancelScope()
        self.news = anyio.Event()

    def joined(self, text: str) -> str:
        return f"{self.before} {text}".strip() if self.before else text


class Transcription:
    """One caller's turns. `said` is told every `Partial` and `Final`, `failed` what went wrong."""

    def __init__(
        self,
        recogniser: RecogniserEngine,
        tasks: anyio.abc.TaskGroup,
        *,
        language: str,
        hint: str,
        said: Callable[[PartialTranscript | FinalTranscript], None],
        failed: Callable[[Problem], None],
    ) -> None:
        self.heard = 0
        """Samples heard since the call began."""
        self._recogniser = recogniser
        self._tasks = tasks
        self._language = language
        self._hint = hint
        self._said = said
        self._failed = failed
        self._recent = bytearray()
        self._turns: OrderedDict[int, _Turn] = OrderedDict()
        self._open: _Turn | None = None

    def add(self, pcm: bytes) -> None:
        """The next whole samples that were heard."""
        self.heard += len(pcm) // SAMPLE_BYTES
        self._recent += pcm
        if len(self._recent) > 2 * RECENT:
            del self._recent[: len(self._recent) - RECENT]
        if (turn := self._open) is not None:
            turn.sound += pcm
            turn.end = self.heard
            turn.news.set()

    def listen(self, number: int, since: int) -> None:
        """Write down what is heard as this turn, from sample `since` on; a turn that was concluded is reopened."""
        turn = self._turns.get(number)
        if turn is None:
            turn = self._turns[number] = _Turn(number)
            while len(self._turns) > TURNS:
                self._turns.popitem(last=False)[1].scope.cancel()
        self._open = turn
        turn.until = None
        since = max(since, turn.end)
        missing = min((self.heard - since) * SAMPLE_BYTES, len(self._recent))
        if missing > 0:
            turn.sound += self._recent[len(self._recent) - missing :]
        turn.end = self.heard
        turn.news.set()
        if turn.work != "feeding":
            self._begin(turn)

    def conclude(self, number: int, until: int) -> None:
        """Tell the turn's `Final` as heard up to sample `until`."""
        if (turn := self._turns.get(number)) is None:
            return
        if self._open is turn:
            self._open = None
        surplus = (turn.end - until) * SAMPLE_BYTES
        if surplus > 0:
            del turn.sound[max(turn.fed, len(turn.sound) - surplus) :]
            turn.end = until
        turn.until = until
        turn.news.set()

    def discard(self, number: int) -> None:
        """Forget this turn and stop whatever is done with it."""
        if (turn := self._turns.pop(number, None)) is not None:
            if self._open is turn:
                self._open = None
            turn.scope.cancel()

    def close(self) -> None:
        """Let go of all sound. A call's parts know each other, and would hold it until garbage is next collected."""
        for turn in self._turns.values():
            turn.sound.clear()
        self._recent.clear()
        self._turns.clear()
        self._open = None

    def _begin(self, turn: _Turn) -> None:
        turn.scope.cancel()
        turn.scope = anyio.CancelScope()
        if len(turn.sound) <= HEARD_AGAIN:
            turn.before, turn.fed = "", 0
        else:
            # What was fed is written down; only what is new is listened to.
            turn.before = turn.text
        turn.work = "feeding"
        self._tasks.start_soon(self._write_down, turn, turn.scope)

    async def _write_down(self, turn: _Turn, scope: anyio.CancelScope) -> None:
        with scope:
            try:
                await self._feed(turn, scope)
            except Problem as problem:
                self._broken(turn, problem)
            except Exception:
                log.exception("the recogniser failed")
                self._broken(turn, EngineFailed("The recogniser failed. The server's log has the reason."))

    async def _feed(self, turn: _Turn, scope: anyio.CancelScope) -> None:
        async with self._recogniser.stream(language=self._language, prompt=self._hint) as listener:
            while True:
                waiting = len(turn.sound) - turn.fed
                least = EARLY if turn.fed < BEGINNING else PIECE
                if waiting >= least or (waiting and turn.until is not None):
                    piece = bytes(turn.sound[turn.fed : turn.fed + PIECE])
                    turn.fed += len(piece)
                    until = turn.end - (len(turn.sound) - turn.fed) // SAMPLE_BYTES
                    text = turn.joined(await listener.feed(piece))
                    # The first words are told again while they stay the same: how long they do says how sure they are.
                    if (
                        self._recogniser.partial_results
                        and text
                        and (text != turn.text or turn.fed <= BEGINNING)
                    ):
                        self._said(PartialTranscript(turn.number, text, until))
                    turn.text = text
                elif turn.until is not None:
                    break
                else:
                    turn.news = anyio.Event()
                    await turn.news.wait()
            turn.work, until = "finishing", turn.until
            transcript = await listener.finish()
        if scope.cancel_called:
            return  # it was reopened while this was written, and is written down anew
        turn.work = "none"
        turn.text = turn.joined(transcript.text)
        understood = transcript.understood or bool(turn.before)
        self._said(FinalTranscript(turn.number, turn.text, understood, until))

    def _broken(self, turn: _Turn, problem: Problem) -> None:
        """It is listened to once more, as a process that died has a successor; then the turn is what was understood so far."""
        if not turn.failed:
            turn.failed = True
            log.warning("a turn is written down once more: %s", problem.message)
            self._begin(turn)
            return
        turn.work = "none"
        self._failed(problem)
        self._said(FinalTranscript(turn.number, turn.text, bool(turn.text), turn.until))
