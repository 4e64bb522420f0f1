"""Transcribes a caller turn by turn.

`session.py` carries out the turn machine's decisions here. Owns the sound of the last two seconds and of the turns that
may still be reopened, and one task for each turn that is being transcribed.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import Literal

import anyio
import anyio.abc

from duologue.engines.contracts import FRAME, ExpectsWords, RecogniserEngine, SpotsStopWords
from duologue.errors import EngineFailed, Problem
from duologue.notifier import Notifier
from duologue.tracing import spans
from duologue.turns.facts import FinalTranscript, PartialTranscript
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES
from duologue.values.speech import Transcript

log = logging.getLogger(__name__)

PIECE = HEARD_RATE // 10 * SAMPLE_BYTES
"""Bytes fed to a recogniser at a time: a tenth of a second, so that it never keeps other calls waiting."""
EARLY = FRAME * SAMPLE_BYTES
"""Bytes fed at a time at the beginning of a turn, whose first words may end a reply and are wanted at once."""
BEGINNING = 3 * HEARD_RATE // 2 * SAMPLE_BYTES
"""Bytes of a turn that are its beginning. Half a second of them lies before its onset was noticed."""
RECENT = 2 * HEARD_RATE * SAMPLE_BYTES
"""Bytes of recent sound in memory: a turn begins a little before it is noticed."""
TURNS = 3
"""Turns whose sound is in memory: the current one, and those it may turn out to continue."""
MENTIONED = 1000
"""Characters of what was said lately, on either side, whose words the caller may well use."""
REFED = 8 * HEARD_RATE * SAMPLE_BYTES
"""Bytes up to which a reopened turn is transcribed from its beginning: words are recognised better together."""


class _Turn:
    """One turn: its sound, and its text so far."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.sound = bytearray()
        self.end = 0
        """The sample after the last of its sound."""
        self.until: int | None = None
        """The sample its transcript ends at; None while the turn is open."""
        self.fed = 0
        self.before = ""
        """Its text before the sound that is being fed now."""
        self.text = ""
        self.work: Literal["none", "feeding", "finishing"] = "none"
        self.over_reply = False
        """It began over a reply, and may ask it to stop."""
        self.failed = False
        """The recogniser failed once on it."""
        self.scope = anyio.CancelScope()
        self.changed = Notifier()

    def joined(self, text: str) -> str:
        return f"{self.before} {text}".strip() if self.before else text


class Transcription:
    """The turns of one caller. `on_transcript` gets every partial and final transcript, `on_failure` what went wrong."""

    def __init__(
        self,
        recogniser: RecogniserEngine,
        tasks: anyio.abc.TaskGroup,
        *,
        language: str,
        hint: str,
        on_transcript: Callable[[PartialTranscript | FinalTranscript], None],
        on_failure: Callable[[Problem], None],
    ) -> None:
        self.received = 0
        """Samples received since the call began."""
        self._recogniser = recogniser
        self._tasks = tasks
        self._language = language
        self._hint = hint
        self._mentioned = ""
        self._on_transcript = on_transcript
        self._on_failure = on_failure
        self._recent = bytearray()
        self._turns: OrderedDict[int, _Turn] = OrderedDict()
        self._open: _Turn | None = None

    def add(self, pcm: bytes) -> None:
        """Append whole samples from the caller."""
        self.received += len(pcm) // SAMPLE_BYTES
        self._recent += pcm
        if len(self._recent) > 2 * RECENT:
            del self._recent[: len(self._recent) - RECENT]
        if (turn := self._open) is not None:
            turn.sound += pcm
            turn.end = self.received
            turn.changed.notify()

    def mention(self, text: str) -> None:
        """A reply, or a piece of one: the caller may use its words."""
        self._mentioned = (self._mentioned + text)[-MENTIONED:]

    def last_sound(self, number: int, size: int) -> bytes:
        """The last `size` bytes of this turn's sound, as far as there are so many."""
        turn = self._turns.get(number)
        return bytes(turn.sound[-size:]) if turn is not None else b""

    def start(self, number: int, since: int, *, over_reply: bool = False) -> None:
        """Transcribe this turn from sample `since` on. A turn that was finished is reopened. `over_reply`: it may ask a reply to
        stop."""
        turn = self._turns.get(number)
        if turn is None:
            turn = self._turns[number] = _Turn(number)
            while len(self._turns) > TURNS:
                self._turns.popitem(last=False)[1].scope.cancel()
        self._open = turn
        turn.over_reply = over_reply
        turn.until = None
        since = max(since, turn.end)
        missing = min((self.received - since) * SAMPLE_BYTES, len(self._recent))
        if missing > 0:
            turn.sound += self._recent[len(self._recent) - missing :]
        turn.end = self.received
        turn.changed.notify()
        if turn.work != "feeding":
            self._begin(turn)

    def finish(self, number: int, until: int) -> None:
        """Report the turn's `FinalTranscript` up to sample `until`, once it is recognised."""
        if (turn := self._turns.get(number)) is None:
            return
        if self._open is turn:
            self._open = None
        surplus = (turn.end - until) * SAMPLE_BYTES
        if surplus > 0:
            del turn.sound[max(turn.fed, len(turn.sound) - surplus) :]
            turn.end = until
        turn.until = until
        turn.changed.notify()

    def discard(self, number: int) -> None:
        """Forget this turn and stop transcribing it."""
        if (turn := self._turns.pop(number, None)) is not None:
            if self._open is turn:
                self._open = None
            turn.scope.cancel()

    def close(self) -> None:
        """Free all sound. The parts of a call reference each other, so it would stay until the next garbage collection."""
        for turn in self._turns.values():
            turn.sound.clear()
        self._recent.clear()
        self._turns.clear()
        self._open = None

    def _begin(self, turn: _Turn) -> None:
        turn.scope.cancel()
        turn.scope = anyio.CancelScope()
        if len(turn.sound) <= REFED:
            turn.before, turn.fed = "", 0
        else:
            # Too long to start over: append the text of the new sound to the text so far.
            turn.before = turn.text
        turn.work = "feeding"
        self._tasks.start_soon(self._transcribe, turn, turn.scope)

    async def _transcribe(self, turn: _Turn, scope: anyio.CancelScope) -> None:
        with scope:
            try:
                await self._feed(turn, scope)
            except Problem as problem:
                self._fail(turn, problem)
            except Exception:
                log.exception("the recogniser failed")
                self._fail(turn, EngineFailed("The recogniser failed. The server's log has the reason."))

    async def _feed(self, turn: _Turn, scope: anyio.CancelScope) -> None:
        with spans.span("transcription"):
            until, transcript = await self._recognised(turn)
        if scope.cancel_called:
            return  # the turn was reopened meanwhile, and another task transcribes it
        turn.work = "none"
        turn.text = turn.joined(transcript.text)
        understood = transcript.understood or bool(turn.before)
        self.mention(f" {turn.text} ")
        self._on_transcript(FinalTranscript(turn.number, turn.text, understood, until, transcript.stop_word))

    async def _recognised(self, turn: _Turn) -> tuple[int, Transcript]:
        """Feed the turn to the recogniser until it has ended. Gives the sample it ended at, and its transcript."""
        async with self._recogniser.stream(language=self._language, prompt=self._hint) as listener:
            if self._mentioned and isinstance(listener, ExpectsWords):
                listener.expect(self._mentioned)
            if turn.over_reply and isinstance(listener, SpotsStopWords):
                listener.listen_for_stop()
            while True:
                waiting = len(turn.sound) - turn.fed
                least = EARLY if turn.fed < BEGINNING else PIECE
                if waiting >= least or (waiting and turn.until is not None):
                    piece = bytes(turn.sound[turn.fed : turn.fed + PIECE])
                    turn.fed += len(piece)
                    until = turn.end - (len(turn.sound) - turn.fed) // SAMPLE_BYTES
                    text = turn.joined(await listener.feed(piece))
                    # At the beginning the same words are reported again: the longer they stay, the more certain they are.
                    if (
                        self._recogniser.partial_results
                        and text
                        and (text != turn.text or turn.fed <= BEGINNING)
                    ):
                        self._on_transcript(PartialTranscript(turn.number, text, until))
                    turn.text = text
                elif turn.until is not None:
                    break
                else:
                    await turn.changed.wait()
            turn.work, until = "finishing", turn.until
            return until, await listener.finish()

    def _fail(self, turn: _Turn, problem: Problem) -> None:
        """Try once more, as a recogniser process that died is replaced; after that, settle for the text so far."""
        if not turn.failed:
            turn.failed = True
            log.warning("a turn is transcribed again: %s", problem.message)
            self._begin(turn)
            return
        turn.work = "none"
        self._on_failure(problem)
        self._on_transcript(FinalTranscript(turn.number, turn.text, bool(turn.text), turn.until))
