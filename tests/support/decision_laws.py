"""Invariants of a call's decisions, whatever its facts. Tests call `Laws.hold` after every fact, and `Laws.end` when
all is quiet."""

from __future__ import annotations

from duologue.turns.decisions import (
    CommitReply,
    CommitTurn,
    CutReply,
    Decision,
    DiscardTurn,
    DropReply,
    FinishTranscript,
    HoldReply,
    ReleaseReply,
    RequestReply,
    ResumeReply,
    SaySentence,
    ShowState,
    TranscribeTurn,
)
from duologue.turns.machine import TurnMachine


class Laws:
    """Follows the decisions of one call and fails where they violate an invariant."""

    def __init__(self, machine: TurnMachine) -> None:
        self.machine = machine
        self.epoch = machine.epoch
        self.requested: dict[int, int] = {}
        """Requested replies, and the turn of each."""
        self.sentences: set[int] = set()
        self.ended: set[int] = set()
        self.released: set[int] = set()
        self.cut: set[int] = set()
        self.held: set[int] = set()
        self.committed: set[int] = set()
        self.revisions: dict[int, int] = {}
        self.transcribing: set[int] = set()
        self.shown: str | None = None

    def hold(self, decisions: list[Decision]) -> None:
        for decision in decisions:
            self._one(decision)
        assert self.machine.epoch == self.epoch, "the epoch rises with a cut and with nothing else"

    def end(self) -> None:
        """All is quiet."""
        assert set(self.requested) | self.sentences == self.ended
        assert not self.held
        assert self.shown in (None, "listening")

    def _one(self, decision: Decision) -> None:
        number = getattr(decision, "reply", None)
        if number is not None and not isinstance(decision, RequestReply | SaySentence):
            assert number in self.requested or number in self.sentences, f"{decision}: nothing produces it"
            assert number not in self.ended, f"{decision}: it is over"
        match decision:
            case RequestReply(reply, turn, revision, text):
                assert text.strip()
                assert set(self.requested) <= self.ended, "one reply is requested at a time"
                assert reply not in self.requested
                assert revision > self.revisions.get(turn, -1), "each try at a turn has a revision of its own"
                self.revisions[turn] = revision
                self.requested[reply] = turn
            case SaySentence(reply, text):
                assert text.strip()
                assert self.sentences <= self.ended, "one sentence is said at a time"
                self.sentences.add(reply)
            case ReleaseReply(reply):
                assert reply in self.requested
                assert reply not in self.released
                self.released.add(reply)
            case HoldReply(reply):
                assert reply not in self.held
                self.held.add(reply)
            case ResumeReply(reply):
                self.held.remove(reply)
            case CutReply(reply):
                assert reply in self.released | self.sentences, "what may not sound needs no cut"
                assert reply not in self.cut
                self.cut.add(reply)
                self.held.discard(reply)
                self.epoch += 1
            case DropReply(reply):
                assert reply not in self.held
                assert reply not in self.released | self.sentences or reply in self.cut
                self.ended.add(reply)
            case CommitReply(reply, samples, ending):
                assert reply not in self.held
                assert samples >= 0
                assert reply in self.released | self.sentences
                assert reply in self.cut or ending in ("spoken", "failed")
                if reply in self.requested:
                    assert self.requested[reply] in self.committed, "the question stands before its answer"
                self.ended.add(reply)
            case _:
                self._about_turns(decision)

    def _about_turns(self, decision: Decision) -> None:
        match decision:
            case CommitTurn(turn, text):
                assert text.strip()
                assert turn not in self.committed
                self.committed.add(turn)
            case TranscribeTurn(turn, since):
                assert 0 <= since <= self.machine.now
                assert turn not in self.transcribing
                self.transcribing.add(turn)
            case FinishTranscript(turn, until):
                assert until <= self.machine.now
                self.transcribing.remove(turn)
            case DiscardTurn(turn):
                self.transcribing.discard(turn)
            case ShowState(state):
                assert state != self.shown, "a state is shown when it changes"
                self.shown = state
            case _:
                pass
