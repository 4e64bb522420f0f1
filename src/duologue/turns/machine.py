"""The turn machine: decides who speaks in a call. Facts go in, decisions come out, nothing else happens.

sessions/call/session.py feeds it. Owns the caller's turns: where they begin and end, what interrupts a reply and what was
a false alarm; the replies are in `reply_state.py`. Time is the samples received (16 kHz), advanced by frames: without
facts it stands still.
"""

from __future__ import annotations

from collections import deque

from duologue.turns import facts
from duologue.turns.announcements import Announcements
from duologue.turns.caller_turn import CallerTurn
from duologue.turns.decisions import (
    Decision,
    DiscardTurn,
    FinishTranscript,
    PreviewTurn,
    ShowState,
    TranscribeTurn,
)
from duologue.turns.display_state import state_of
from duologue.turns.endpoint import Endpoint
from duologue.turns.facts import FRAME, Fact
from duologue.turns.interruption import Evidence, asks_to_stop, continues, judge, judge_late
from duologue.turns.reply_state import ReplyState
from duologue.turns.settings import TurnSettings, seconds
from duologue.turns.sound_estimate import SoundEstimate
from duologue.turns.speech import Change, SpeechRules, SpeechSegmenter
from duologue.turns.words import words_of
from duologue.values.call_events import CallState

WAITING = 8
"""Typed turns that may wait; more are ignored."""
MAX_CAUTION = 2
"""After repeated false alarms an interruption needs up to this many times the usual onset."""
ECHO_DIES = seconds(0.5)
"""A reply on hold is silent, so its echo has died away after this long. What lasts longer is not an echo."""
LOOK_BACK = seconds(1.5)
"""How far back a turn's sound may begin; sessions buffer a little more than this."""
FALSE_ALARMS = ("noise", "echo", "not_understood", "undecided")


class TurnMachine:
    """One call. `take` every fact as it happens, and carry out the decisions in order."""

    def __init__(self, settings: TurnSettings | None = None, *, rules: SpeechRules | None = None) -> None:
        self.settings = settings or TurnSettings()
        self.speech = SpeechSegmenter(rules)
        self.speech.can_hold = self.settings.pauses
        self.endpoint = Endpoint(self.settings.language)
        self._sound = SoundEstimate(self._emit, enabled=self.settings.by_sound)
        self._replies = ReplyState(self.settings, self._emit)
        self._announcements = Announcements(self.settings, self._replies)
        self._now = 0
        self._turn: CallerTurn | None = None
        self._turn_count = 0
        self._pressed = False
        self._caution = 0
        self._ignore_until = 0
        self._misunderstood = False
        self._typed: deque[str] = deque()
        self._shown_state: CallState | None = None
        self._decisions: list[Decision] = []

    @property
    def epoch(self) -> int:
        """How many replies were cut; rises by one with each `CutReply`."""
        return self._replies.epoch

    @property
    def now(self) -> int:
        """Samples received so far."""
        return self._now

    def take(self, fact: Fact) -> list[Decision]:
        """The decisions that follow from this fact. Facts that are late, repeated or about an unknown reply are ignored,
        never an error: they cross with decisions on the wire."""
        match fact:
            case facts.Frame():
                self._frame(fact)
            case facts.PartialTranscript():
                self._partial(fact)
            case facts.FinalTranscript():
                self._final(fact)
            case facts.TurnEndEstimated():
                self._sound.take(fact, self._now)
            case facts.InterruptRequested():
                self._interrupt_requested(fact)
            case facts.TextTyped():
                self._text_typed(fact)
            case facts.PushToTalk():
                self._push_to_talk(fact)
            case facts.AnnouncementRequested():
                self._announcements.announce(fact)
            case _:
                self._replies.take(fact, self._now)
        self._advance()
        decisions, self._decisions = self._decisions, []
        return decisions

    def _emit(self, decision: Decision) -> None:
        self._decisions.append(decision)

    def _advance(self) -> None:
        """Do what has become possible. The order matters: a verdict on an overlap may end a turn, which may start a reply."""
        self._judge_overlap()
        self._end_turn()
        self._advance_replies()
        self._show()

    # ---- facts about the caller

    def _frame(self, frame: facts.Frame) -> None:
        self._now += FRAME
        change = self.speech.take(frame)
        self._replies.tick(self._now)
        if not self.settings.listens and not self._pressed:
            return
        turn = self._turn
        if turn is None:
            self._begin_if_speech()
        elif not turn.forced:
            self._extend(turn, change)

    def _extend(self, turn: CallerTurn, change: Change | None) -> None:
        """An open turn goes on."""
        turn.end = max(turn.end, self.speech.end)
        if change != "confirmed" or self.speech.start < turn.start:
            return
        if self.speech.pause <= self.speech.start - turn.start:
            # The pause lay within this turn, so it tells how this caller pauses.
            self.endpoint.learn(self.speech.pause)
        if turn.cutoff is not None:
            self._reopen(turn, max(turn.cutoff, self.speech.start - self.settings.pre_roll))

    def _reopen(self, turn: CallerTurn, since: int) -> None:
        """The caller continued after the turn's cutoff: take back the reply that was begun ahead."""
        main = self._replies.main
        if main is not None and main.turn is turn:
            self._replies.drop(main, self._now)
        turn.reopen()
        self._transcribe(turn, since)

    def _begin_if_speech(self) -> None:
        """There is speech and no turn: begin one. Over a reply it is doubtful, and the reply is put on hold at once: a moment
        of silence costs little if it was a cough."""
        if self.speech.phase == "quiet":
            return
        start = max(self.speech.start, self._ignore_until)
        spoken = self.speech.end - start
        utterance = self._replies.current
        sure = self.speech.phase == "speech" and spoken > 0
        if utterance is None:
            if sure:
                self._begin(start)
        elif not self._replies.may_be_interrupted(utterance):
            if self.settings.overheard == "discard":
                self._ignore_until = self._now
            elif sure:
                self._begin(start)
        elif spoken >= self.speech.rules.onset * max(1, self._caution) * FRAME:
            turn = self._begin(start)
            turn.doubtful, turn.noticed_at = True, self._now
            self._replies.hold(self._now)

    def _begin(self, start: int, *, since: int | None = None) -> CallerTurn:
        self._turn_count += 1
        turn = CallerTurn(self._turn_count, self._turn_count, start=start, end=max(start, self.speech.end))
        if self._replies.main is not None:
            turn.played_at_start = self._replies.main.played
        utterance = self._replies.audible(start)
        turn.over_reply = utterance is not None
        if utterance is not None:
            turn.overlapped_reply, turn.overlapped_position = utterance.number, utterance.played
        self._turn = turn
        if since is None:
            since = max(start - self.settings.pre_roll, self._ignore_until)
        self._transcribe(turn, since)
        return turn

    def _transcribe(self, turn: CallerTurn, since: int) -> None:
        self._emit(TranscribeTurn(turn.transcript, max(0, since, self._now - LOOK_BACK), turn.over_reply))

    def _partial(self, partial: facts.PartialTranscript) -> None:
        turn = self._turn
        if turn is None or turn.transcript != partial.turn or turn.final:
            return
        turn.update_text(partial.text, self._now if partial.until is None else partial.until)
        if (
            turn.doubtful
            or turn.over_reply
            or turn.cutoff is not None
            or turn.full_text == turn.previewed_text
        ):
            return
        if words_of(turn.full_text) and self._now - turn.previewed_at >= self.settings.preview_every:
            turn.previewed_text, turn.previewed_at = turn.full_text, self._now
            self._emit(PreviewTurn(turn.number, turn.full_text))

    def _final(self, final: facts.FinalTranscript) -> None:
        turn = self._turn
        if turn is None or turn.transcript != final.turn or turn.final:
            return
        if turn.cutoff is None or final.until not in (None, turn.cutoff):
            # It answers a cutoff that was taken back: treat it as a partial transcript.
            turn.text = final.text if turn.cutoff is None and final.text else turn.text
            return
        turn.finalize(final)

    def _interrupt_requested(self, fact: facts.InterruptRequested) -> None:
        utterance = self._replies.find(fact.reply) if fact.reply is not None else self._replies.current
        if fact.reply is not None and utterance is None:
            return
        if utterance is not None and fact.samples is not None:
            self._replies.set_position(utterance, fact.samples, self._now)
            utterance.position_final = True
        if utterance is None or utterance in (self._replies.main, self._replies.aside):
            self._silence()

    def _text_typed(self, fact: facts.TextTyped) -> None:
        if not fact.text.strip() or len(self._typed) >= WAITING:
            return
        self._typed.append(fact.text)
        self._silence()
        if self._turn is not None:
            self._turn.forced = True

    def _push_to_talk(self, fact: facts.PushToTalk) -> None:
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
        elif turn.cutoff is not None:
            before = self.settings.pre_roll if self.settings.listens else 0
            self._reopen(turn, max(turn.cutoff, self._now - before))
        turn.pressed, turn.forced = True, False
        turn.over_reply = False

    def _silence(self) -> None:
        """Stop everything that is being said or about to be said."""
        self._replies.stop(self._now)
        turn = self._turn
        if turn is None:
            return
        if turn.doubtful:
            turn.doubtful = turn.over_reply = False
        elif turn.cutoff is not None:
            # Its words stay, unanswered.
            turn.answer_cancelled = True

    # ---- overlaps: sound while a reply is playing

    def _judge_overlap(self) -> None:
        """Decide whether a doubtful turn is one."""
        turn = self._turn
        if turn is None or not turn.doubtful:
            return
        if self._replies.current is None:
            # The reply ended meanwhile, so nothing is left to interrupt; the words will tell whether it is a turn.
            turn.doubtful = False
            return
        evidence = self._evidence(turn)
        verdict = judge(evidence, self.settings)
        if verdict == "confirm":
            if asks_to_stop(evidence, self.settings.language):
                turn.believe_stop_word()
            self._take_over(turn)
        elif verdict is not None and self.speech.phase == "quiet":
            self._discard(turn, verdict)
        elif self._now - turn.start >= self.settings.hold_limit:
            # The reply cannot be held any longer: decide on what is known.
            if (late := judge_late(evidence, self.settings)) == "confirm":
                self._take_over(turn)
            else:
                self._discard(turn, late or "undecided")
        elif turn.cutoff is None and self._silent_for() >= self.settings.lull:
            self._finish_transcript(turn)

    def _evidence(self, turn: CallerTurn) -> Evidence:
        return Evidence(
            spoken=max(0, turn.end - turn.start),
            silence=self._silent_for(),
            text=turn.text,
            final=turn.final,
            understood=turn.understood,
            stop_word=turn.stop_word,
            stable_for=turn.stable_for,
            murmur=self.speech.murmur,
            faint=self.speech.faint and (not self.settings.pauses or turn.end - turn.noticed_at <= ECHO_DIES),
            own=self._replies.recent_words(turn.overlapped_reply, turn.overlapped_position),
            question_pending=self._replies.asks,
        )

    def _silent_for(self) -> int:
        return self.speech.silence if self.speech.phase == "quiet" else 0

    def _take_over(self, turn: CallerTurn, *, explicit: bool = False) -> None:
        """The turn is confirmed: replies give way to it."""
        replies = self._replies
        turn.doubtful = turn.over_reply = False
        self._caution = 0
        for utterance in (replies.aside, replies.main):
            if utterance is None or utterance.turn is turn:
                continue
            allowed = replies.may_be_stopped(utterance) if explicit else replies.may_be_interrupted(utterance)
            if not allowed:
                replies.resume(self._now)
            elif utterance.turn is not None and continues(
                turn, utterance.turn, waiting=utterance.waiting_since is not None, settings=self.settings
            ):
                # Next to nothing of the reply was heard, so this is the rest of the turn it answers.
                self.endpoint.learn(turn.start - utterance.turn.end)
                turn.continue_from(utterance.turn)
                replies.drop(utterance, self._now)
            else:
                replies.cut(utterance, self._now)

    def _discard(self, turn: CallerTurn, reason: str) -> None:
        """It was not a turn."""
        if turn.doubtful and reason in FALSE_ALARMS:
            self._caution = min(MAX_CAUTION, self._caution + 1)
            self._note_echo(turn)
        self._emit(DiscardTurn(turn.transcript, reason))
        self._replies.resume(self._now)
        self._turn = None
        self._ignore_until = self._now

    def _note_echo(self, turn: CallerTurn) -> None:
        speech = self.speech
        if speech.gain is not None and speech.faint and turn.end - turn.noticed_at <= ECHO_DIES:
            speech.levels.learn_echo(speech.gain, trial=speech.trial)

    # ---- the end of a turn

    def _finish_transcript(self, turn: CallerTurn) -> None:
        turn.cutoff = turn.cutoff_at = self._now
        self._emit(FinishTranscript(turn.transcript, self._now))

    def _end_turn(self) -> None:
        turn = self._turn
        if turn is None or turn.doubtful or turn.pressed:
            self._enforce_limit(turn)
            return
        if self.speech.phase != "quiet" and not turn.forced:
            self._enforce_limit(turn)
            return
        silence = self.settings.turn_limit if turn.forced else self._silent_for()
        if not turn.forced:
            self._sound.ask(turn.transcript, self.speech.end, silence, self._now)
        delay = self._delay(turn)
        if turn.cutoff is None:
            # The sound does not put off the words, which may be what ends the turn.
            ahead = min(delay, self.endpoint.delay(turn.full_text)) - self.settings.lead
            if silence < max(self.settings.soft_end, ahead):
                return
            self._finish_transcript(turn)
        if not turn.final and self._now - turn.cutoff_at >= self.settings.final_limit:
            # The recogniser is stuck; the partial transcript has to do.
            turn.final, turn.understood = True, bool(words_of(turn.text))
        if not turn.final:
            return
        if turn.over_reply and not self._is_turn(turn):
            return
        sure = silence >= delay and (turn.forced or not self.speech.stirring)
        if words_of(turn.full_text):
            self._answer(turn, sure=sure)
        elif sure:
            self._end_without_words(turn)

    def _delay(self, turn: CallerTurn) -> int:
        probability = self._sound.probability(turn.transcript, self.speech.end)
        return self.endpoint.delay(turn.full_text, probability)

    def _enforce_limit(self, turn: CallerTurn | None) -> None:
        if turn is not None and self._now - turn.start >= self.settings.turn_limit and not turn.doubtful:
            turn.forced, turn.pressed = True, False

    def _is_turn(self, turn: CallerTurn) -> bool:
        """Whether a turn that overlapped a reply without having to interrupt it is a turn; discards it if not."""
        verdict = judge(self._evidence(turn), self.settings)
        refused = verdict in ("echo", "backchannel") or (verdict == "noise" and not turn.earlier_text)
        if verdict == "backchannel" and self._replies.current is None:
            # Nothing is playing that it could acknowledge, so it is an answer.
            refused = False
        if refused and verdict is not None:
            self._discard(turn, verdict)
            return False
        turn.over_reply = False
        return True

    def _answer(self, turn: CallerTurn, *, sure: bool) -> None:
        """Request a reply, ahead of time; release it once the turn is over for sure."""
        replies = self._replies
        if self._typed or turn.answer_cancelled:
            # Its words stay; the text typed after it is answered instead, or nothing.
            if sure and replies.positions_final:
                replies.commit_turn(turn)
                self._close(turn)
            return
        if replies.main is not None and replies.main.turn is not turn:
            if not sure or not replies.may_be_interrupted(replies.main):
                return
            self._take_over(turn)
        if replies.main is None:
            if not replies.positions_final:
                return
            replies.request(turn, self._now)
        if sure:
            self._misunderstood = False
            self._caution = max(0, self._caution - 1)
            turn.end = max(turn.end, self.speech.end)
            self._close(turn)
            replies.release(self._now)

    def _close(self, turn: CallerTurn) -> None:
        """Hand the turn over to its reply or to the conversation."""
        if turn.transcript != turn.number:
            self._emit(DiscardTurn(turn.transcript, "merged"))
        if turn.cutoff is not None:
            # A turn can be closed in the middle of speech; do not transcribe that sound again.
            self._ignore_until = max(self._ignore_until, turn.cutoff)
        self._turn = None

    def _end_without_words(self, turn: CallerTurn) -> None:
        """End a turn in which no words were recognised; say so, but not twice in a row."""
        apologise = not (
            turn.understood or self._misunderstood or not self._replies.may_announce or self._typed
        )
        self._discard(turn, "noise" if turn.understood else "not_understood")
        if not apologise:
            return
        self._misunderstood = True
        self._announcements.say("not_understood", self._now)

    # ---- replies

    def _answer_typed(self) -> None:
        """Request a reply to the typed text, once everything it interrupted is settled."""
        replies = self._replies
        if (
            not self._typed
            or self._turn is not None
            or replies.main is not None
            or not replies.positions_final
        ):
            return
        self._turn_count += 1
        turn = CallerTurn(
            self._turn_count, self._turn_count, start=self._now, end=self._now, typed=True, final=True
        )
        turn.text = "\n".join(self._typed)
        self._typed.clear()
        self._misunderstood = False
        replies.commit_turn(turn)
        replies.request(turn, self._now)
        replies.release(self._now)

    def _advance_replies(self) -> None:
        """Finish what was heard, answer typed text, and break long silences."""
        main, turn = self._replies.main, self._turn
        if (
            main is not None
            and main.played >= self.settings.syllables
            and (turn is None or not turn.doubtful)
        ):
            self._replies.commit_turn(main.turn)
        self._announcements.finish(self._now)
        self._answer_typed()
        turn, main = self._turn, self._replies.main
        # A turn that waits for the end of a reply must not wait for a stuck one.
        if turn is None or (turn.final and main is not None and main.turn is not turn):
            self._announcements.advance(self._now)

    # ---- state

    def _show(self) -> None:
        state = self._state()
        if state != self._shown_state:
            self._shown_state = state
            self._emit(ShowState(state))

    def _state(self) -> CallState:
        turn = self._turn
        turn_over = (
            turn is not None
            and turn.cutoff is not None
            and (turn.forced or self._silent_for() >= self._delay(turn))
        )
        return state_of(turn, self._replies, turn_over=turn_over)
