"""What the call says: the current reply, a sentence that precedes it, and replies that were cut a moment ago.

Records how far each is synthesised and played, and counts the epoch. `machine.py` decides what happens to them and calls
the verbs here, which emit the decisions. Positions are samples at 24 kHz, times samples received (16 kHz).
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from duologue.turns.caller_turn import CallerTurn
from duologue.turns.decisions import (
    CommitReply,
    CommitTurn,
    CutReply,
    Decision,
    DropReply,
    HoldReply,
    ReleaseReply,
    RequestReply,
    ResumeReply,
    SaySentence,
)
from duologue.turns.facts import (
    PlaybackProgress,
    ReplyBroken,
    ReplyTextStarted,
    ReplyWaiting,
    SynthesisComplete,
    SynthesisProgress,
)
from duologue.turns.settings import TurnSettings, seconds
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE
from duologue.values.call_events import Ending
from duologue.values.events import ReplyWord

ReplyFact = (
    ReplyTextStarted | SynthesisProgress | SynthesisComplete | PlaybackProgress | ReplyWaiting | ReplyBroken
)

REMEMBERED = 6 * SPOKEN_RATE
"""Samples before the playback position whose words are remembered, to recognise their echo."""
ECHO_WINDOW = (SPOKEN_RATE // 2, SPOKEN_RATE // 3)
"""Which of our words an overlap may echo: from this much before its onset to this much past the known position. Answers
often repeat our words, but seldom while we are saying them."""
ECHO_TAIL = seconds(0.2)
"""How long after a reply's end its echo may begin."""
BROKEN_TAIL = seconds(0.5)
"""How long to wait for the rest of a broken reply's sound."""


class Utterance(Struct):
    """A reply, or a sentence of the machine's own."""

    number: int
    kind: str = "reply"
    turn: CallerTurn | None = None
    interruptible: bool = True
    released: bool = False
    length: int = 0
    """Samples synthesised so far."""
    played: int = 0
    complete: bool = False
    """All of its sound exists."""
    words: list[ReplyWord] = field(default_factory=list)
    progress_at: int = 0
    """Last new text, sound or playback."""
    moved_at: int = 0
    """Last movement of the playback position."""
    held_at: int | None = None
    """Since when it is on hold."""
    waiting_since: int | None = None
    """Since when it waits for a tool or a person."""
    asks: bool = False
    """It is waiting for the caller's answer to a question."""
    filled: bool = False
    """A filler was said during this wait."""
    slow: bool = False
    """The delay was announced."""
    broken: bool = False
    """It will not be completed."""
    apology: str = ""
    position_final: bool = False
    """The client reported the position together with its interrupt."""
    final_by: int = 0
    """When to stop waiting for the client's last mark after a cut."""

    @property
    def audible_now(self) -> bool:
        """Whether it is playing, or pausing between two pieces of sound."""
        return self.length > 0 and not (self.waiting_since is not None and self.played >= self.length)

    @property
    def silent(self) -> bool:
        """Whether all sound so far has been played."""
        return self.played >= self.length

    def over(self, now: int) -> bool:
        """Whether everything that will ever exist of it has been played."""
        rest_lost = self.broken and now - self.progress_at >= BROKEN_TAIL
        return self.released and self.silent and (self.complete or rest_lost)


class ReplyState:
    """The replies of one call: at most one answer (`main`) and one sentence of our own (`aside`), which plays first."""

    def __init__(self, settings: TurnSettings, emit: Callable[[Decision], None]) -> None:
        self.main: Utterance | None = None
        self.aside: Utterance | None = None
        self.epoch = 0
        """Number of cuts. Everything sent carries its epoch; what arrives with an older one is stale. It only rises, so
        nothing can make a cancelled reply current again."""
        self._settings = settings
        self._emit = emit
        self._unsettled: list[Utterance] = []
        self._number = 0
        self._last: Utterance | None = None
        self._last_at = 0

    # ---- questions

    @property
    def current(self) -> Utterance | None:
        """What is playing, or plays as soon as it has sound."""
        if self.aside is not None:
            return self.aside
        return self.main if self.main is not None and self.main.released else None

    @property
    def asks(self) -> bool:
        """Whether the caller was asked a question."""
        return self.main is not None and self.main.asks

    @property
    def positions_final(self) -> bool:
        """Whether the heard part of every cut reply is known."""
        return not self._unsettled

    @property
    def may_announce(self) -> bool:
        """Whether a sentence of our own may be said now."""
        if self.aside is not None or self._unsettled:
            return False
        return self.main is None or (self.main.waiting_since is not None and self.main.silent)

    def find(self, number: int) -> Utterance | None:
        """The reply with this number, while facts about it still matter."""
        known = (self.main, self.aside, *self._unsettled)
        return next((one for one in known if one is not None and one.number == number), None)

    def may_be_interrupted(self, utterance: Utterance) -> bool:
        """Whether the caller's voice ends it. Until it plays, speaking on interrupts nothing."""
        if utterance.kind == "reply":
            return self._settings.interruptible or not utterance.length or utterance.asks
        return self._settings.interruptible and utterance.interruptible

    def may_be_stopped(self, utterance: Utterance) -> bool:
        """Whether a button, a key or typed text ends it."""
        return utterance.kind == "reply" or utterance.interruptible

    def audible(self, at: int) -> Utterance | None:
        """What was audible at this time; a reply that just ended still echoes."""
        if self.current is not None:
            return self.current
        return self._last if self._last is not None and at - self._last_at <= ECHO_TAIL else None

    def recent_words(self, number: int, since: int) -> tuple[str, ...]:
        """The words this reply was saying around sample `since` and up to now."""
        utterance = next(
            (one for one in (self.aside, self.main, self._last) if one and one.number == number), None
        )
        if utterance is None:
            return ()
        behind, ahead = ECHO_WINDOW
        start, end = since - behind, utterance.played + ahead
        return tuple(word.text for word in utterance.words if word.end > start and word.start < end)

    # ---- facts

    def take(self, fact: ReplyFact, now: int) -> None:
        """Record a fact about a reply. Facts about a reply that is over or unknown are ignored."""
        utterance = self.find(fact.reply)
        if utterance is None:
            return
        match fact:
            case PlaybackProgress():
                self.set_position(utterance, fact.samples, now)
                return
            case SynthesisProgress():
                self.add_sound(utterance, fact.samples, fact.words, now)
            case SynthesisComplete():
                self.add_sound(utterance, fact.samples, (), now)
                utterance.complete = True
            case ReplyBroken():
                utterance.broken, utterance.waiting_since = True, None
                utterance.apology = fact.apology
            case ReplyWaiting():
                asks = fact.busy and fact.asks
                if (
                    utterance.asks
                    and not asks
                    and self.aside is not None
                    and self.aside.kind == "announcement"
                ):
                    # The question was answered before it had been read out to its end.
                    self.cut(self.aside, now)
                utterance.asks = asks
                if fact.busy != (utterance.waiting_since is not None):
                    utterance.waiting_since = now if fact.busy else None
                    utterance.filled = False
            case _:
                pass
        utterance.progress_at = now

    def add_sound(self, utterance: Utterance, samples: int, words: tuple[ReplyWord, ...], now: int) -> None:
        """`samples` of sound exist in total; `words` begin in the new part."""
        if utterance.silent:
            utterance.moved_at = now
        utterance.length = max(utterance.length, samples)
        utterance.progress_at = now
        recent = [word for word in utterance.words if word.end > utterance.played - REMEMBERED]
        utterance.words = [*recent, *words]

    def set_position(self, utterance: Utterance, samples: int, now: int) -> None:
        """The caller has heard it up to this sample. Never moves back, nor past what exists."""
        samples = min(samples, utterance.length)
        if samples > utterance.played:
            utterance.played = samples
            utterance.moved_at = now
            utterance.progress_at = max(utterance.progress_at, now)

    def tick(self, now: int) -> None:
        """FRAME more samples were received."""
        utterance = self.current
        if utterance is not None and utterance.held_at is None and not utterance.silent:
            utterance.progress_at = now
            rest = (utterance.length - utterance.played) * HEARD_RATE // SPOKEN_RATE
            # Neither a mark nor an estimate arrived for all this time: a client that stopped reporting must not block
            # the call.
            if now - utterance.moved_at >= rest + self._settings.unplayed:
                utterance.played = utterance.length
        if self.aside is not None and self.main is not None:
            self.main.moved_at = now
        for cut in [one for one in self._unsettled if one.position_final or now >= one.final_by]:
            self._unsettled.remove(cut)
            self._emit(CommitReply(cut.number, cut.played, "interrupted"))

    # ---- verbs

    def request(self, turn: CallerTurn, now: int) -> Utterance:
        """Request an answer to the turn."""
        self._number += 1
        self.main = Utterance(self._number, turn=turn, progress_at=now, moved_at=now)
        self._emit(RequestReply(self._number, turn.number, turn.revision, turn.full_text))
        return self.main

    def release(self, now: int) -> None:
        """Let the requested reply play."""
        if self.main is not None and not self.main.released:
            self.main.released = True
            self.main.moved_at = now
            self._emit(ReleaseReply(self.main.number))

    def say(self, text: str, kind: str, now: int, *, interruptible: bool = True) -> None:
        """Say this sentence before anything else."""
        self._number += 1
        self.aside = Utterance(self._number, kind=kind, interruptible=interruptible, released=True)
        self.aside.progress_at = self.aside.moved_at = now
        self._emit(SaySentence(self._number, text, kind))

    def stop(self, now: int) -> None:
        """End everything that a button may end."""
        for utterance in (self.aside, self.main):
            if utterance is None or not self.may_be_stopped(utterance):
                continue
            if utterance.released:
                self.cut(utterance, now)
            else:
                self.drop(utterance, now)

    def hold(self, now: int) -> None:
        """Pause what is playing, if the client can."""
        utterance = self.current
        if utterance is not None and utterance.held_at is None and self._settings.pauses:
            utterance.held_at = now
            self._emit(HoldReply(utterance.number))

    def resume(self, now: int) -> None:
        """Continue what is on hold."""
        for utterance in (self.aside, self.main):
            if utterance is not None and utterance.held_at is not None:
                utterance.held_at = None
                utterance.moved_at = now
                self._emit(ResumeReply(utterance.number))

    def commit_turn(self, turn: CallerTurn | None) -> None:
        """Add the turn to the conversation, once."""
        if turn is not None and not turn.committed:
            turn.committed = True
            self._emit(CommitTurn(turn.number, turn.full_text, turn.typed))

    def cut(self, utterance: Utterance, now: int) -> None:
        """Interrupt it. The heard part is known at once, or when the client's last mark has arrived."""
        self.commit_turn(utterance.turn)
        self._cut_sound(utterance)
        self._forget(utterance, now)
        # A reply on hold has been silent since then, so its last mark is already under way.
        held = utterance.held_at if utterance.held_at is not None else now
        utterance.final_by = (
            held + self._settings.settle if self._settings.marks and utterance.length else now
        )
        if utterance.position_final or now >= utterance.final_by:
            self._emit(CommitReply(utterance.number, utterance.played, "interrupted"))
        else:
            self._unsettled.append(utterance)

    def drop(self, utterance: Utterance, now: int) -> None:
        """Take it back: none of it counts as heard."""
        if utterance.released:
            self._cut_sound(utterance)
        if utterance.turn is not None:
            utterance.turn.revision += 1
        self._forget(utterance, now)
        self._emit(DropReply(utterance.number))

    def finish(self, utterance: Utterance, now: int) -> None:
        """It was heard to its end."""
        self._unhold(utterance, now)
        self.commit_turn(utterance.turn)
        self._forget(utterance, now)
        ending: Ending = "failed" if utterance.broken else "spoken"
        self._emit(CommitReply(utterance.number, utterance.played, ending))

    def give_up(self, utterance: Utterance, now: int) -> None:
        """Nothing more will come of it."""
        self.commit_turn(utterance.turn)
        if not utterance.played:
            self.drop(utterance, now)
            return
        self._cut_sound(utterance)
        self._forget(utterance, now)
        self._emit(CommitReply(utterance.number, utterance.played, "failed"))

    def _cut_sound(self, utterance: Utterance) -> None:
        self.epoch += 1
        self._emit(CutReply(utterance.number))

    def _unhold(self, utterance: Utterance, now: int) -> None:
        if utterance.held_at is not None:
            utterance.held_at = None
            self._emit(ResumeReply(utterance.number))

    def _forget(self, utterance: Utterance, now: int) -> None:
        if utterance is self.main:
            self.main = None
        if utterance is self.aside:
            self.aside = None
        self._last, self._last_at = utterance, now
