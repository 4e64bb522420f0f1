"""Who speaks, decided: a call's facts go in, decisions come out, and nothing else happens.

Owns the caller's turns: where they begin and end, what interrupts, what was nothing. What is said is `mouth.py`'s. Time
is the samples heard (16 kHz), moved on by frames; a call that is told nothing stands still. Knows no engine, no socket.
"""

from __future__ import annotations

from collections import deque

from msgspec import structs

from duologue.turns import facts_and_decisions as told
from duologue.turns.announcements import Asides
from duologue.turns.caller_turn import CallerTurn
from duologue.turns.display_state import state_of
from duologue.turns.endpoint import Endpoint
from duologue.turns.facts_and_decisions import FRAME, Conclude, Decision, Discard, Fact, Foresee, Listen, Show
from duologue.turns.interruption import Evidence, goes_on, judge
from duologue.turns.reply_state import ReplyState
from duologue.turns.settings import TurnSettings, seconds
from duologue.turns.speech import Change, SpeechRules, SpeechSegmenter
from duologue.turns.words import words_of
from duologue.values.call_events import CallState

WAITING = 8
"""Typed turns that may wait; more are not taken."""
WARIEST = 2
"""False alarms make the ear harder to convince, from the second on, up to so many times the usual onset."""
DIES = seconds(0.5)
"""Within so long of a reply's hold its echo dies."""
LOOK_BACK = seconds(1.5)
"""Nobody has to remember more of what was heard."""
FALSE_ALARMS = ("noise", "echo", "not_understood", "undecided")


class TurnMachine:
    """One call. `take` every fact as it comes, and carry out what it gives, in order."""

    def __init__(self, settings: TurnSettings | None = None, *, rules: SpeechRules | None = None) -> None:
        self.settings = settings or TurnSettings()
        self.speech = SpeechSegmenter(rules)
        self.speech.tries = self.settings.pauses
        self.endpoint = Endpoint(self.settings.language)
        self._mouth = ReplyState(self.settings, self._tell)
        self._asides = Asides(self.settings, self._mouth)
        self._now = 0
        self._turn: CallerTurn | None = None
        self._turns = 0
        self._pressed = False
        self._wary = 0
        self._deaf_until = 0
        self._baffled = False
        self._typed: deque[str] = deque()
        self._shown: CallState | None = None
        self._out: list[Decision] = []

    @property
    def epoch(self) -> int:
        """How often a reply's sound was cut: each `CutSound` among the decisions is where it rises by one."""
        return self._mouth.epoch.value

    @property
    def now(self) -> int:
        """Samples heard so far."""
        return self._now

    def take(self, fact: Fact) -> list[Decision]:
        """What follows from this fact. Never raises for a fact that comes too late, twice, or for a reply nobody knows."""
        match fact:
            case told.Frame():
                self._frame(fact)
            case told.Partial():
                self._partial(fact)
            case told.Final():
                self._final(fact)
            case told.Interrupted():
                self._interrupted(fact)
            case told.Wrote():
                self._wrote(fact)
            case told.Button():
                self._button(fact)
            case told.Announce():
                self._asides.announce(fact)
            case _:
                self._mouth.take(fact, self._now)
        self._go_on()
        decisions, self._out = self._out, []
        return decisions

    def _tell(self, decision: Decision) -> None:
        self._out.append(decision)

    def _go_on(self) -> None:
        """Do what has become possible."""
        self._judge()
        self._end_turn()
        self._speak()
        self._show()

    # ---- facts about the caller

    def _frame(self, frame: told.Frame) -> None:
        self._now += FRAME
        change = self.speech.take(frame)
        self._mouth.tick(self._now)
        if not self.settings.listens and not self._pressed:
            return
        turn = self._turn
        if turn is None:
            self._may_begin()
        elif not turn.forced:
            self._goes_on(turn, change)

    def _goes_on(self, turn: CallerTurn, change: Change | None) -> None:
        """There is more to an open turn."""
        turn.ended = max(turn.ended, self.speech.ended)
        if change != "confirmed" or self.speech.began < turn.began:
            return
        if self.speech.pause <= self.speech.began - turn.began:
            self.endpoint.learn(self.speech.pause)
        if turn.concluded is not None:
            self._reopen(turn, max(turn.concluded, self.speech.began - self.settings.pre_roll))

    def _reopen(self, turn: CallerTurn, since: int) -> None:
        main = self._mouth.main
        if main is not None and main.turn is turn:
            self._mouth.drop(main, self._now)
        turn.reopen()
        self._listen(turn, since)

    def _may_begin(self) -> None:
        """Speech without a turn: a turn begins, or may have begun."""
        if self.speech.phase == "quiet":
            return
        began = max(self.speech.began, self._deaf_until)
        spoken = self.speech.ended - began
        saying = self._mouth.foremost
        sure = self.speech.phase == "speech" and spoken > 0
        if saying is None:
            if sure:
                self._begin(began)
        elif not self._mouth.may_be_interrupted(saying):
            if self.settings.overheard == "discard":
                self._deaf_until = self._now
            elif sure:
                self._begin(began)
        elif spoken >= self.speech.rules.onset * max(1, self._wary) * FRAME:
            turn = self._begin(began)
            turn.doubtful, turn.noticed = True, self._now
            self._mouth.hold(self._now)

    def _begin(self, began: int, *, since: int | None = None) -> CallerTurn:
        self._turns += 1
        turn = CallerTurn(self._turns, self._turns, began=began, ended=max(began, self.speech.ended))
        if self._mouth.main is not None:
            turn.heard_before = self._mouth.main.played
        saying = self._mouth.audible(began)
        turn.over = saying is not None
        if saying is not None:
            turn.during, turn.during_at = saying.number, saying.played
        self._turn = turn
        if since is None:
            since = max(began - self.settings.pre_roll, self._deaf_until)
        self._listen(turn, since)
        return turn

    def _listen(self, turn: CallerTurn, since: int) -> None:
        self._tell(Listen(turn.ear, max(0, since, self._now - LOOK_BACK)))

    def _partial(self, partial: told.Partial) -> None:
        turn = self._turn
        if turn is None or turn.ear != partial.turn or turn.final:
            return
        turn.hear(partial.text, self._now if partial.until is None else partial.until)
        if turn.doubtful or turn.over or turn.concluded is not None or turn.said == turn.foreseen:
            return
        if words_of(turn.said) and self._now - turn.foreseen_at >= self.settings.foresee_every:
            turn.foreseen, turn.foreseen_at = turn.said, self._now
            self._tell(Foresee(turn.number, turn.said))

    def _final(self, final: told.Final) -> None:
        turn = self._turn
        if turn is None or turn.ear != final.turn or turn.final:
            return
        if turn.concluded is None or final.until not in (None, turn.concluded):
            # The answer to a conclusion that was taken back: words so far, like any others.
            turn.text = final.text if turn.concluded is None and final.text else turn.text
            return
        turn.text, turn.understood, turn.final = final.text, final.understood, True

    def _interrupted(self, fact: told.Interrupted) -> None:
        saying = self._mouth.find(fact.reply) if fact.reply is not None else self._mouth.foremost
        if fact.reply is not None and saying is None:
            return
        if saying is not None and fact.samples is not None:
            self._mouth.played(saying, fact.samples, self._now)
            saying.settled = True
        if saying is None or saying in (self._mouth.main, self._mouth.aside):
            self._silence()

    def _wrote(self, fact: told.Wrote) -> None:
        if not fact.text.strip() or len(self._typed) >= WAITING:
            return
        self._typed.append(fact.text)
        self._silence()
        if self._turn is not None:
            self._turn.forced = True

    def _button(self, fact: told.Button) -> None:
        if fact.down == self._pressed:
            return
        self._pressed = fact.down
        turn = self._turn
        if not fact.down:
            if turn is not None:
                turn.pressed, turn.forced = False, True
            return
        if turn is None:
            turn = self._begin(self._now, since=self._now)
            self._take_over(turn, explicit=True)
        elif turn.doubtful:
            self._take_over(turn, explicit=True)
        elif turn.concluded is not None:
            before = self.settings.pre_roll if self.settings.listens else 0
            self._reopen(turn, max(turn.concluded, self._now - before))
        turn.pressed, turn.forced = True, False
        turn.over = False

    def _silence(self) -> None:
        """The caller wants none of what is said or about to be."""
        self._mouth.stop(self._now)
        turn = self._turn
        if turn is None:
            return
        if turn.doubtful:
            turn.doubtful = turn.over = False
        elif turn.concluded is not None:
            # Its words stand; nobody wants the answer.
            turn.unwanted = True

    # ---- what sounds over a reply

    def _judge(self) -> None:
        """Decide about a turn that may be none."""
        turn = self._turn
        if turn is None or not turn.doubtful:
            return
        if self._mouth.foremost is None:
            # What it may have interrupted has ended meanwhile; its words will tell whether it is a turn.
            turn.doubtful = False
            return
        verdict = judge(self._evidence(turn), self.settings)
        if verdict == "confirm":
            self._take_over(turn)
        elif verdict is not None and self.speech.phase == "quiet":
            self._refuse(turn, verdict)
        elif self._now - turn.began >= self.settings.hold_limit:
            # No more is known in time: what there is decides.
            known = structs.replace(self._evidence(turn), final=True)
            late = judge(known, self.settings) if words_of(turn.text) else "undecided"
            if late == "confirm":
                self._take_over(turn)
            else:
                self._refuse(turn, late or "undecided")
        elif turn.concluded is None and self._silent_for() >= self.settings.lull:
            self._conclude(turn)

    def _evidence(self, turn: CallerTurn) -> Evidence:
        return Evidence(
            spoken=max(0, turn.ended - turn.began),
            silence=self._silent_for(),
            text=turn.text,
            final=turn.final,
            understood=turn.understood,
            steady=turn.steady,
            murmur=self.speech.murmur,
            faint=self.speech.faint and (not self.settings.pauses or turn.ended - turn.noticed <= DIES),
            own=self._mouth.own_words(turn.during, turn.during_at),
            asked=self._mouth.asks,
        )

    def _silent_for(self) -> int:
        return self.speech.silence if self.speech.phase == "quiet" else 0

    def _take_over(self, turn: CallerTurn, *, explicit: bool = False) -> None:
        """The turn is the caller's: whatever is said gives way to it."""
        mouth = self._mouth
        turn.doubtful = turn.over = False
        self._wary = 0
        for saying in (mouth.aside, mouth.main):
            if saying is None or saying.turn is turn:
                continue
            allowed = mouth.may_be_stopped(saying) if explicit else mouth.may_be_interrupted(saying)
            if not allowed:
                mouth.resume(self._now)
            elif saying.turn is not None and goes_on(
                turn, saying.turn, waiting=saying.waiting is not None, settings=self.settings
            ):
                self.endpoint.learn(turn.began - saying.turn.ended)
                turn.go_on_with(saying.turn)
                mouth.drop(saying, self._now)
            else:
                mouth.cut(saying, self._now)

    def _refuse(self, turn: CallerTurn, reason: str) -> None:
        """It was nobody's turn."""
        if turn.doubtful and reason in FALSE_ALARMS:
            self._wary = min(WARIEST, self._wary + 1)
            self._learn_echo(turn)
        self._tell(Discard(turn.ear, reason))
        self._mouth.resume(self._now)
        self._turn = None
        self._deaf_until = self._now

    def _learn_echo(self, turn: CallerTurn) -> None:
        speech = self.speech
        if speech.gain is not None and speech.faint and turn.ended - turn.noticed <= DIES:
            speech.levels.hear_echo(speech.gain, tried=speech.tried)

    # ---- the end of a turn

    def _conclude(self, turn: CallerTurn) -> None:
        turn.concluded = turn.concluded_at = self._now
        self._tell(Conclude(turn.ear, self._now))

    def _end_turn(self) -> None:
        turn = self._turn
        if turn is None or turn.doubtful or turn.pressed:
            self._limit(turn)
            return
        if self.speech.phase != "quiet" and not turn.forced:
            self._limit(turn)
            return
        silence = self.settings.turn_limit if turn.forced else self._silent_for()
        delay = self.endpoint.delay(turn.said)
        if turn.concluded is None:
            if silence < max(self.settings.soft_end, delay - self.settings.lead):
                return
            self._conclude(turn)
        if not turn.final and self._now - turn.concluded_at >= self.settings.final_limit:
            turn.final, turn.understood = True, bool(words_of(turn.text))
        if not turn.final:
            return
        if turn.over and not self._is_turn(turn):
            return
        sure = silence >= delay and (turn.forced or not self.speech.stirs)
        if words_of(turn.said):
            self._answer(turn, sure=sure)
        elif sure:
            self._shrug(turn)

    def _limit(self, turn: CallerTurn | None) -> None:
        if turn is not None and self._now - turn.began >= self.settings.turn_limit and not turn.doubtful:
            turn.forced, turn.pressed = True, False

    def _is_turn(self, turn: CallerTurn) -> bool:
        """Whether a turn that began over a reply, but did not have to interrupt it, is one; else it is refused here."""
        verdict = judge(self._evidence(turn), self.settings)
        refused = verdict in ("echo", "backchannel") or (verdict == "noise" and not turn.before)
        if verdict == "backchannel" and self._mouth.foremost is None:
            # Nobody speaks who could be told to go on: it is an answer.
            refused = False
        if refused and verdict is not None:
            self._refuse(turn, verdict)
            return False
        turn.over = False
        return True

    def _answer(self, turn: CallerTurn, *, sure: bool) -> None:
        """Have it answered, and the answer said once the turn is over for sure."""
        mouth = self._mouth
        if self._typed or turn.unwanted:
            # These words stand; what was typed after them is answered, or nothing.
            if sure and mouth.settled:
                mouth.keep_user(turn)
                self._close(turn)
            return
        if mouth.main is not None and mouth.main.turn is not turn:
            if not sure or not mouth.may_be_interrupted(mouth.main):
                return
            self._take_over(turn)
        if mouth.main is None:
            if not mouth.settled:
                return
            mouth.ask(turn, self._now)
        if sure:
            self._baffled = False
            self._wary = max(0, self._wary - 1)
            turn.ended = max(turn.ended, self.speech.ended)
            self._close(turn)
            mouth.release(self._now)

    def _close(self, turn: CallerTurn) -> None:
        """Its reply has it, or the conversation."""
        if turn.ear != turn.number:
            self._tell(Discard(turn.ear, "merged"))
        if turn.concluded is not None:
            # Somebody whose turn was closed while they spoke is not heard twice.
            self._deaf_until = max(self._deaf_until, turn.concluded)
        self._turn = None

    def _shrug(self, turn: CallerTurn) -> None:
        """A turn without words is over."""
        reason = "noise" if turn.understood else "not_understood"
        if turn.understood or self._baffled or not self._mouth.free or self._typed:
            self._refuse(turn, reason)
            return
        self._refuse(turn, reason)
        self._baffled = True
        self._asides.say("not_understood", self._now)

    # ---- what is said

    def _ask_typed(self) -> None:
        """Answer what was typed, once whatever it ended is settled."""
        mouth = self._mouth
        if not self._typed or self._turn is not None or mouth.main is not None or not mouth.settled:
            return
        self._turns += 1
        turn = CallerTurn(self._turns, self._turns, began=self._now, ended=self._now, typed=True, final=True)
        turn.text = "\n".join(self._typed)
        self._typed.clear()
        self._baffled = False
        mouth.keep_user(turn)
        mouth.ask(turn, self._now)
        mouth.release(self._now)

    def _speak(self) -> None:
        """Let go of what was heard, and say what is due."""
        main, turn = self._mouth.main, self._turn
        if (
            main is not None
            and main.played >= self.settings.syllables
            and (turn is None or not turn.doubtful)
        ):
            self._mouth.keep_user(main.turn)
        self._asides.finish(self._now)
        self._ask_typed()
        turn, main = self._turn, self._mouth.main
        # A turn that waits for the end of a reply waits for a stuck one too.
        if turn is None or (turn.final and main is not None and main.turn is not turn):
            self._asides.go_on(self._now)

    # ---- what is shown

    def _show(self) -> None:
        state = self._state()
        if state != self._shown:
            self._shown = state
            self._tell(Show(state))

    def _state(self) -> CallState:
        turn = self._turn
        ended = (
            turn is not None
            and turn.concluded is not None
            and (turn.forced or self._silent_for() >= self.endpoint.delay(turn.said))
        )
        return state_of(turn, self._mouth, ended=ended)
