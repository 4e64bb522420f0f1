"""The turns of a call that an omni model holds by itself: a pure machine for what the model does not decide.

`sessions/omni/native_call.py` asks it. Facts and decisions are in `unit_decisions.py`. A model that decides when to speak is asked at each
unit; one that does not is told, by how long the caller has paused. Either is interrupted here: no model yields in the middle of a turn.
There are no words to judge by, so speech over a reply is an interruption when it lasts (`TurnSettings.overlap`), and the reply is on hold
until then. Time is the number of samples received (16 kHz), which every `Frame` moves on; positions in a reply are samples at 24 kHz.
"""

from __future__ import annotations

from duologue.turns.decisions import (
    CommitReply,
    CommitTurn,
    CutReply,
    HoldReply,
    ResumeReply,
    ShowState,
)
from duologue.turns.endpoint import Endpoint
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
from duologue.turns.interruption import ACKNOWLEDGING
from duologue.turns.native.unit_decisions import (
    Announced,
    BeginReply,
    CutUnit,
    EndTurn,
    HearAgain,
    PassUnit,
    SilenceModel,
    UnitDecision,
    UnitDue,
    UnitFact,
    UnitPassing,
    UnitSpoke,
)
from duologue.turns.settings import TurnSettings, seconds
from duologue.turns.speech import Change, SpeechSegmenter
from duologue.values.call_events import CallSetup, CallState

SHORTEST_PRESS = seconds(0.2)
"""A button that was down for less was touched by accident."""
TAIL = seconds(0.2)
"""Sound after the last speech that belongs to a turn: a detector misses the last consonants."""


class _Turn:
    """What the caller says, or has said and is not answered."""

    def __init__(self, number: int, since: int) -> None:
        self.number = number
        self.since = since


class _Reply:
    """The reply of the moment."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.length = 0
        self.complete = False
        self.played = 0
        self.audible_at = 0
        """When its first sound was made."""
        self.held_at: int | None = None
        self.final_by = 0
        """When its heard part is known, once it is cut."""

    @property
    def over(self) -> bool:
        return self.complete and self.played >= self.length


class UnitDecider:
    """Decides in one call. `decides`: the model itself decides when to speak."""

    def __init__(self, setup: CallSetup, *, decides: bool) -> None:
        self.epoch = setup.epoch
        self._settings = TurnSettings.of(setup)
        self._decides = decides
        self._next_reply, self._next_turn = setup.reply, setup.turn
        self._speech = SpeechSegmenter()
        self._speech.can_hold = setup.pauses
        self._endpoint = Endpoint()
        self._out: list[UnitDecision] = []
        self._now = 0
        self._button_at: int | None = None
        self._turn: _Turn | None = None
        self._turn_until = 0
        """Where the last turn ended."""
        self._answerable: int | None = None
        """The turn that a model which is told to speak has not answered yet."""
        self._announced = 0
        """Sentences of the session that wait to be said."""
        self._answer_from = 0
        """Where its speech ended: a unit that ends before has not all of it."""
        self._reply: _Reply | None = None
        self._following: _Reply | None = None
        """A reply that a model which decides has begun while the one before still plays."""
        self._unsettled: _Reply | None = None
        self._passed: int | None = None
        """The reply that was being made when the last unit was passed."""
        self._overheard: int | None = None
        """Where speech over an uninterruptible reply began."""
        self._yields = False
        """The caller has interrupted and still speaks."""
        self._silent_passing = False
        """The unit that was passed last must not be answered."""
        self._shown: CallState = "listening"

    # ---- questions

    @property
    def reply(self) -> int | None:
        """The reply that the model makes, or the one that still plays."""
        newest = self._following or self._reply
        return None if newest is None else newest.number

    @property
    def speech_end(self) -> int:
        """Where the caller spoke last."""
        return self._speech.end

    def take(self, fact: UnitFact) -> list[UnitDecision]:
        """What follows from a fact."""
        self._out = []
        match fact:
            case Frame():
                self._frame(fact)
            case PushToTalk(down):
                self._press() if down else self._release()
            case TextTyped(text):
                self._typed(text)
            case InterruptRequested(reply, samples):
                self._interrupted(reply, samples)
            case SynthesisProgress(reply, length):
                if (one := self._find(reply)) is not None:
                    one.audible_at = one.audible_at if one.length else self._now
                    one.length = max(one.length, length)
            case SynthesisComplete(reply, length):
                if (one := self._find(reply)) is not None:
                    one.length, one.complete = max(one.length, length), True
            case PlaybackProgress(reply, samples):
                if (one := self._find(reply)) is not None:
                    one.played = max(one.played, samples)
            case UnitDue(end, force_listen):
                self._pass(end, force_listen)
            case UnitSpoke(speaks):
                self._spoke(speaks)
            case Announced():
                self._announced += 1
                self._out.append(CutUnit(anyway=True))
        self._settle()
        self._show()
        return self._out

    # ---- the caller's sound

    def _frame(self, frame: Frame) -> None:
        self._now += FRAME
        change = self._speech.take(frame)
        if not self._settings.listens:
            if self._button_at is not None:
                self._limit_turn()
            return
        if self._reply is not None:
            self._over_reply(self._reply, change)
        elif change == "confirmed":
            if self._turn is None:
                self._open_turn(self._speech.start)
            else:
                self._endpoint.learn(self._speech.pause)
        if change in ("lull", "faded"):
            self._yields = False
        self._limit_turn()
        is_quiet = self._reply is None and self._speech.phase == "quiet"
        if self._turn is not None and is_quiet and self._speech.silence >= self._endpoint.delay(""):
            self._end_turn(min(self._now, self._speech.end + TAIL))

    def _over_reply(self, reply: _Reply, change: Change | None) -> None:
        """Judge what the caller says while the model speaks."""
        speech = self._speech
        if not reply.length and change == "confirmed":
            # Nothing of it was heard: the caller simply speaks on.
            self._cut(speech.start)
            return
        if not self._settings.interruptible:
            if change == "confirmed" and self._overheard is None:
                self._overheard = speech.start
            return
        if change == "onset" and reply.held_at is None and reply.length:
            reply.held_at = self._now
            self._out.append(HoldReply(reply.number))
        if speech.phase == "speech":
            over = speech.end - max(speech.start, reply.audible_at)
            if over >= self._least() and not speech.faint:
                self._cut(speech.start)
                return
        if reply.held_at is None:
            return
        expired = self._now - reply.held_at >= self._settings.hold_limit
        if change in ("lull", "faded") or expired:
            self._resume(reply)

    def _least(self) -> int:
        """Samples of speech over a reply that interrupt it."""
        if self._speech.murmur:
            return ACKNOWLEDGING
        return self._settings.overlap if self._settings.pauses else self._settings.overlap_unpaused

    def _resume(self, reply: _Reply) -> None:
        if reply.held_at is not None:
            reply.held_at = None
            self._out.append(ResumeReply(reply.number))

    def _open_turn(self, start: int) -> None:
        self._turn = _Turn(self._next_turn, max(self._turn_until, start - self._settings.pre_roll))
        self._next_turn += 1
        self._out.append(HearAgain(self._turn.since))

    def _limit_turn(self) -> None:
        if self._turn is not None and self._now - self._turn.since >= self._settings.turn_limit:
            self._end_turn(self._now)

    def _end_turn(self, until: int) -> None:
        turn, self._turn = self._turn, None
        if turn is None:
            return
        self._turn_until = max(turn.since, until)
        self._out.append(EndTurn(turn.number, turn.since, self._turn_until))
        self._answerable, self._answer_from = turn.number, min(until, self._speech.end)
        if not self._decides:
            self._out.append(CutUnit())

    # ---- the button, the keyboard

    def _press(self) -> None:
        if self._button_at is None:
            self._button_at = self._now
            self._hush()
            if self._turn is None:
                self._turn = _Turn(self._next_turn, self._now)
                self._next_turn += 1

    def _release(self) -> None:
        pressed, self._button_at = self._button_at, None
        if pressed is None:
            return
        if self._now - pressed < SHORTEST_PRESS:
            if (turn := self._turn) is not None:
                self._turn, self._next_turn = None, turn.number
            return
        self._end_turn(self._now)

    def _typed(self, text: str) -> None:
        self._hush()
        self._end_turn(self._now)
        self._out.append(CommitTurn(self._next_turn, text, typed=True))
        self._answerable, self._answer_from = self._next_turn, 0
        self._next_turn += 1
        self._out.append(CutUnit(anyway=True))

    def _interrupted(self, number: int | None, samples: int | None) -> None:
        reply = self._reply
        if number is not None and (reply is None or reply.number != number):
            return
        if reply is not None and samples is not None:
            reply.played = min(samples, reply.length)
        self._hush(known=samples is not None)

    def _hush(self, *, known: bool = False) -> None:
        """Silence the model. `known`: how much was heard is known for certain."""
        self._silent_passing = True
        self._answerable = None
        if self._reply is not None:
            self._cut(None, known=known)

    # ---- the model

    def _pass(self, end: int, force_listen: bool) -> None:
        if force_listen and self._reply is not None:
            self._hush()
        self._settle()
        if self._unsettled is not None:
            return
        forced = force_listen or self._yields or self._button_at is not None
        self._silent_passing = forced
        reply, self._passed = self._following or self._reply, self.reply
        if reply is not None and reply.complete:
            passing: UnitPassing = "model" if self._decides else "withhold"
        elif reply is not None:
            passing = "model" if self._decides else "speak"
        elif self._announced and not forced and self._turn is None and self._speech.phase == "quiet":
            passing = "speak"
            self._announce()
        elif self._decides:
            passing = "listen" if forced else "model"
        elif forced or self._answerable is None or self._turn is not None or end < self._answer_from:
            passing = "listen"
        else:
            passing = "speak"
            self._begin(self._answerable)
            self._passed = self.reply
        self._out.append(PassUnit(passing))

    def _spoke(self, speaks: bool) -> None:
        making = self._following or self._reply
        if (None if making is None else making.number) != self._passed:
            # The reply was cut while the model worked on this.
            return
        if not speaks or not self._decides or (making is not None and not making.complete):
            return
        if self._silent_passing:
            self._out.append(SilenceModel())
            return
        self._end_turn(self._now)
        self._begin(self._answerable if self._answerable is not None else self._next_turn - 1)

    def _announce(self) -> None:
        """Begin a reply that says a sentence of the session. A turn that waits for its answer gets it after that."""
        self._announced -= 1
        answerable = self._answerable
        self._begin(self._next_turn - 1)
        self._passed, self._answerable = self.reply, answerable

    def _begin(self, turn: int) -> None:
        reply = _Reply(self._next_reply)
        self._next_reply += 1
        if self._reply is None:
            self._reply = reply
        else:
            self._following = reply
        self._answerable = None
        self._out.append(BeginReply(reply.number, turn))

    def _cut(self, start: int | None, *, known: bool = False) -> None:
        """End the reply where it is. `start`: where the speech that interrupts it began; None: a button or key did."""
        reply, self._reply = self._reply, None
        following, self._following = self._following, None
        if reply is None:
            return
        if following is not None:
            self.epoch += 1
            self._out += [CutReply(following.number), CommitReply(following.number, 0, "interrupted")]
        self.epoch += 1
        self._out.append(CutReply(reply.number))
        held = reply.held_at if reply.held_at is not None else self._now
        wait = self._settings.settle if self._settings.marks and reply.length and not known else 0
        reply.final_by = held + wait
        self._unsettled = reply
        since, self._overheard = self._overheard if start is None else start, None
        if since is not None:
            self._open_turn(since)
            self._yields = start is not None
        else:
            self._mind_recent()

    def _settle(self) -> None:
        """Commit what has become certain."""
        cut = self._unsettled
        if cut is not None and (self._now >= cut.final_by or cut.played >= cut.length):
            self._unsettled = None
            self._out.append(CommitReply(cut.number, cut.played, "interrupted"))
        reply = self._reply
        if reply is None or not reply.over or reply.held_at is not None:
            return
        self._reply, self._following = self._following, None
        self._out.append(CommitReply(reply.number, reply.length, "spoken"))
        since, self._overheard = self._overheard, None
        if since is None and self._settings.listens and self._speech.phase == "speech":
            since = self._speech.start
        if self._reply is not None:
            self._overheard = since
        elif since is not None:
            self._open_turn(since)
        else:
            self._mind_recent()

    def _mind_recent(self) -> None:
        """Of what was said over the reply, only what may be the beginning of speech matters."""
        start = self._now if self._speech.phase == "quiet" else self._speech.start
        self._out.append(HearAgain(max(0, start - self._settings.pre_roll)))

    def _find(self, number: int) -> _Reply | None:
        known = (self._reply, self._following, self._unsettled)
        return next((one for one in known if one is not None and one.number == number), None)

    def _show(self) -> None:
        """Tell the state when it has changed."""
        reply = self._reply
        state: CallState
        if reply is not None:
            state = "thinking" if not reply.length else "speaking" if reply.held_at is None else "paused"
        elif self._turn is not None:
            state = "hearing"
        elif self._answerable is not None and not self._decides:
            state = "thinking"
        else:
            state = "listening"
        if state != self._shown:
            self._shown = state
            self._out.append(ShowState(state))
