"""What crosses the wire and what the turn machine takes and gives mean the same."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from duologue.sessions.call.translation import event_of, facts_of
from duologue.turns import decisions, facts
from duologue.values import call_events
from duologue.values.messages import ImagePart


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        (call_events.Interrupt(2, 300), (facts.InterruptRequested(2, 300),)),
        (call_events.Typed("and tomorrow?"), (facts.TextTyped("and tomorrow?"),)),
        (call_events.Speak("Tea.", False), (facts.AnnouncementRequested("Tea.", False),)),
        (call_events.ReplyFailed(2, "Sorry."), (facts.ReplyBroken(2, "Sorry."),)),
        (call_events.ToolsRunning(2), (facts.ReplyWaiting(2, True),)),
        (call_events.ToolsRunning(2, busy=False), (facts.ReplyWaiting(2, False),)),
        (
            call_events.ToolsRunning(2, question="May I?"),
            (facts.ReplyWaiting(2, True, asks=True), facts.AnnouncementRequested("May I?")),
        ),
        (call_events.MicrophoneAudio(b"ab"), ()),
        (call_events.CallChunk(b"ab"), ()),
        (call_events.CallFrame(ImagePart(b"ab")), ()),
        (call_events.Text(2, "Hello"), ()),
        (call_events.Played(2, 300), ()),
        (call_events.Pressed(True), ()),
    ],
)
def test_a_control_states_these_facts(
    control: call_events.CallControl, expected: tuple[facts.Fact, ...]
) -> None:
    assert facts_of(control) == expected


@pytest.mark.parametrize(
    ("decision", "event"),
    [
        (decisions.ShowState("hearing"), call_events.State(3, "hearing")),
        (decisions.PreviewTurn(4, "what"), call_events.PartialTurn(3, 4, "what")),
        (decisions.RequestReply(7, 4, 1, "what time"), call_events.ReplyRequested(3, 7, 4, 1, "what time")),
        (decisions.ReleaseReply(7), call_events.TurnConfirmed(3, 7)),
        (decisions.DropReply(7), call_events.CancelReply(3, 7)),
        (decisions.HoldReply(7), call_events.Hold(3, 7)),
        (decisions.ResumeReply(7), call_events.Resume(3, 7)),
        (decisions.CutReply(7), call_events.Cut(3, 7)),
        (decisions.CommitTurn(4, "what time", True), call_events.UserSaid(3, 4, "what time", True)),
        (decisions.TranscribeTurn(4, 0), None),
        (decisions.FinishTranscript(4, 0), None),
        (decisions.DiscardTurn(4, "noise"), None),
        (decisions.EstimateTurnEnd(4, 16_000), None),
        (decisions.SaySentence(7, "One moment.", "filler"), None),
        (decisions.CommitReply(7, 100, "spoken"), None),
    ],
)
def test_a_decision_is_this_event(decision: decisions.Decision, event: Any) -> None:
    assert event_of(decision, 3) == event


def test_every_decision_and_control_is_in_the_tables_above() -> None:
    tables: Any = [mark.args[1] for mark in test_a_control_states_these_facts.pytestmark]  # type: ignore[attr-defined]
    assert {type(row[0]) for row in tables[0]} == set(get_args(call_events.CallControl))
    tables = [mark.args[1] for mark in test_a_decision_is_this_event.pytestmark]
    assert {type(row[0]) for row in tables[0]} == set(get_args(decisions.Decision))
