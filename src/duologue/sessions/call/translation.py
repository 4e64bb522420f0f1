"""The two vocabularies of a call, side by side: what the gateway says and hears, and what the turn machine does.

`session.py` uses both tables. Controls and events (`values/call_events.py`) cross the wire; facts and decisions (`turns/`)
belong to the machine. Here is only what they mean; what has to be done besides is in `session.py`.
"""

from __future__ import annotations

from duologue.turns import decisions, facts
from duologue.turns.decisions import Decision
from duologue.turns.facts import Fact
from duologue.values import call_events
from duologue.values.call_events import CallControl, CallEvent


def facts_of(control: CallControl) -> tuple[Fact, ...]:
    """The facts that a control states. Sound, reply text, played positions and the push-to-talk button state none: the parts
    they go to report facts later."""
    match control:
        case call_events.Interrupt(reply, samples):
            return (facts.InterruptRequested(reply, samples),)
        case call_events.Typed(text):
            return (facts.TextTyped(text),)
        case call_events.Speak(text, interruptible):
            return (facts.AnnouncementRequested(text, interruptible),)
        case call_events.ReplyFailed(reply, apology):
            return (facts.ReplyBroken(reply, apology),)
        case call_events.ToolsRunning(reply, busy, ""):
            return (facts.ReplyWaiting(reply, busy),)
        case call_events.ToolsRunning(reply, busy, question):
            # The order matters: an announcement is said once the reply is known to wait.
            return (facts.ReplyWaiting(reply, busy, asks=True), facts.AnnouncementRequested(question))
        case _:
            return ()


def event_of(decision: Decision, epoch: int) -> CallEvent | None:
    """The event that tells the gateway of a decision. None for those that concern only this process, and for
    `CommitReply`, whose event needs the heard text."""
    match decision:
        case decisions.ShowState(state):
            return call_events.State(epoch, state)
        case decisions.PreviewTurn(turn, text):
            return call_events.PartialTurn(epoch, turn, text)
        case decisions.RequestReply(reply, turn, revision, text):
            return call_events.ReplyRequested(epoch, reply, turn, revision, text)
        case decisions.ReleaseReply(reply):
            return call_events.TurnConfirmed(epoch, reply)
        case decisions.DropReply(reply):
            return call_events.CancelReply(epoch, reply)
        case decisions.HoldReply(reply):
            return call_events.Hold(epoch, reply)
        case decisions.ResumeReply(reply):
            return call_events.Resume(epoch, reply)
        case decisions.CutReply(reply):
            return call_events.Cut(epoch, reply)
        case decisions.CommitTurn(turn, text, typed):
            return call_events.UserSaid(epoch, turn, text, typed)
        case _:
            return None
