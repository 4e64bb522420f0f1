"""A simulated call around the turn machine: a caller, a recogniser, a model, a voice and a client, all in numbers.

The caller speaks words at known samples; the recogniser returns those in the stretches it is to transcribe; a reply's
words sound for a third of a second each; the client plays what it is sent, and records what it played. Time passes in
frames, so a call of minutes is over in a moment, and the same call goes the same way each time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from duologue.turns.decisions import (
    CommitReply,
    CommitTurn,
    CutReply,
    Decision,
    DiscardTurn,
    DropReply,
    EstimateTurnEnd,
    FinishTranscript,
    HoldReply,
    ReleaseReply,
    RequestReply,
    ResumeReply,
    SaySentence,
    ShowState,
    TranscribeTurn,
)
from duologue.turns.facts import (
    FRAME,
    Fact,
    FinalTranscript,
    Frame,
    PartialTranscript,
    PlaybackProgress,
    ReplyBroken,
    ReplyTextStarted,
    SynthesisComplete,
    SynthesisProgress,
    TurnEndEstimated,
)
from duologue.turns.machine import TurnMachine
from duologue.turns.playout import Playout, played_in
from duologue.turns.settings import TurnSettings, seconds
from duologue.values.events import ReplyWord

T = TypeVar("T")
WORD = 8000
"""Samples (24 kHz) of a spoken word."""
PAUSING = TurnSettings(pauses=True, marks=True)
PLAIN = TurnSettings()


@dataclass
class SpokenWord:
    """A word of the caller."""

    text: str
    start: int
    end: int


@dataclass
class TurnAudio:
    """The stretches of one turn that the recogniser is to transcribe."""

    pieces: list[tuple[int, int | None]] = field(default_factory=list)
    last_text: str = ""

    def contains(self, word: SpokenWord, now: int) -> bool:
        """Whether the word has been transcribed by now."""
        middle = (word.start + word.end) // 2
        return any(since <= middle < (now if until is None else until) for since, until in self.pieces)


@dataclass
class Voice:
    """One reply: being synthesised, and at the client."""

    text: str
    ready: int
    """When its sound is ready."""
    playout: Playout
    own: bool = False
    released: bool = False
    making: bool = True
    complete: bool = False
    cut: bool = False
    at_client: int = 0
    played: int = 0
    """Samples that the client has played."""
    held: bool = False
    marked: int = 0
    reported: int = 0


class CallStandIn:
    """One call. Every decision is in `log` with its time."""

    def __init__(
        self,
        settings: TurnSettings = PAUSING,
        *,
        answer: Callable[[str], str | None] = lambda text: "one two three four five six seven eight",
        thinks: float = 0.1,
        recogniser_lag: float = 0.1,
        partials: bool = True,
        makes: bool = True,
        delay: float = 0.02,
        sounds_complete: float | None = None,
        estimator_lag: float = 0.06,
    ) -> None:
        """`sounds_complete`: what the estimator of the ends of turns always answers, after its lag; None: nothing."""
        self.settings = settings
        self.machine = TurnMachine(settings)
        self.log: list[tuple[int, Decision]] = []
        self.kept: dict[int, tuple[str, str]] = {}
        """Of each committed reply: the text the conversation has as heard, and the rest."""
        self.voices: dict[int, Voice] = {}
        self.words: list[SpokenWord] = []
        self._answer = answer
        self._thinks = seconds(thinks)
        self.lag = seconds(recogniser_lag)
        self._partials = partials
        self._makes = makes
        self._delay = seconds(delay)
        self._sounds_complete = sounds_complete
        self._estimator_lag = seconds(estimator_lag)
        self._turn_audio: dict[int, TurnAudio] = {}
        self._later: list[tuple[int, Fact]] = []

    # ---- the caller

    @property
    def now(self) -> int:
        return self.machine.now

    def quiet(self, duration: float) -> CallStandIn:
        return self.frames(duration, 0.02, -62.0)

    def cough(self, duration: float = 0.2) -> CallStandIn:
        """Sound without a word."""
        return self.frames(duration, 0.8, -22.0)

    def say(self, text: str, word: float = 0.3) -> CallStandIn:
        """Speak words of this length each, without a pause."""
        length = seconds(word)
        spoken = text.split()
        for number, one in enumerate(spoken):
            start = self.now + number * length
            self.words.append(SpokenWord(one, start, start + length))
        return self.frames(word * len(spoken), 0.95, -24.0)

    def frames(self, duration: float, probability: float, level: float) -> CallStandIn:
        until = self.now + seconds(duration)
        while self.now < until:
            self.step(Frame(probability, level))
        return self

    def until(self, kind: type[T], limit: float = 10.0) -> T:
        """Wait in silence for a decision of this kind; returns it."""
        already, end = len(self.log), self.now + seconds(limit)
        while self.now < end:
            for _, decision in self.log[already:]:
                if isinstance(decision, kind):
                    return decision
            self.quiet(0.03)
        raise AssertionError(f"no {kind.__name__} within {limit} s: {self.log[already:]}")

    def step(self, frame: Frame) -> None:
        """One frame of everything."""
        self.take(frame)
        due, self._later = (
            [fact for at, fact in self._later if at <= self.now],
            [(at, fact) for at, fact in self._later if at > self.now],
        )
        for fact in due:
            self.take(fact)
        if self._partials:
            self._recognise()
        for number in list(self.voices):
            self._sound(number)

    def take(self, fact: Fact) -> list[Decision]:
        """Pass a fact to the machine and carry out its decisions."""
        decisions = self.machine.take(fact)
        for decision in decisions:
            self.log.append((self.now, decision))
            self._carry_out(decision)
        return decisions

    # ---- recogniser, model, voice and client

    def _carry_out(self, decision: Decision) -> None:
        match decision:
            case TranscribeTurn(turn, since):
                assert self.now - since <= seconds(1.6)
                self._turn_audio.setdefault(turn, TurnAudio()).pieces.append((since, None))
            case FinishTranscript(turn, until):
                audio = self._turn_audio[turn]
                audio.pieces[-1] = (audio.pieces[-1][0], until)
                self._later.append(
                    (self.now + self.lag, FinalTranscript(turn, self._heard(audio), until=until))
                )
            case EstimateTurnEnd(turn, until):
                assert until == self.now
                if self._sounds_complete is not None:
                    answer = TurnEndEstimated(turn, until, self._sounds_complete)
                    self._later.append((self.now + self._estimator_lag, answer))
            case DiscardTurn(turn):
                self._turn_audio.pop(turn)
            case RequestReply(reply, _, _, text):
                self._begin(reply, self._answer(text), self._thinks)
            case SaySentence(reply, text):
                self._begin(reply, text, seconds(0.05), own=True)
            case ReleaseReply(reply):
                self.voices[reply].released = True
            case HoldReply(reply):
                self.voices[reply].playout.hold(self.now)
                self.voices[reply].held = True
            case ResumeReply(reply):
                self.voices[reply].playout.resume(self.now)
                self.voices[reply].held = False
            case CutReply(reply):
                self.voices[reply].cut = True
                self.voices[reply].making = False
            case DropReply(reply):
                self.voices[reply].making = False
            case CommitReply(reply, samples, _):
                self.voices[reply].making = False
                self.kept[reply] = self.voices[reply].playout.heard(samples)
            case _:
                pass

    def _heard(self, audio: TurnAudio) -> str:
        return " ".join(word.text for word in self.words if audio.contains(word, self.now))

    def _recognise(self) -> None:
        for turn, audio in list(self._turn_audio.items()):
            if audio.pieces[-1][1] is None and (text := self._heard_late(audio)) != audio.last_text:
                audio.last_text = text
                self.take(PartialTranscript(turn, text))

    def _heard_late(self, audio: TurnAudio) -> str:
        known = [word for word in self.words if word.end + self.lag <= self.now]
        return " ".join(word.text for word in known if audio.contains(word, self.now))

    def _begin(self, reply: int, text: str | None, thinks: int, *, own: bool = False) -> None:
        playout = Playout(marks=self.settings.marks)
        voice = Voice(text or "", self.now + thinks, playout, own=own, released=own)
        voice.making = own or (self._makes and text is not None)
        self.voices[reply] = voice

    def _sound(self, number: int) -> None:
        voice = self.voices[number]
        if voice.making and not voice.complete and self.now >= voice.ready:
            self._make(number, voice)
        before = any(
            other.own and not other.cut and other.making and other.played < other.playout.length
            for key, other in self.voices.items()
            if key != number
        )
        if not voice.held and not voice.cut:
            voice.played = min(voice.at_client, voice.played + played_in(FRAME))
        if voice.released and not voice.cut and voice.making and (voice.own or not before):
            voice.playout.send(voice.playout.due(self.now), self.now)
            voice.at_client = voice.playout.sent
        self._report(number, voice)

    def _make(self, number: int, voice: Voice) -> None:
        voice.complete = True
        voice.playout.write(voice.text)
        words, place = [], 0
        for count, text in enumerate(voice.text.split()):
            at = voice.text.index(text, place)
            place = at + len(text)
            words.append(ReplyWord(text, count * WORD, (count + 1) * WORD, at, place))
        voice.playout.add_sound(len(words) * WORD, tuple(words))
        self.take(ReplyTextStarted(number))
        voice.playout.finish()
        if words:
            self.take(SynthesisProgress(number, len(words) * WORD, tuple(words)))
        self.take(SynthesisComplete(number, len(words) * WORD))

    def _report(self, number: int, voice: Voice) -> None:
        if self.settings.marks:
            due = (
                self.now % seconds(0.2) < FRAME
                or voice.held
                or voice.cut
                or voice.played == voice.playout.length
            )
            if due and voice.played > voice.marked:
                voice.marked = voice.played
                voice.playout.mark(voice.played, self.now)
        position = voice.playout.position(self.now)
        if position > voice.reported and (voice.making or voice.cut):
            voice.reported = position
            self.take(PlaybackProgress(number, position))

    # ---- results

    def all(self, kind: type[T]) -> list[T]:
        return [decision for _, decision in self.log if isinstance(decision, kind)]

    def times(self, kind: type[Decision]) -> list[int]:
        return [at for at, decision in self.log if isinstance(decision, kind)]

    @property
    def states(self) -> list[str]:
        return [shown.state for shown in self.all(ShowState)]

    @property
    def turn_texts(self) -> list[str]:
        """The caller's turns, as the conversation has them."""
        return [kept.text for kept in self.all(CommitTurn)]

    def break_down(self, reply: int, apology: str = "") -> None:
        self.voices[reply].making = False
        self.take(ReplyBroken(reply, apology))

    def recorded(self, reply: int) -> str:
        """The whole words of the reply that the client played."""
        return " ".join(self.voices[reply].text.split()[: self.voices[reply].played // WORD])
