"""The turns of a native call without a call: a model, a player and a caller around the machine, and what must hold whatever happens."""

from __future__ import annotations

from typing import TypeVar

from duologue.turns.decisions import CommitReply, CommitTurn, CutReply, HoldReply, ResumeReply, ShowState
from duologue.turns.facts import (
    FRAME,
    Frame,
    InterruptRequested,
    PlaybackProgress,
    PushToTalk,
    SynthesisComplete,
    SynthesisProgress,
    TextTyped,
)
from duologue.turns.native.unit_decider import UnitDecider
from duologue.turns.native.unit_decisions import (
    BeginReply,
    EndTurn,
    HearAgain,
    PassUnit,
    SilenceModel,
    UnitDecision,
    UnitDue,
    UnitFact,
    UnitSpoke,
)
from duologue.turns.settings import seconds
from duologue.values.call_events import CallSetup

D = TypeVar("D")
SPEECH = Frame(0.9, -20.0, -6.0)
HUM = Frame(0.9, -20.0, -20.0)
QUIET = Frame(0.05, -70.0, 0.0)
UNIT = 16
"""Frames of a unit."""
SOUND = 15_000
"""Samples (24 kHz) that the model says in a unit."""


class NativeStandIn:
    """A call. The model says `length` units in answer to a turn, and everything plays in real time."""

    def __init__(self, setup: CallSetup, *, decides: bool, length: int = 6) -> None:
        self.machine = UnitDecider(setup, decides=decides)
        self.decides = decides
        self.length = length
        self.decisions: list[UnitDecision] = []
        self.now = 0
        self.left = 0
        """Units that the model still has to say."""
        self.wants_to_speak = False
        self.made: dict[int, int] = {}
        self.played: dict[int, int] = {}
        self.open: int | None = None
        self.held = False
        self.passings: list[str] = []
        self._begun: set[int] = set()
        self._cut: set[int] = set()
        self._committed: set[int] = set()
        self._turn = setup.turn - 1
        self._until = 0
        self._shown = "listening"
        self._epoch = setup.epoch

    # ---- what happens

    def take(self, fact: UnitFact) -> list[UnitDecision]:
        decided = self.machine.take(fact)
        self.decisions += decided
        for decision in decided:
            self._check(decision)
        assert self.machine.epoch == self._epoch, "the epoch rises with a cut and with nothing else"
        assert sum(isinstance(decision, PassUnit) for decision in decided) <= isinstance(fact, UnitDue)
        return decided

    def frames(self, count: int, frame: Frame = SPEECH, *, forced: bool = False) -> NativeStandIn:
        for _ in range(count):
            self.now += FRAME
            self.take(frame)
            self._play()
            if self.now // FRAME % UNIT == 0:
                self.unit(forced=forced)
        return self

    def say(self, duration: float, frame: Frame = SPEECH) -> NativeStandIn:
        return self.frames(seconds(duration) // FRAME, frame)

    def quiet(self, duration: float, *, forced: bool = False) -> NativeStandIn:
        return self.frames(seconds(duration) // FRAME, QUIET, forced=forced)

    def unit(self, *, forced: bool = False) -> None:
        """The model takes a unit."""
        passed = [one.passing for one in self.take(UnitDue(self.now, forced)) if isinstance(one, PassUnit)]
        if not passed:
            return
        [passing] = passed
        self.passings.append(passing)
        assert not (forced and passing in ("speak", "model")), "it must be silent"
        if self.decides:
            assert passing in ("model", "listen")
        else:
            assert passing in ("speak", "listen", "withhold")
        if passing == "speak" and self.left == 0 and self.open is not None and not self.made.get(self.open):
            self.left = self.length
        if passing == "model" and self.wants_to_speak and not self.left:
            self.left, self.wants_to_speak = self.length, False
        speaks = passing in ("speak", "model") and self.left > 0
        self.take(UnitSpoke(speaks))
        reply = self.machine.reply
        if speaks and reply is not None:
            self.left -= 1
            self.made[reply] = self.made.get(reply, 0) + SOUND
            self.take(SynthesisProgress(reply, self.made[reply]))
            if not self.left:
                self.take(SynthesisComplete(reply, self.made[reply]))

    def _play(self) -> None:
        reply = min(self._begun - self._cut - self._committed, default=None)
        if reply is not None and not self.held and self.made.get(reply):
            self.played[reply] = min(self.made[reply], self.played.get(reply, 0) + FRAME * 3 // 2)
            self.take(PlaybackProgress(reply, self.played[reply]))

    def press(self, down: bool) -> NativeStandIn:
        self.take(PushToTalk(down))
        return self

    def enter(self, text: str = "tea") -> NativeStandIn:
        self.take(TextTyped(text))
        return self

    def interrupt(self, reply: int | None = None, samples: int | None = None) -> NativeStandIn:
        self.take(InterruptRequested(reply, samples))
        return self

    # ---- what was decided

    def of(self, kind: type[D]) -> list[D]:
        return [decision for decision in self.decisions if isinstance(decision, kind)]

    # ---- what must hold

    def _check(self, decision: UnitDecision) -> None:
        match decision:
            case BeginReply(reply):
                assert reply not in self._begun
                self._begun.add(reply)
                self.open = reply
            case HoldReply(reply):
                assert reply in self._begun - self._cut - self._committed
                assert not self.held
                self.held = True
            case ResumeReply(reply):
                assert reply in self._begun - self._cut - self._committed
                assert self.held
                self.held = False
            case CutReply(reply):
                assert reply in self._begun - self._cut - self._committed
                self._cut.add(reply)
                self._epoch += 1
                self.held, self.left = False, 0
                self.open = None
            case CommitReply(reply, samples, ending):
                assert reply in self._begun - self._committed
                assert (ending == "interrupted") == (reply in self._cut)
                assert 0 <= samples <= self.made.get(reply, 0)
                self._committed.add(reply)
                self.open = None if self.open == reply else self.open
            case EndTurn(turn, since, until):
                assert turn == self._turn + 1
                assert since >= self._until
                self._until = until
                assert 0 <= since <= until <= self.now
                self._turn = turn
            case CommitTurn(turn):
                assert turn == self._turn + 1
                self._turn = turn
            case HearAgain(since):
                assert since <= self.now
            case SilenceModel():
                assert self.decides
                self.left = 0
            case ShowState(state):
                assert state != self._shown
                self._shown = state
            case _:
                pass

    def end(self) -> None:
        """All has been quiet for long."""
        assert self._begun == self._committed
        assert not self.held
        assert self._shown == "listening"
